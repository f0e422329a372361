"""The order of doubt (MEASUREMENT §7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from archive import pools
from archive.reasons import Outcome, Reason, Validity
from archive.report import Report
from runner.ruling import COMPLETE, rule

EDITION = pools.editions(Path(__file__).parents[2])["1.5"]


def report(**changes) -> Report:
    facts = {
        "schema_version": 1, "installed": True, "launched": True, "errors_encountered": 0, "errors_fixed": 0,
        "errors": (), "test_depth": "tier1_real", "verified_how": "not verified", "final_state": "",
        "install_seconds": None,
    }  # fmt: skip
    return Report(**{**facts, **changes})


def ruling(**changes):
    facts = {"trouble": None, "kept": set(COMPLETE), "doubts": (), "ended_by": "agent", "report": report()}
    return rule(EDITION, **{**facts, **changes})


def test_what_is_not_proven_clean_is_withheld_whatever_else_happened():
    found = ruling(
        doubts=["terminal.raw: a value can still be read"], trouble=(Reason.INFRA_DISK, "full"), ended_by="budget"
    )
    assert (found.validity, found.reason, found.outcome) == (Validity.WITHHELD, Reason.EVIDENCE_NOT_PROVEN_CLEAN, None)


def test_trouble_of_ours_is_never_the_agents_failure():
    found = ruling(trouble=(Reason.INFRA_NETWORK, "gone"), report=None)
    assert (found.validity, found.reason, found.outcome) == (Validity.INVALID, Reason.INFRA_NETWORK, None)


@pytest.mark.parametrize("role", COMPLETE)
def test_without_complete_log_and_recording_an_attempt_is_invalid(role):
    found = ruling(kept=set(COMPLETE) - {role})
    assert (found.validity, found.reason) == (Validity.INVALID, Reason.EVIDENCE_INCOMPLETE)
    assert role in found.detail


def test_a_contradictory_report_is_rejected():
    found = ruling(report=report(errors_encountered=1, errors_fixed=2))
    assert (found.validity, found.reason) == (Validity.INVALID, Reason.AGENT_REPORT_CONTRADICTORY)


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, Outcome.PASS_FULL),
        ({"report": report(test_depth="tier2_mock")}, Outcome.PASS_MOCK),
        ({"report": report(test_depth="tier3_none")}, Outcome.FAIL),
        ({"report": report(launched=False)}, Outcome.FAIL),
        ({"report": report(installed=False)}, Outcome.FAIL),
        ({"report": None}, Outcome.FAIL),
        ({"ended_by": "budget"}, Outcome.TIMEOUT),
        ({"ended_by": "budget", "report": None}, Outcome.TIMEOUT),
        ({"ended_by": "memory-limit", "report": None}, Outcome.FAIL),
        ({"ended_by": "output-ceiling", "report": None}, Outcome.FAIL),
    ],
)
def test_a_valid_attempt_has_the_outcome_of_its_report_or_of_its_limit(changes, outcome):
    found = ruling(**changes)
    assert (found.validity, found.outcome) == (Validity.VALID, outcome)


def test_an_agent_that_ended_well_and_did_nothing_has_failed():
    assert ruling(report=None).outcome is Outcome.FAIL
