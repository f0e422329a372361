"""What Argusic published must come out again (published/README.md names source and licence)."""

import csv
import json
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import pytest

from archive.reasons import Outcome, Validity
from scoring.rounding import two
from scoring.rubric import judge, judge_report
from scoring.verdict import Tried, verdict

PUBLISHED = Path(__file__).parent / "published"
OUTCOMES = {
    "pass": Outcome.PASS_FULL,
    "pass with mocks": Outcome.PASS_MOCK,
    "fail": Outcome.FAIL,
    "timeout": Outcome.TIMEOUT,
}
RUNS = [
    json.loads(line, parse_float=Fraction) for line in (PUBLISHED / "runs_dev.jsonl").read_text("utf-8").splitlines()
]
with (PUBLISHED / "verdicts.csv").open(encoding="utf-8", newline="") as file:
    SUBJECTS = {row["slug"]: row for row in csv.DictReader(file)}
RUNS_OF = defaultdict(list)
for row in RUNS:
    RUNS_OF[row["slug"]].append(row)

DID = {
    "pass": [(True, True, "tier1_real")],
    "pass with mocks": [(True, True, "tier2_mock")],
    # How far a failed run came is not published: exactly one of these must give its score.
    "fail": [(False, False, "tier3_none"), (True, False, "tier3_none"), (True, True, "tier3_none")],
    "timeout": [(False, False, "tier3_none")],
}


def judged(edition, run):
    return [
        judge(
            edition,
            installed=installed,
            launched=launched,
            errors_encountered=run["errors_observed"],
            errors_fixed=run["errors_resolved"],
            test_depth=depth,
            timed_out=run["status"] == "timeout",
        )
        for installed, launched, depth in DID[run["status"]]
    ]


def test_all_rows_are_there():
    assert (len(RUNS), len(SUBJECTS)) == (243, 118)
    assert set(RUNS_OF) == set(SUBJECTS)
    assert {status: sum(run["status"] == status for run in RUNS) for status in DID} == {
        "pass": 104,
        "pass with mocks": 43,
        "fail": 78,
        "timeout": 18,
    }


@pytest.mark.parametrize(
    "run", [run for run in RUNS if run["score"] is not None], ids=lambda run: f"{run['slug']}-{run['row']}"
)
def test_every_scored_run_has_the_score_of_the_rubric(edition, run):
    reached = [one for one in judged(edition, run) if Fraction(str(two(one.score))) == run["score"]]
    assert len(reached) == 1
    assert reached[0].outcome is OUTCOMES[run["status"]]


def test_every_time_out_was_published_without_a_score_and_is_zero_here(edition):
    late = [run for run in RUNS if run["status"] == "timeout"]
    assert [run["score"] for run in late] == [None] * 18
    assert {(one.score, one.outcome) for run in late for one in judged(edition, run)} == {(0, Outcome.TIMEOUT)}


def test_a_run_that_did_nothing_scored_twenty_because_its_report_was_given(edition):
    nothing = [run for run in RUNS if run["status"] == "fail" and not run["errors_observed"] and not run["install_min"]]
    assert {run["score"] for run in nothing} == {20}
    assert len(nothing) >= 20
    assert {judged(edition, run)[0].score for run in nothing} == {20}
    assert judge_report(edition, None, False).score == 0


@pytest.mark.parametrize("slug", SUBJECTS)
def test_the_verdict_follows_from_the_outcomes(edition, slug):
    tried = [Tried("standard", OUTCOMES[run["status"]], Validity.VALID) for run in RUNS_OF[slug]]
    assert verdict(tried, edition).words == SUBJECTS[slug]["verdict"]


def test_status_never_follows_from_the_score():
    assert any(run["score"] == 80 for run in RUNS if run["status"] == "fail")
    assert min(run["score"] for run in RUNS if run["status"] == "pass with mocks") < 80


@pytest.mark.parametrize("slug", SUBJECTS)
def test_the_public_subject_score_is_a_mean_without_time_outs_and_not_the_boards_middle(slug):
    """Another aggregate than the board's: it is reproduced here to know what the published column is."""
    scores = [run["score"] for run in RUNS_OF[slug] if run["score"] is not None]
    written = SUBJECTS[slug]["argusic_score"]
    if not scores:
        assert written == ""
    else:
        tenths = (sum(scores, Fraction(0)) / len(scores) * 10 + Fraction(1, 2)).__floor__()
        assert Fraction(written) == Fraction(tenths, 10)
