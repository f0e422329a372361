import json
from fractions import Fraction

import pytest

from archive.errors import DataError
from archive.reasons import Outcome, Reason, Validity
from archive.record import Record
from scoring.attempted import Attempted, attempted

REPORT = {
    "schema_version": 1,
    "installed": True,
    "launched": True,
    "errors_encountered": 3,
    "errors_fixed": 2,
    "errors": [],
    "test_depth": "tier1_real",
    "verified_how": "not verified",
    "final_state": "It answered.",
    "install_seconds": None,
}
RECORD = {
    "schema_version": 1,
    "run": "ab" * 16,
    "cycle": "one",
    "job": "cd" * 12,
    "purpose": "board",
    "subject": "pkg:pypi/six@1.17.0",
    "source_type": "package",
    "agent": "agent-a",
    "agent_digest": "sha256:" + "0" * 64,
    "attempt": 1,
    "edition": "1.5",
    "tier": "standard",
    "budget_minutes": 90,
    "validity": "valid",
    "reason": None,
    "reason_detail": None,
    "outcome": "pass_full",
    "ended_by": "agent",
    "agent_exit": 0,
    "incidents": [],
    "environment": {
        "sandbox": "bubblewrap",
        "image": None,
        "system": "Debian 13",
        "architecture": "x86_64",
        "python": "3.13.1",
        "limits": {},
        "network": "open",
        "extra_ca": None,
        "harness": {"commit": None, "digest": "sha256:" + "1" * 64},
        "runner": "runner-1",
    },
    "times": {
        "started_at": "2026-10-09T23:59:59Z",
        "fetch_ms": 1,
        "agent_ms": 1,
        "replay_ms": None,
        "total_ms": 2,
    },
    "fetched": [],
    "report_state": "read",
    "report": REPORT,
    "error_ms": [],
    "claims": None,
    "program": None,
    "usage": {
        "input_uncached_tokens": None,
        "cache_read_tokens": None,
        "cache_write_tokens": None,
        "output_tokens": None,
        "reasoning_tokens": None,
        "calls": None,
        "source": None,
        "complete": False,
    },
    "key": {
        "kind": "none",
        "broker": None,
        "id": None,
        "cap_micro_usd": None,
        "spent_micro_usd": None,
        "expires_at": None,
        "deletion_confirmed": None,
    },
    "evidence": [],
    "certificate": None,
}


def record(**changes):
    return Record.model_validate_json(json.dumps({**RECORD, **changes}))


def test_a_valid_record_becomes_its_facts_and_its_score(editions):
    assert attempted(record(), editions) == Attempted(
        run="ab" * 16,
        cycle="one",
        purpose="board",
        agent="agent-a",
        subject="pkg:pypi/six@1.17.0",
        source_type="package",
        attempt=1,
        edition="1.5",
        validity=Validity.VALID,
        reason=None,
        outcome=Outcome.PASS_FULL,
        score=Fraction(280, 3),
        day="2026-10-09",
    )


@pytest.mark.parametrize(
    ("validity", "reason"), [("invalid", "harness:report-lost"), ("withheld", "evidence:not-proven-clean")]
)
def test_an_attempt_that_does_not_count_has_no_score_even_with_a_good_report(editions, validity, reason):
    found = attempted(record(validity=validity, reason=reason, outcome=None), editions)
    assert (found.score, found.outcome, found.reason) == (None, None, Reason(reason))


def test_a_contradictory_report_of_an_invalid_record_is_not_judged(editions):
    wrong = {**REPORT, "errors_fixed": 4}
    found = attempted(
        record(validity="invalid", reason="agent:report-contradictory", outcome=None, report=wrong), editions
    )
    assert found.score is None


def test_a_time_out_is_zero_whatever_its_report_says(editions):
    found = attempted(record(outcome="timeout", ended_by="budget"), editions)
    assert (found.score, found.outcome) == (0, Outcome.TIMEOUT)


def test_a_valid_record_without_a_report_is_a_fail_of_zero_points(editions):
    found = attempted(record(outcome="fail", report=None, report_state="missing"), editions)
    assert (found.score, found.outcome) == (0, Outcome.FAIL)


def test_only_the_edition_that_the_record_names_is_used(editions):
    rubric = editions["1.4"].rubric.model_copy(update={"installed": 40, "started": 20})
    altered = {**editions, "1.4": editions["1.4"].model_copy(update={"rubric": rubric})}
    half = {**REPORT, "launched": False, "errors_encountered": 0, "errors_fixed": 0}
    same_day = [
        attempted(record(edition=version, report=half, outcome="fail"), altered).score for version in ("1.4", "1.5")
    ]
    assert same_day == [60, 50]


def test_an_edition_that_does_not_exist_is_named(editions):
    with pytest.raises(DataError, match=r"record (ab){16}: edition: no such edition '9\.9'; one of 0\.2, "):
        attempted(record(edition="9.9"), editions)


@pytest.mark.parametrize(
    ("outcome", "report"),
    [
        ("pass_full", {**REPORT, "test_depth": "tier3_none"}),
        ("pass_mock", REPORT),
        ("fail", REPORT),
        ("pass_full", {**REPORT, "installed": False}),
    ],
)
def test_an_outcome_that_the_report_does_not_give_is_not_scored(editions, outcome, report):
    with pytest.raises(DataError, match=rf"outcome: the report gives \w+, not {outcome}$"):
        attempted(record(outcome=outcome, report=report), editions)


@pytest.mark.parametrize("outcome", ["pass_full", "timeout"])
def test_a_valid_record_with_a_contradictory_report_is_not_scored(editions, outcome):
    with pytest.raises(DataError, match=r"validity: 4 errors fixed of 3 .*agent:report-contradictory"):
        attempted(record(outcome=outcome, report={**REPORT, "errors_fixed": 4}), editions)


@pytest.mark.parametrize("limit", ["memory-limit", "output-ceiling"])
def test_a_limit_other_than_time_is_a_fail_with_nothing_whatever_the_report_says(editions, limit):
    found = attempted(record(outcome="fail", ended_by=limit), editions)
    assert (found.validity, found.outcome, found.score) == ("valid", "fail", 0)
    with pytest.raises(DataError, match="the report gives fail, not pass_full"):
        attempted(record(outcome="pass_full", ended_by=limit), editions)
