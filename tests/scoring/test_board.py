from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.board import board

score = st.fractions(min_value=0, max_value=100, max_denominator=60)
outcome = st.sampled_from(["pass_full", "pass_mock", "fail", "timeout"])
drawn_set = st.tuples(st.lists(score, max_size=3), st.lists(outcome, min_size=3, max_size=5))
drawn_board = st.dictionaries(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("pqrst")), drawn_set, min_size=1, max_size=12
)


def made(measured, drawn):
    return [measured(agent, project, scores, words) for (agent, project), (scores, words) in drawn.items()]


def row(rows, agent):
    return next(one for one in rows if one.agent == agent)


def test_the_board_score_is_the_middle_of_the_middles_and_no_mean(measured, edition):
    sets = [measured(project=name, scores=[value] * 3) for name, value in zip("pqr", (0, 90, 100), strict=True)]
    (only,) = board(sets, [], [], edition)
    assert only.board_score == 90


def test_with_an_even_number_of_projects_it_is_the_mean_of_the_two_in_the_middle(measured, edition):
    sets = [measured(project=name, scores=[value] * 3) for name, value in zip("pqrs", (0, 80, 93, 100), strict=True)]
    (only,) = board(sets, [], [], edition)
    assert only.board_score == Fraction(173, 2)


def test_exclusions_are_visible_and_leave_the_score(measured, edition):
    sets = [
        measured(project="good", scores=[90, 90, 90], outcomes=["pass_full"] * 3),
        measured(project="wild", scores=[0, 100, 100], outcomes=["timeout", "pass_full", "pass_full"]),
        measured(project="broken", scores=[0, 0, 0]),
        measured(project="short", scores=[10, 10]),
    ]
    (only,) = board(sets, {"broken"}, [], edition)
    assert only.board_score == 90
    assert (only.unstable, only.under_review, only.incomplete) == (("wild",), ("broken",), ("short",))
    assert (only.sets, only.passes, only.attempts) == (4, 5, 11)


@given(drawn_board, drawn_set, st.sampled_from(["unstable", "under review", "incomplete"]))
def test_an_excluded_set_never_moves_a_board_score(measured, edition, drawn, extra, why):
    sets = made(measured, drawn)
    before = {one.agent: one for one in board(sets, [], [], edition)}
    scores = {"unstable": [0, 10, 100], "under review": [100, 100, 100], "incomplete": extra[0][:2]}[why]
    added = measured("a", "new", scores, extra[1])
    after = {one.agent: one for one in board([*sets, added], ["new"] if why == "under review" else [], [], edition)}
    assert {name: one.board_score for name, one in after.items() if name in before} == {
        name: one.board_score for name, one in before.items()
    }
    listed = {"unstable": after["a"].unstable, "under review": after["a"].under_review}
    assert "new" in listed.get(why, after["a"].incomplete)
    assert after["a"].sets == (before["a"].sets if "a" in before else 0) + 1


@given(drawn_board, st.randoms())
def test_the_order_of_sets_is_irrelevant(measured, edition, drawn, random):
    sets = made(measured, drawn)
    shuffled = list(sets)
    random.shuffle(shuffled)
    assert board(shuffled, ["q"], ["d"], edition) == board(sets, ["q"], ["d"], edition)


@given(drawn_board)
def test_no_agent_is_ever_removed(measured, edition, drawn):
    rows = board(made(measured, drawn), ["p", "q"], ["a"], edition)
    assert sorted(one.agent for one in rows) == sorted({agent for agent, _ in drawn})


@given(drawn_board)
def test_the_pass_rate_counts_every_valid_attempt_of_excluded_sets_too(measured, edition, drawn):
    for one in board(made(measured, drawn), ["p", "q", "r"], [], edition):
        words = [word for (agent, _), (_, said) in drawn.items() if agent == one.agent for word in said]
        assert one.attempts == len(words)
        assert one.passes == words.count("pass_full") + words.count("pass_mock")


@given(drawn_board)
def test_a_better_score_never_has_a_worse_rank_and_equal_scores_share_one(measured, edition, drawn):
    ranked = [one for one in board(made(measured, drawn), [], ["d"], edition) if one.rank is not None]
    for one in ranked:
        assert one.rank == 1 + sum(other.board_score > one.board_score for other in ranked)


def test_equal_scores_share_a_rank_and_the_next_one_is_skipped(measured, edition):
    scores = {"d": 70, "b": 90, "a": 90, "c": 80}
    rows = board([measured(agent, scores=[value] * 3) for agent, value in scores.items()], [], [], edition)
    assert [(one.agent, one.rank) for one in rows] == [("a", 1), ("b", 1), ("c", 3), ("d", 4)]


def test_scores_that_only_print_alike_do_not_share_a_rank(measured, edition):
    rows = board([measured("a", scores=["93.33"] * 3), measured("b", scores=["280/3"] * 3)], [], [], edition)
    assert [(one.agent, one.rank) for one in rows] == [("b", 1), ("a", 2)]


def test_an_agent_with_nothing_scorable_stays_at_the_bottom_without_a_score(measured, edition):
    rows = board([measured("a", scores=[0, 50, 100]), measured("z", scores=[0, 0, 0])], [], [], edition)
    assert [(one.agent, one.rank, one.board_score) for one in rows] == [("z", 1, 0), ("a", None, None)]


def test_consistent_failure_is_a_score_of_zero_and_no_exclusion(measured, edition):
    (only,) = board([measured(scores=[0, 0, 0])], [], [], edition)
    assert (only.board_score, only.rank, only.unstable) == (0, 1, ())


def test_controls_are_shown_last_with_their_score_and_never_ranked(measured, edition):
    rows = board(
        [measured("nop", scores=[0] * 3), measured("readme"), measured("a", scores=[60] * 3), measured("b", scores=[])],
        [],
        ["nop", "readme"],
        edition,
    )
    assert [(one.agent, one.rank, one.board_score, one.control) for one in rows] == [
        ("a", 1, 60, False),
        ("b", None, None, False),
        ("readme", None, 100, True),
        ("nop", None, 0, True),
    ]


def test_a_set_that_is_excluded_twice_is_listed_twice(measured, edition):
    (only,) = board([measured(scores=[0, 0, 1]), measured(project="q", scores=[])], ["p", "q"], [], edition)
    assert (only.unstable, only.under_review, only.incomplete) == (("p",), ("p", "q"), ("q",))


def test_the_interval_is_of_the_pass_rate_and_unknown_without_an_attempt(measured, edition):
    twelve = [measured(project=str(n), outcomes=["pass_full", "pass_mock", "pass_full"]) for n in range(10)]
    twelve += [measured(project=str(n), scores=[0] * 3, outcomes=["fail", "timeout", "fail"]) for n in (10, 11)]
    rows = board([*twelve, measured("b", scores=[], outcomes=[])], [], [], edition)
    assert (row(rows, "a").passes, row(rows, "a").attempts) == (30, 36)
    assert row(rows, "a").wilson_95 == pytest.approx((0.6811, 0.9213), abs=5e-5)
    assert (row(rows, "b").attempts, row(rows, "b").wilson_95) == (0, None)


def test_no_sets_make_an_empty_board(edition):
    assert board([], [], [], edition) == []


def test_a_set_of_another_edition_is_refused(measured, edition, editions):
    with pytest.raises(ValueError, match="the set of a on p was measured by another edition"):
        board([measured(under=editions["1.4"])], [], [], edition)
