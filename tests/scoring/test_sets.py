from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive.reasons import Outcome
from scoring.sets import sets

one_attempt = st.tuples(
    st.integers(0, 100),
    st.sampled_from(["pass_full", "pass_mock", "fail", "timeout"]),
    st.sampled_from([None, None, "infra:disk", "evidence:not-proven-clean"]),
)


def made(attempt, drawn):
    return [
        attempt(number=number, score=score, outcome=outcome, reason=reason)
        for number, (score, outcome, reason) in enumerate(drawn, 1)
    ]


def test_the_first_three_valid_attempts_by_number_make_the_set(attempt, edition):
    attempts = [
        attempt(number=5, score=1),
        attempt(number=4, score=100, outcome="pass_full"),
        attempt(number=3, score=60),
        attempt(number=2, reason="infra:network"),
        attempt(number=1, score=80),
    ]
    (only,) = sets(attempts, edition)
    assert only.scores == (80, 60, 100)
    assert only.middle == 80
    assert only.outcomes == ("fail", "fail", "pass_full", "fail")
    assert [one.attempt for one in only.attempts] == [1, 2, 3, 4, 5]


def test_numbers_are_compared_as_numbers(attempt, edition):
    (only,) = sets([attempt(number=number, score=number) for number in (10, 9, 100, 2)], edition)
    assert only.scores == (2, 9, 10)


def test_what_does_not_count_stays_out_even_where_it_carries_a_score(attempt, edition):
    odd = attempt(reason="infra:disk")._replace(score=Fraction(100), outcome=Outcome.PASS_FULL)
    (only,) = sets([odd], edition)
    assert (only.scores, only.outcomes) == ((), ())


@given(st.lists(one_attempt, max_size=8), st.randoms())
def test_the_order_in_which_attempts_are_given_is_irrelevant(attempt, edition, drawn, random):
    attempts = made(attempt, drawn)
    shuffled = list(attempts)
    random.shuffle(shuffled)
    assert sets(shuffled, edition) == sets(attempts, edition)


@given(st.lists(one_attempt, min_size=1, max_size=8))
def test_invalid_and_withheld_attempts_leave_every_denominator(attempt, edition, drawn):
    (with_them,) = sets(made(attempt, drawn), edition)
    valid = [one for one in made(attempt, drawn) if one.reason is None]
    without = sets(valid, edition)
    if not valid:
        assert (with_them.scores, with_them.outcomes, with_them.middle) == ((), (), None)
    else:
        assert (with_them.scores, with_them.outcomes) == (without[0].scores, without[0].outcomes)
    assert len(with_them.attempts) == len(drawn)


@given(st.lists(one_attempt, min_size=1, max_size=8), one_attempt)
def test_an_attempt_after_a_complete_set_does_not_move_its_score(attempt, edition, drawn, late):
    (before,) = sets(made(attempt, drawn), edition)
    (after,) = sets(made(attempt, [*drawn, late]), edition)
    if before.complete:
        assert (after.scores, after.middle, after.spread) == (before.scores, before.middle, before.spread)
    else:
        assert after.scores[: len(before.scores)] == before.scores


@pytest.mark.parametrize("valid", [0, 1, 2])
def test_fewer_than_three_valid_attempts_are_shown_and_never_scored(attempt, edition, valid):
    attempts = [attempt(number=n, score=100, outcome="pass_full") for n in range(1, valid + 1)]
    attempts.append(attempt(number=9, reason="infra:machine"))
    (only,) = sets(attempts, edition)
    assert not only.complete
    assert (only.middle, only.spread, only.unstable) == (None, None, False)
    assert len(only.outcomes) == valid


def test_a_set_is_one_agent_on_one_project(attempt, edition):
    attempts = [
        attempt(agent=a, subject=s, number=n, score=90) for a in ("b", "a") for s in ("q", "p") for n in (1, 2, 3)
    ]
    found = sets(attempts, edition)
    assert [(one.agent, one.project) for one in found] == [("a", "p"), ("a", "q"), ("b", "p"), ("b", "q")]
    assert all(one.complete for one in found)


def test_attempts_for_a_verdict_are_not_on_the_board(attempt, edition):
    attempts = [attempt(number=n, score=90, purpose="verdict") for n in (1, 2, 3)]
    assert sets(attempts, edition) == []


def test_attempts_for_a_verdict_count_in_the_pass_rate_and_never_in_the_score(attempt, edition):
    attempts = [attempt(number=n, score=90, outcome="fail") for n in (2, 3)]
    attempts += [attempt(number=n, score=100, outcome="pass_full", purpose="verdict") for n in (1, 2)]
    attempts += [attempt(number=3, reason="infra:disk", purpose="verdict")]
    (only,) = sets(attempts, edition)
    assert (only.scores, only.complete) == ((90, 90), False)
    assert sorted(only.outcomes) == ["fail", "fail", "pass_full", "pass_full"]
    assert [(one.purpose, one.attempt) for one in only.attempts] == [("board", 2), ("board", 3)]
    # Its other project has an attempt for the verdict alone: that one is on record, so the agent's pass rate has it.
    other = attempt(subject="q", score=100, outcome="pass_full", purpose="verdict")
    found = sets([*attempts, other], edition)
    assert [(one.project, one.scores, one.outcomes) for one in found[1:]] == [("q", (), ("pass_full",))]


def test_a_spread_above_thirty_is_unstable_and_exactly_thirty_is_not(attempt, edition):
    def of(*scores):
        (only,) = sets([attempt(number=n, score=Fraction(s)) for n, s in enumerate(scores)], edition)
        return only

    assert (of(80, 56, 80).spread, of(80, 56, 80).unstable) == (30, False)
    assert of(80, "55.99", 80).unstable
    assert (of(0, 0, 20).spread, of(0, 0, 20).unstable) == ("infinite", True)
    assert (of(0, 0, 0).spread, of(0, 0, 0).unstable) == (0, False)


def test_set_size_and_threshold_come_from_the_edition(attempt, edition):
    rules = edition.board.model_copy(update={"set_size": 5, "spread_percent": 100})
    altered = edition.model_copy(update={"board": rules})
    attempts = [attempt(number=n, score=s) for n, s in enumerate((50, 50, 100, 100, 60))]
    (three,), (five,) = sets(attempts, edition), sets(attempts, altered)
    assert (three.middle, three.unstable) == (50, True)
    assert (five.middle, five.unstable) == (60, False)


def test_outcomes_of_all_valid_attempts_are_kept_for_the_pass_rate(attempt, edition):
    words = ["timeout", "fail", "pass_mock", "pass_full"]
    (only,) = sets([attempt(number=n, score=0, outcome=word) for n, word in enumerate(words)], edition)
    assert only.outcomes == tuple(Outcome(word) for word in words)


def test_attempts_under_another_edition_are_refused(attempt, edition):
    with pytest.raises(ValueError, match=r"run a-p-1 was made under edition 1\.4, not 1\.5"):
        sets([attempt(edition="1.4")], edition)


def test_attempts_of_two_cycles_are_refused(attempt, edition):
    with pytest.raises(ValueError, match=r"several cycles .*: one, two"):
        sets([attempt(), attempt(cycle="two", number=2)], edition)
