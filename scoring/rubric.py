"""The points of one attempt: 100, deterministic, no model involved (MEASUREMENT §7)."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from archive.edition import Edition, Rubric
from archive.reasons import Outcome, Reason
from archive.report import Depth, Report

_ZERO = Fraction(0)


class Lines(NamedTuple):
    """Points of each line of the rubric."""

    installed: Fraction
    started: Fraction
    recovery: Fraction
    depth: Fraction

    @property
    def total(self) -> Fraction:
        """The score: all four lines together, 0 to 100."""
        return self.installed + self.started + self.recovery + self.depth


class Judged(NamedTuple):
    """What a valid attempt reached. The outcome follows from the report, never from the score."""

    lines: Lines
    score: Fraction
    outcome: Outcome


class Contradictory(ValueError):
    """The report claims more fixes than errors: there is nothing to judge, the attempt is invalid."""

    reason = Reason.AGENT_REPORT_CONTRADICTORY


_NOTHING = Lines(_ZERO, _ZERO, _ZERO, _ZERO)


def judge(
    edition: Edition,
    *,
    installed: bool,
    launched: bool,
    errors_encountered: int,
    errors_fixed: int,
    test_depth: Depth,
    timed_out: bool,
) -> Judged:
    """What a report is worth under `edition`. Raises `Contradictory` where it claims more fixes than errors.

    The order is the order of doubt: validity, then outcome, then score. A contradictory report is therefore rejected
    even where the attempt also ran out of time; only then does a time-out give 0 on every line. Started requires
    installed and depth requires started, whatever the report says.
    """
    if errors_fixed > errors_encountered:
        raise Contradictory(f"{errors_fixed} errors fixed of {errors_encountered} encountered")
    if timed_out:
        return Judged(_NOTHING, _ZERO, Outcome.TIMEOUT)
    rubric = edition.rubric
    started = installed and launched
    lines = Lines(
        installed=Fraction(rubric.installed if installed else 0),
        started=Fraction(rubric.started if started else 0),
        recovery=Fraction(rubric.recovery * errors_fixed, errors_encountered)
        if errors_encountered
        else Fraction(rubric.recovery),
        depth=Fraction(_depth(rubric, test_depth) if started else 0),
    )
    return Judged(lines, lines.total, _outcome(started, test_depth))


def judge_report(edition: Edition, report: Report | None, timed_out: bool) -> Judged:
    """`judge` for what an attempt left behind.

    No readable report (None) of an attempt that ended by itself is a valid fail with 0 on every line: nothing is
    established, not even that nothing went wrong. Raises `Contradictory`.
    """
    if report is None:
        return Judged(_NOTHING, _ZERO, Outcome.TIMEOUT if timed_out else Outcome.FAIL)
    return judge(
        edition,
        installed=report.installed,
        launched=report.launched,
        errors_encountered=report.errors_encountered,
        errors_fixed=report.errors_fixed,
        test_depth=report.test_depth,
        timed_out=timed_out,
    )


def _depth(rubric: Rubric, depth: Depth) -> int:
    return {"tier1_real": rubric.depth_real, "tier2_mock": rubric.depth_mock, "tier3_none": rubric.depth_none}[depth]


def _outcome(started: bool, depth: Depth) -> Outcome:
    if started and depth == "tier1_real":
        return Outcome.PASS_FULL
    if started and depth == "tier2_mock":
        return Outcome.PASS_MOCK
    return Outcome.FAIL
