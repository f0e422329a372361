"""docs/cycles/<cycle>/summary.md and the pull request: what a cycle brings, for the person who approves it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from archive import purl
from archive.reasons import POLICIES, Reason, Validity
from bot import words
from bot.escape import Markdown, code, text
from bot.measured import Run
from bot.results import Chain, CycleResult

Link = Callable[[Markdown, str, str | None], Markdown]
"""Words, and the subject and perhaps the run that they link to."""


@dataclass(frozen=True)
class Summary:
    """One cycle; each list in the order of the pool. Entries are lines of Markdown."""

    title: str
    cycle: str
    edition: str
    demonstration: bool
    closed: bool
    ledger: Chain | None
    attempts: int
    valid: int
    projects: int
    compared_with: str | None
    """Title of the cycle before, None where there is none."""
    board: list[Markdown]
    verdicts: list[Markdown]
    withheld: list[Markdown]
    invalid: list[Markdown]
    unstable: list[Markdown]
    under_review: list[Markdown]
    incomplete: list[Markdown]
    flagged: list[Markdown]


def summary(result: CycleResult, before: CycleResult | None, link: Link) -> Summary:
    """What `result` brings, compared with the cycle `before` it; `link` makes links to projects and attempts."""
    cycle = result.cycle
    validities = Counter(run.judged.validity for run in result.runs)
    return Summary(
        title=cycle.title,
        cycle=cycle.id,
        edition=result.edition.version,
        demonstration=cycle.demonstration,
        closed=bool(result.chain and result.chain.closed),
        ledger=result.chain,
        attempts=len(result.runs),
        valid=validities[Validity.VALID],
        projects=len(result.verdicts),
        compared_with=before.cycle.title if before else None,
        board=_board(result, before),
        verdicts=_verdicts(result, before, link),
        withheld=[_attempt(r, result, link) for r in result.runs if r.judged.validity is Validity.WITHHELD],
        invalid=_reasons(result),
        unstable=[
            _line(code(one.project), result.agent_name(one.agent), f"spread {words.spread(one.spread)}")
            for one in result.sets
            if one.unstable
        ],
        under_review=[code(subject) for subject in result.verdicts if subject in result.under_review],
        incomplete=[
            _line(code(one.project), result.agent_name(one.agent), words.valid_attempts(len(one.scores)))
            for one in result.sets
            if not one.complete
        ],
        flagged=[
            _line(_attempt(run, result, link), words.claims(run.claims))
            for run in result.runs
            if run.judged.outcome and run.judged.outcome.passed and words.flagged(run.claims)
        ],
    )


def _board(result: CycleResult, before: CycleResult | None) -> list[Markdown]:
    earlier = {row.agent: row for row in before.rows} if before else {}
    found = []
    for row in result.rows:
        if row.control:
            continue
        now = f"rank {row.rank}, board score {words.points(row.board_score)}" if row.rank else "no board score"
        old = earlier.get(row.agent)
        if old is None:
            was = "not on the board before" if before else ""
        elif old.rank is None:
            was = "no board score before"
        else:
            was = f"before: rank {old.rank}, board score {words.points(old.board_score)}"
        found.append(_line(result.agent_name(row.agent), now, was))
    return found


def _verdicts(result: CycleResult, before: CycleResult | None, link: Link) -> list[Markdown]:
    earlier = {_project(subject): one.words for subject, one in before.verdicts.items()} if before else {}
    found = []
    for subject, one in result.verdicts.items():
        if one.words is not None:
            old = earlier.get(_project(subject))
            was = "" if old is None else "as before" if old == one.words else f"before: {old}"
            found.append(_line(link(code(subject), subject, None), one.words, was))
    return found


def _reasons(result: CycleResult) -> list[Markdown]:
    """Invalid attempts by reason, in the order of the policy table."""
    found = Counter(run.judged.reason for run in result.runs if run.judged.validity is Validity.INVALID)
    return [_line(POLICIES[reason].means, str(found[reason])) for reason in Reason if found[reason]]


def _attempt(run: Run, result: CycleResult, link: Link) -> Markdown:
    one = run.judged
    said = text(result.attempt_name(one))
    return _line(code(one.subject), link(said, one.subject, one.run))


def _project(subject: str) -> str:
    return purl.parse(subject).project


def _line(*parts: str) -> Markdown:
    return Markdown(": ".join([text(parts[0]), ", ".join(text(part) for part in parts[1:] if part)]))
