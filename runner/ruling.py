"""The order of doubt: validity first, then outcome (MEASUREMENT §7). Score is never asked here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from archive.edition import Edition
from archive.reasons import Outcome, Reason, Validity
from archive.record import EndedBy, Role
from archive.report import Report
from scoring.rubric import Contradictory, judge_report

COMPLETE: tuple[Role, ...] = ("recording", "terminal", "timing", "log")
"""Without all of these an attempt is invalid."""


class Ruling(NamedTuple):
    """What a record says of validity and outcome."""

    validity: Validity
    reason: Reason | None
    detail: str | None
    outcome: Outcome | None


def rule(
    edition: Edition,
    *,
    trouble: tuple[Reason, str] | None,
    kept: set[Role],
    doubts: Sequence[str],
    ended_by: EndedBy,
    report: Report | None,
) -> Ruling:
    """`trouble` is what went wrong with our instrument; `report` is None where the agent left no readable one.

    `doubts` say why the evidence is not proven clean: then it is withheld, whatever else happened. Where a limit other
    than the budget ended the attempt, the agent came to no end of its own and its report is not read: the caller passes
    None.
    """
    if doubts:
        return _out(Validity.WITHHELD, Reason.EVIDENCE_NOT_PROVEN_CLEAN, "; ".join(doubts))
    if trouble is not None:
        return _out(Validity.INVALID, *trouble)
    missing = [role for role in COMPLETE if role not in kept]
    if missing:
        return _out(Validity.INVALID, Reason.EVIDENCE_INCOMPLETE, f"missing: {', '.join(missing)}")
    try:
        judged = judge_report(edition, report, ended_by == "budget")
    except Contradictory as error:
        return _out(Validity.INVALID, Reason.AGENT_REPORT_CONTRADICTORY, str(error))
    return Ruling(Validity.VALID, None, None, judged.outcome)


def _out(validity: Validity, reason: Reason, detail: str) -> Ruling:
    return Ruling(validity, reason, detail, None)
