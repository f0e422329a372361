import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.interval import wilson_95

rates = st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    ("passes", "attempts", "lower", "upper"),
    [
        # (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n) with z² = 3.841459
        (30, 36, 0.6811, 0.9213),
        (1, 2, 0.0945, 0.9055),
        (0, 3, 0.0, 0.5615),
        (3, 3, 0.4385, 1.0),
        (50, 100, 0.4038, 0.5962),
    ],
)
def test_values_a_person_can_check_by_hand(passes, attempts, lower, upper):
    found = wilson_95(passes, attempts)
    assert found == pytest.approx((lower, upper), abs=5e-5)


def test_no_attempt_has_no_pass_rate():
    assert wilson_95(0, 0) is None


@pytest.mark.parametrize(("passes", "attempts"), [(1, 0), (4, 3), (-1, 3), (0, -1)])
def test_what_is_no_rate_is_refused(passes, attempts):
    with pytest.raises(ValueError, match="no pass rate"):
        wilson_95(passes, attempts)


@given(rates)
def test_the_interval_holds_the_rate_and_stays_between_zero_and_one(rate):
    passes, attempts = rate
    lower, upper = wilson_95(passes, attempts)
    assert 0 <= lower <= passes / attempts <= upper <= 1
    assert lower < upper


@given(rates)
def test_failures_mirror_passes(rate):
    passes, attempts = rate
    lower, upper = wilson_95(passes, attempts)
    assert wilson_95(attempts - passes, attempts) == pytest.approx((1 - upper, 1 - lower), abs=1e-12)


@given(rates)
def test_more_attempts_at_the_same_rate_make_it_narrower(rate):
    passes, attempts = rate
    lower, upper = wilson_95(passes, attempts)
    sure_lower, sure_upper = wilson_95(2 * passes, 2 * attempts)
    assert sure_upper - sure_lower < upper - lower
