"""The one table that says what follows when an attempt does not count (MEASUREMENT §7, §8, §9)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive import pools, reasons
from archive.reasons import LIMITS, POLICIES, Limit, Outcome, Reason, reruns
from archive.reasons import reruns_left as left

EDITION = pools.editions(Path(__file__).parents[2])["1.5"]
REASONS = st.sampled_from(list(Reason))


def reruns_left(before: list[Reason]) -> int:
    return left(before, EDITION)


def test_the_table_covers_every_reason_and_no_other() -> None:
    assert set(POLICIES) == set(Reason)


@pytest.mark.parametrize("reason", Reason)
def test_an_attempt_with_a_reason_never_counts_and_is_run_again(reason: Reason) -> None:
    policy = POLICIES[reason]
    assert not policy.counts
    assert reruns(reason, EDITION) >= 1
    assert policy.means


@pytest.mark.parametrize("limit", Limit)
def test_a_limit_that_the_agent_reached_is_an_outcome(limit: Limit) -> None:
    assert set(LIMITS) == set(Limit)
    assert LIMITS[limit].counts
    assert LIMITS[limit].reruns == 0
    assert LIMITS[limit].means


def test_no_limit_can_be_mistaken_for_a_reason() -> None:
    assert not {str(limit) for limit in Limit} & {str(reason) for reason in Reason}


def test_a_reason_names_whose_instrument_failed() -> None:
    assert {reason.split(":")[0] for reason in Reason} == {
        *("agent", "evidence", "harness", "infra", "key", "provider")
    }


def test_the_plan_must_hold_as_many_reruns_as_any_reason_allows() -> None:
    assert max(reruns(reason, EDITION) for reason in Reason) == reasons.MAX_RERUNS == 3


def test_a_contradictory_report_is_run_again_at_most_once() -> None:
    reason = Reason.AGENT_REPORT_CONTRADICTORY
    assert reruns_left([reason]) == 1
    assert reruns_left([reason, reason]) == 0


def test_how_often_a_contradictory_report_is_run_again_is_the_editions_number() -> None:
    other = EDITION.model_copy(update={"contradictory_reruns": 3})
    assert left([Reason.AGENT_REPORT_CONTRADICTORY], other) == 3
    assert left([Reason.INFRA_DISK], other) == left([Reason.INFRA_DISK], EDITION) == 3


def test_a_lost_network_is_run_again_three_times() -> None:
    assert [reruns_left([Reason.INFRA_NETWORK] * count) for count in (1, 2, 3, 4, 5)] == [3, 2, 1, 0, 0]


def test_each_reason_is_counted_by_itself() -> None:
    contradictory, disk = Reason.AGENT_REPORT_CONTRADICTORY, Reason.INFRA_DISK
    assert reruns_left([disk, disk, contradictory]) == 1
    assert reruns_left([contradictory, disk]) == 3
    assert reruns_left([contradictory, disk, contradictory]) == 0


def test_without_a_failed_attempt_nothing_is_run_again() -> None:
    assert reruns_left([]) == 0


@given(st.lists(REASONS, max_size=6), REASONS)
def test_the_same_reason_again_never_leaves_more_reruns(before: list[Reason], reason: Reason) -> None:
    assert 0 <= reruns_left([*before, reason, reason]) <= reruns_left([*before, reason]) <= reruns(reason, EDITION)


def test_only_two_outcomes_are_passes() -> None:
    assert [outcome for outcome in Outcome if outcome.passed] == [Outcome.PASS_FULL, Outcome.PASS_MOCK]
