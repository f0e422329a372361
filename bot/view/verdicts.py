"""docs/verdicts.md: each project of a cycle with its verdict, its attempts and what they found (MEASUREMENT §9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from archive.reasons import Validity
from archive.source_type import SourceType
from bot import words
from bot.escape import Markdown, code, text
from bot.measured import Run
from bot.quote import final_state
from bot.results import CycleResult, by_subject
from bot.view.places import Places, attempt_anchor, project_anchor
from bot.view.stops import stops
from scoring.verdict import counts as counts_for

COULD_NOT = "could not verify"
ORDER = ("runs", "runs with mocks", COULD_NOT, "not yet verified")
"""The verdicts in the order of the rules (MEASUREMENT §15)."""
DIGITS = 12
"""Of a digest, so that a row fits on a page; the record has it whole."""


@dataclass(frozen=True)
class Row:
    """One attempt."""

    anchor: Markdown
    name: str
    """How running text calls it."""
    number: int
    agent: str
    purpose: str
    result: str
    """The outcome, or why there is none."""
    score: str
    minutes: str
    recording: Markdown
    """The beginning of its digest."""
    record: Markdown
    """Link."""
    play: Markdown
    """The command that plays the recording."""
    evidence: Markdown
    """Record, digests and that command as running text, as far as there are any."""
    claims: Markdown | None
    """What the agent says of its work, and what the machine could confirm of it."""
    notes: str | None
    """What a reader should know beside the result."""
    stopped: str | None
    """Moment in the recording at which the agent's work ended; None where it never started."""
    ended: str
    stops: list[Markdown]
    """Its error lines, each in its group, where it did not pass."""
    counts: bool
    """Whether it is one of the attempts that the verdict comes from."""
    found: Markdown | None
    """The agent's closing sentence."""


@dataclass(frozen=True)
class Project:
    """One subject of a cycle."""

    anchor: Markdown
    subject: Markdown
    version: Markdown
    source_type: str
    verdict: str | None
    verified_by: str | None
    snippet: bool
    """Whether a pass proves a documented snippet and not a product."""
    under_review: bool
    both: bool
    """Whether the cycle makes attempts for two purposes, so that rows say for which one."""
    rows: list[Row]


def projects(result: CycleResult, types: Mapping[str, SourceType], places: Places, page: str) -> dict[str, Project]:
    """Every subject of the cycle that has a record, in the pool's order, as shown on `page`."""
    versions = {subject.id: subject.pin.version for subject in result.pool}
    found = {}
    for subject, runs in by_subject(result.runs).items():
        kind, verdict = runs[0].judged.source_type, result.verdicts[subject]
        by = next((run for run in runs if run.judged.run == verdict.verified_by), None)
        found[subject] = Project(
            anchor=project_anchor(result.cycle.id, subject),
            subject=code(subject),
            version=code(versions.get(subject) or subject),
            source_type=types[kind].name if kind in types else kind,
            verdict=verdict.words,
            verified_by=result.attempt_name(by.judged) if by else None,
            snippet=kind in words.SNIPPET_TYPES,
            under_review=subject in result.under_review,
            both=len(result.cycle.purposes) > 1,
            rows=[_row(run, result, places, page) for run in runs],
        )
    return found


def counts(result: CycleResult) -> list[tuple[str, int]]:
    """How many projects have each verdict, in the order of the rules; empty under an edition without verdicts."""
    found = Counter[str](verdict.words for verdict in result.verdicts.values() if verdict.words)
    return [(verdict, found[verdict]) for verdict in ORDER] if found else []


def _row(run: Run, result: CycleResult, places: Places, page: str) -> Row:
    judged = run.judged
    valid = judged.validity is Validity.VALID
    record = places.record(judged.cycle, judged.run, page)
    play = places.play(judged.run) if run.recording else None
    digests = [_digest(role, found) for role, found in (("log", run.log), ("recording", run.recording)) if found]
    return Row(
        anchor=attempt_anchor(judged.run),
        name=result.attempt_name(judged),
        number=judged.attempt,
        agent=result.agent_name(judged.agent),
        purpose=judged.purpose,
        result=words.outcome(judged.outcome, run.failed_at)
        if valid
        else words.validity(judged.validity, judged.reason),
        score=words.points(judged.score),
        minutes=f"{words.minutes(run.agent_ms)} of {run.budget_minutes}",
        recording=_short(run.recording) if run.recording else Markdown("none"),
        record=record,
        play=play or Markdown("none"),
        evidence=Markdown(", ".join([record, *digests, *([play] if play else [])])),
        claims=claims(run),
        notes=notes(run),
        stopped=words.moment(run.agent_ms) if run.agent_ms is not None else None,
        ended=words.ENDED[run.ended_by],
        stops=stops(run),
        counts=counts_for(judged, result.cycle.standard_agent),
        found=final_state(run.final_state) if run.final_state else None,
    )


def claims(run: Run) -> Markdown | None:
    """What the agent says of its work, with what the machine could confirm of it; None where it left no report."""
    if run.verified is None:
        return None
    if isinstance(run.verified, str):
        said = [text('the agent says "not verified"')]
    else:
        command, returned = map(code, run.verified)
        seen = f" ({text(words.claims(run.claims))})" if run.claims else ""
        said = [Markdown(f"verified by {command or 'nothing'}, which returned {returned or 'nothing'}{seen}")]
    if run.install_seconds is not None:
        said.append(text(f"installed in {words.duration(run.install_seconds)}"))
    return Markdown("; ".join(said))


def notes(run: Run) -> str | None:
    """What a reader should know beside the result; None where there is nothing."""
    found = [words.INCIDENTS[kind] for kind in dict.fromkeys(run.incidents)] if run.incidents else []
    if run.masked:
        found.append("masked: " + ", ".join(f"{words.MASKED[kind]} {count} ×" for kind, count in run.masked))
    if run.waits:
        found.append("its evidence waits for the end of the attempt's key")
    if run.shared_key:
        found.append("made with a key that is shared by attempts")
    return "; ".join(found) or None


def _digest(role: str, digest: str) -> Markdown:
    return Markdown(f"{role} {_short(digest)}")


def _short(digest: str) -> Markdown:
    return code(digest.partition(":")[2][:DIGITS])
