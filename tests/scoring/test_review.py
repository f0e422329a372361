import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.review import under_review

FAILED, PASSED, NONE = ["fail", "timeout", "fail"], ["fail", "fail", "pass_mock"], []
outcomes = st.lists(st.sampled_from(["pass_full", "pass_mock", "fail", "timeout"]), max_size=3)
drawn_sets = st.dictionaries(st.tuples(st.sampled_from("abcd"), st.sampled_from("pq")), outcomes)


def made(measured, drawn):
    return [measured(agent, project, [0] * len(words), words) for (agent, project), words in drawn.items()]


@pytest.mark.parametrize(
    ("drawn", "flagged"),
    [
        ({"a": FAILED, "b": FAILED}, True),
        ({"a": FAILED, "b": PASSED}, False),
        ({"a": FAILED, "b": FAILED, "c": PASSED}, False),
        ({"a": FAILED, "b": FAILED, "c": NONE}, True),
        ({"a": FAILED}, False),
        ({"a": FAILED, "b": NONE}, False),
        ({"a": ["timeout"], "b": ["timeout"]}, True),
        ({"a": ["fail"], "b": ["fail"]}, True),
        ({}, False),
    ],
)
def test_a_project_that_every_agent_failed_is_under_review(measured, edition, drawn, flagged):
    sets = made(measured, {(agent, "p"): words for agent, words in drawn.items()})
    assert under_review(sets, [], edition) == ({"p"} if flagged else set())


def test_one_project_does_not_put_another_under_review(measured, edition):
    sets = made(measured, {("a", "p"): FAILED, ("b", "p"): FAILED, ("a", "q"): FAILED, ("b", "q"): PASSED})
    assert under_review(sets, [], edition) == {"p"}


@given(drawn_sets, outcomes)
def test_control_agents_count_neither_way(measured, edition, drawn, words):
    sets = made(measured, drawn)
    control = made(measured, {("control", "p"): words})
    assert under_review(sets + control, ["control"], edition) == under_review(sets, [], edition)


@given(drawn_sets)
def test_a_pass_of_any_ranked_agent_is_never_under_review(measured, edition, drawn):
    for project in under_review(made(measured, drawn), [], edition):
        words = [words for (_, name), words in drawn.items() if name == project and words]
        assert len(words) >= 2
        assert not any("pass" in word for said in words for word in said)


def test_how_many_agents_it_takes_comes_from_the_edition(measured, edition):
    def needs(agents):
        rules = edition.board.model_copy(update={"under_review_agents": agents})
        return edition.model_copy(update={"board": rules})

    one = made(measured, {("a", "p"): FAILED})
    three = made(measured, {(agent, "p"): FAILED for agent in "abc"})
    assert under_review(one, [], needs(1)) == {"p"}
    assert under_review(three, [], needs(3)) == {"p"}
    assert under_review(three, [], needs(4)) == set()


def test_an_edition_before_the_exclusion_flags_nothing(measured, editions):
    sets = made(measured, {("a", "p"): FAILED, ("b", "p"): FAILED})
    assert under_review(sets, [], editions["0.2"]) == set()
    assert under_review(sets, [], editions["0.3"]) == {"p"}
