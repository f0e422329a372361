"""What the commands answer to a line: the rules applied, rounded at the very end."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from archive.edition import Edition
from archive.reasons import Validity
from scoring.board import Row
from scoring.jsonlines import Line
from scoring.questions import NoReportQuestion, ReportQuestion, SetQuestion, VerdictQuestion
from scoring.rounding import exact, two
from scoring.rubric import Contradictory, judge, judge_report
from scoring.sets import MeasuredSet
from scoring.spread import Spread
from scoring.verdict import Tried, verdict

Editions = Mapping[str, Edition]
Answer = dict[str, Any]


def attempt(line: Line, editions: Editions) -> Answer:
    """The points of one attempt. More fixes than errors is no wrong line but an invalid attempt (MEASUREMENT §7)."""
    try:
        if "report" in line.data:
            nothing = line.read(NoReportQuestion)
            judged = judge_report(edition_of(line, nothing.edition, editions), None, nothing.timed_out)
        else:
            told = line.read(ReportQuestion)
            judged = judge(
                edition_of(line, told.edition, editions),
                installed=told.installed,
                launched=told.launched,
                errors_encountered=told.errors_encountered,
                errors_fixed=told.errors_fixed,
                test_depth=told.test_depth,
                timed_out=told.timed_out,
            )
    except Contradictory as error:
        unscored = dict.fromkeys(("lines", "score", "exact", "outcome"))
        return {**unscored, "validity": Validity.INVALID, "reason": error.reason}
    lines = judged.lines
    return {
        "lines": {
            "installed": two(lines.installed),
            "launched": two(lines.started),
            "recovery": two(lines.recovery),
            "depth": two(lines.depth),
        },
        "score": two(judged.score),
        "exact": exact(judged.score),
        "outcome": judged.outcome,
    }


def measured_set(line: Line, editions: Editions) -> Answer:
    """Middle and spread of one set; fewer scores than a set has make it incomplete: shown, never scored."""
    asked = line.read(SetQuestion)
    edition = edition_of(line, asked.edition, editions)
    measured = MeasuredSet("", "", enough(line, asked.scores, edition), (), (), edition)
    answer: Answer = {
        "middle": _two(measured.middle),
        "exact": None if measured.middle is None else exact(measured.middle),
        "spread": _two(measured.spread),
        "unstable": measured.unstable,
    }
    return answer if measured.complete else {**answer, "incomplete": True}


def project_verdict(line: Line, editions: Editions) -> Answer:
    """The verdict on one project and whose attempt comes next."""
    asked = line.read(VerdictQuestion)
    tried = [Tried(one.agent, one.outcome, one.validity) for one in asked.attempts]
    found = verdict(tried, edition_of(line, asked.edition, editions))
    return {"verdict": found.words, "next": found.next}


def row(found: Row) -> Answer:
    """One agent's row of a board."""
    answer: Answer = {**found._asdict(), "board_score": _two(found.board_score)}
    if found.wilson_95 is not None:
        answer["wilson_95"] = [two(Fraction(end)) for end in found.wilson_95]
    return answer


def edition_of(line: Line, version: str | None, editions: Editions) -> Edition:
    """The edition that a line names, or the newest one where it names none. Raises DataErrors for an unknown one."""
    if version is None:
        version = max(editions, key=lambda one: [int(part) for part in one.split(".")])
    if version not in editions:
        raise line.wrong("edition", f"no such edition; one of {', '.join(editions)}")
    return editions[version]


def enough(line: Line, scores: tuple[Fraction, ...], edition: Edition) -> tuple[Fraction, ...]:
    """`scores` unless there are more than a set has: which of them count is for whoever numbered the attempts."""
    size = edition.board.set_size
    if len(scores) > size:
        raise line.wrong("scores", f"{len(scores)} scores; a set is the first {size} valid attempts by number")
    return scores


def _two(value: Spread | None) -> int | float | str | None:
    return two(value) if isinstance(value, Fraction) else value
