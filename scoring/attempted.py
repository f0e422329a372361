"""One attempt as the board and the verdict see it: the record's facts and the score that follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from archive.edition import Edition
from archive.errors import DataError
from archive.plan import JobPurpose
from archive.reasons import Outcome, Reason, Validity
from archive.record import Record
from archive.report import Report
from scoring.rubric import Contradictory, judge_report


class Attempted(NamedTuple):
    """A judged attempt."""

    run: str
    cycle: str
    purpose: JobPurpose
    agent: str
    subject: str
    """Package URL."""
    source_type: str
    attempt: int
    """Number of the attempt among all of this agent on this subject for this purpose."""
    edition: str
    validity: Validity
    reason: Reason | None
    """Why it does not count; None when valid."""
    outcome: Outcome | None
    """None unless valid."""
    score: Fraction | None
    """0 to 100, exact; None unless valid."""
    day: str
    """The day on which it began, such as "2026-10-08"."""


def attempted(record: Record, editions: Mapping[str, Edition]) -> Attempted:
    """`record` judged by the edition that it names and by no other (MEASUREMENT §12).

    Raises DataError where that edition is not in `editions`, and where the outcome written in a valid record is not
    the one that its report gives: such a record is not scored either way.
    """
    edition = editions.get(record.edition)
    if edition is None:
        raise _wrong(record, "edition", f"no such edition {record.edition!r}; one of {', '.join(editions)}")
    score = _score(record, edition) if record.validity is Validity.VALID else None
    return Attempted(
        run=record.run,
        cycle=record.cycle,
        purpose=record.purpose,
        agent=record.agent,
        subject=record.subject,
        source_type=record.source_type,
        attempt=record.attempt,
        edition=record.edition,
        validity=record.validity,
        reason=record.reason,
        outcome=record.outcome,
        score=score,
        day=record.day,
    )


def report_that_counts(record: Record) -> Report | None:
    """The report that is judged: None where a limit other than time ended the attempt. The agent came to no end of its
    own then, and what it had written is not read (MEASUREMENT §5)."""
    return record.report if record.ended_by in ("agent", "budget") else None


def _score(record: Record, edition: Edition) -> Fraction:
    try:
        judged = judge_report(edition, report_that_counts(record), timed_out=record.outcome is Outcome.TIMEOUT)
    except Contradictory as error:
        raise _wrong(record, "validity", f"{error}: this attempt is invalid ({error.reason}), not valid") from None
    if judged.outcome is not record.outcome:
        raise _wrong(record, "outcome", f"the report gives {judged.outcome}, not {record.outcome}")
    return judged.score


def _wrong(record: Record, field: str, problem: str) -> DataError:
    return DataError(f"record {record.run}", field, problem)
