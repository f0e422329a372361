"""Where attempts stop: their error lines by group, told for one attempt and counted for a cycle."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from archive.reasons import Validity
from bot import words
from bot.error_lines import ErrorLine
from bot.escape import Markdown, code
from bot.measured import Run
from bot.results import CycleResult
from scoring.groups import GROUPS


@dataclass(frozen=True)
class GroupRow:
    """One group of error lines in a cycle."""

    name: str
    lines: int
    not_fixed: int
    attempts: int
    """With a line in the group."""
    stopped: int
    """Of these, those that did not pass."""


def stops(run: Run) -> list[Markdown]:
    """The error lines of an attempt that stopped short of a pass, each with its group, those not fixed first."""
    if not _stopped(run):
        return []
    ordered = sorted(run.errors, key=lambda line: line.fixed)
    shown = [_told(line, line.words) for line in ordered if line.words is not None]
    rest = Counter(line.group.name for line in ordered if line.words is None)
    if rest:
        counted = (f"{group.name} {rest[group.name]} ×" for group in GROUPS if rest[group.name])
        shown.append(Markdown(f"and {rest.total()} more: {', '.join(counted)}"))
    return shown


def group_rows(result: CycleResult) -> list[GroupRow]:
    """All groups that a valid attempt of the cycle has a line in, in their order."""
    found: dict[str, Counter[str]] = {group.id: Counter() for group in GROUPS}
    for run in result.runs:
        if run.judged.validity is not Validity.VALID:
            continue
        for line in run.errors:
            found[line.group.id].update(lines=1, not_fixed=int(not line.fixed))
        for group in {line.group.id for line in run.errors}:
            found[group].update(attempts=1, stopped=int(_stopped(run)))
    return [
        GroupRow(
            name=group.name,
            lines=numbers["lines"],
            not_fixed=numbers["not_fixed"],
            attempts=numbers["attempts"],
            stopped=numbers["stopped"],
        )
        for group in GROUPS
        if (numbers := found[group.id])["lines"]
    ]


def _stopped(run: Run) -> bool:
    return run.failed_at is not None


def _told(line: ErrorLine, said: str) -> Markdown:
    fixed = "fixed, as the agent says" if line.fixed else "not fixed"
    shown = "" if line.at_ms is None else f", first shown at {words.moment(line.at_ms)} of the recording"
    return Markdown(f"{line.group.name}: {code(said) or 'nothing'} ({fixed}{shown})")
