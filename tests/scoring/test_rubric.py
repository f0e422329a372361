from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive.reasons import Outcome, Reason
from archive.report import Report
from scoring.rubric import Contradictory, Judged, Lines, judge, judge_report

DID_ALL = {
    "installed": True,
    "launched": True,
    "errors_encountered": 0,
    "errors_fixed": 0,
    "test_depth": "tier1_real",
    "timed_out": False,
}
depths = st.sampled_from(["tier1_real", "tier2_mock", "tier3_none"])
counts = st.integers(0, 1000)


@st.composite
def told(draw, timed_out=False):
    encountered = draw(counts)
    return {
        "installed": draw(st.booleans()),
        "launched": draw(st.booleans()),
        "errors_encountered": encountered,
        "errors_fixed": draw(st.integers(0, encountered)),
        "test_depth": draw(depths),
        "timed_out": timed_out,
    }


def report(**changes):
    fields = {key: value for key, value in DID_ALL.items() if key != "timed_out"}
    rest = {
        "schema_version": 1,
        "errors": (),
        "verified_how": "not verified",
        "final_state": "done",
        "install_seconds": None,
    }
    return Report(**{**fields, **rest, **changes})


def test_everything_done_for_real_and_no_error_is_a_hundred(edition):
    judged = judge(edition, **DID_ALL)
    assert judged == Judged(Lines(Fraction(30), Fraction(30), Fraction(20), Fraction(20)), Fraction(100), "pass_full")


def test_two_errors_of_three_fixed_are_thirteen_and_a_third(edition):
    judged = judge(edition, **{**DID_ALL, "errors_encountered": 3, "errors_fixed": 2})
    assert judged.lines.recovery == Fraction(40, 3)
    assert judged.score == Fraction(280, 3)
    assert judged.outcome is Outcome.PASS_FULL


def test_mocks_are_twelve_points_and_a_pass(edition):
    judged = judge(edition, **{**DID_ALL, "test_depth": "tier2_mock"})
    assert (judged.score, judged.outcome) == (92, Outcome.PASS_MOCK)


def test_installed_and_started_but_not_verified_is_eighty_points_and_still_a_fail(edition):
    judged = judge(edition, **{**DID_ALL, "test_depth": "tier3_none"})
    assert (judged.score, judged.outcome) == (80, Outcome.FAIL)


def test_a_pass_can_score_less_than_a_fail(edition):
    passed = judge(edition, **{**DID_ALL, "test_depth": "tier2_mock", "errors_encountered": 1})
    failed = judge(edition, **{**DID_ALL, "test_depth": "tier3_none"})
    assert (passed.score, passed.outcome) == (72, Outcome.PASS_MOCK)
    assert (failed.score, failed.outcome) == (80, Outcome.FAIL)


def test_started_requires_installed_and_depth_requires_started(edition):
    judged = judge(edition, **{**DID_ALL, "installed": False})
    assert judged.lines == (0, 0, 20, 0)
    assert judged.outcome is Outcome.FAIL


def test_without_a_start_the_depth_is_zero(edition):
    judged = judge(edition, **{**DID_ALL, "launched": False})
    assert judged.lines == (30, 0, 20, 0)
    assert judged.outcome is Outcome.FAIL


def test_no_error_at_all_is_the_full_recovery_line(edition):
    assert judge(edition, **{**DID_ALL, "installed": False, "launched": False}).lines == (0, 0, 20, 0)


def test_a_report_that_says_nothing_was_done_scores_twenty_but_no_report_scores_zero(edition):
    nothing_done = report(installed=False, launched=False, test_depth="tier3_none")
    assert judge_report(edition, nothing_done, False).score == 20
    assert judge_report(edition, None, False) == Judged(Lines(*[Fraction(0)] * 4), Fraction(0), Outcome.FAIL)


def test_no_report_because_time_ran_out_is_a_time_out(edition):
    assert judge_report(edition, None, True) == Judged(Lines(*[Fraction(0)] * 4), Fraction(0), Outcome.TIMEOUT)


def test_a_report_is_judged_by_its_own_fields(edition):
    judged = judge_report(edition, report(errors_encountered=3, errors_fixed=2, test_depth="tier2_mock"), False)
    assert (judged.score, judged.outcome) == (Fraction(256, 3), Outcome.PASS_MOCK)


@given(told(timed_out=True))
def test_a_time_out_is_zero_on_every_line(edition, fields):
    judged = judge(edition, **fields)
    assert judged == Judged(Lines(*[Fraction(0)] * 4), Fraction(0), Outcome.TIMEOUT)


@given(told(), st.integers(1, 5), st.booleans())
def test_more_fixes_than_errors_is_rejected_whatever_else_was_reported(edition, fields, too_many, timed_out):
    fields.update(errors_fixed=fields["errors_encountered"] + too_many, timed_out=timed_out)
    with pytest.raises(Contradictory) as caught:
        judge(edition, **fields)
    assert caught.value.reason is Reason.AGENT_REPORT_CONTRADICTORY
    assert str(caught.value).startswith(f"{fields['errors_fixed']} errors fixed of {fields['errors_encountered']}")


def test_as_many_fixes_as_errors_is_no_contradiction(edition):
    assert judge(edition, **{**DID_ALL, "errors_encountered": 4, "errors_fixed": 4}).score == 100


@given(told())
def test_the_score_is_the_sum_of_its_lines_and_between_zero_and_a_hundred(edition, fields):
    judged = judge(edition, **fields)
    assert judged.score == judged.lines.total == sum(judged.lines)
    assert 0 <= judged.score <= 100


@given(told())
def test_a_pass_needs_all_of_installed_started_and_verified(edition, fields):
    judged = judge(edition, **fields)
    ran = fields["installed"] and fields["launched"]
    assert judged.outcome.passed == (ran and fields["test_depth"] != "tier3_none")
    assert (judged.outcome is Outcome.PASS_FULL) == (ran and fields["test_depth"] == "tier1_real")


@given(told())
def test_fixing_one_more_error_never_lowers_the_score_nor_changes_the_outcome(edition, fields):
    before = judge(edition, **fields)
    fields["errors_fixed"] = min(fields["errors_fixed"] + 1, fields["errors_encountered"])
    after = judge(edition, **fields)
    assert after.score >= before.score
    assert after.outcome is before.outcome


def test_every_edition_so_far_has_the_same_rubric(editions):
    for edition in editions.values():
        assert judge(edition, **{**DID_ALL, "errors_encountered": 3, "errors_fixed": 2}).lines == (
            30,
            30,
            Fraction(40, 3),
            20,
        )


def test_every_point_comes_from_the_edition_and_none_from_the_code(edition):
    rubric = edition.rubric.model_copy(
        update={"installed": 1, "started": 2, "recovery": 60, "depth_real": 37, "depth_mock": 5, "depth_none": 3}
    )
    altered = edition.model_copy(update={"rubric": rubric})
    half = {**DID_ALL, "errors_encountered": 2, "errors_fixed": 1}
    assert judge(altered, **half).lines == (1, 2, 30, 37)
    assert judge(altered, **{**half, "test_depth": "tier2_mock"}).lines == (1, 2, 30, 5)
    assert judge(altered, **{**half, "test_depth": "tier3_none"}).lines == (1, 2, 30, 3)
    assert judge(altered, **{**DID_ALL, "installed": False}).lines == (0, 0, 60, 0)
    assert judge(altered, **{**half, "test_depth": "tier3_none"}).outcome is Outcome.FAIL
