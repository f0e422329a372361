from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.spread import middle, spread, unstable

score = st.fractions(min_value=0, max_value=100, max_denominator=1000)
three = st.lists(score, min_size=3, max_size=3)


def fractions(*values):
    return [Fraction(value) for value in values]


def test_the_middle_of_three_is_neither_mean_nor_first():
    assert middle(fractions(100, 0, 93)) == 93


def test_the_middle_of_an_even_number_is_the_mean_of_the_two_in_the_middle():
    assert middle(fractions(100, 0, 93, 80)) == Fraction(173, 2)


def test_nothing_has_no_middle():
    with pytest.raises(ValueError, match="no scores"):
        middle([])


@given(st.lists(score, min_size=1, max_size=9), st.randoms())
def test_the_order_of_scores_is_irrelevant(scores, random):
    shuffled = list(scores)
    random.shuffle(shuffled)
    assert middle(shuffled) == middle(scores)
    assert spread(shuffled) == spread(scores)


@given(st.lists(score, min_size=1, max_size=9))
def test_at_least_half_lie_on_each_side_of_the_middle(scores):
    centre = middle(scores)
    assert 2 * sum(value <= centre for value in scores) >= len(scores)
    assert 2 * sum(value >= centre for value in scores) >= len(scores)


def test_the_spread_is_the_range_in_percent_of_the_middle(edition):
    value = spread(fractions(80, "280/3", 100))
    assert value == Fraction(150, 7)
    assert not unstable(value, edition)


def test_exactly_thirty_percent_stays_on_the_board(edition):
    assert spread(fractions(80, 80, 56)) == 30
    assert not unstable(Fraction(30), edition)


def test_the_smallest_step_above_thirty_percent_is_unstable(edition):
    value = spread([Fraction(80), Fraction(80), 56 - Fraction(1, 10**30)])
    assert value != 30
    assert float(value) == 30.0
    assert unstable(value, edition)


@pytest.mark.parametrize("highest", [100, Fraction(1, 10**40)])
def test_a_middle_of_zero_under_any_higher_score_is_infinite_and_unstable(edition, highest):
    value = spread([Fraction(0), Fraction(highest), Fraction(0)])
    assert value == "infinite"
    assert unstable(value, edition)


def test_all_zero_is_a_spread_of_zero_and_stable(edition):
    value = spread(fractions(0, 0, 0))
    assert value == 0
    assert not unstable(value, edition)


@given(three)
def test_the_spread_is_zero_only_for_equal_scores_and_infinite_only_for_a_middle_of_zero(scores):
    value = spread(scores)
    assert (value == 0) == (len(set(scores)) == 1)
    assert (value == "infinite") == (sorted(scores)[1] == 0 < max(scores))


@given(three, st.fractions(min_value=Fraction(1, 100), max_value=1, max_denominator=100))
def test_the_spread_does_not_depend_on_the_scale_of_the_scores(scores, factor):
    assert spread([value * factor for value in scores]) == spread(scores)


def test_the_threshold_comes_from_the_edition(edition):
    strict = edition.model_copy(update={"board": edition.board.model_copy(update={"spread_percent": 29})})
    assert unstable(Fraction(30), strict)
    assert not unstable(Fraction(29), strict)
