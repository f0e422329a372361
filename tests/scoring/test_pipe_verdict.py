import pytest

FAIL = {"agent": "standard", "outcome": "fail", "validity": "valid"}


def ask(*attempts, edition="1.5"):
    return {"edition": edition, "attempts": list(attempts)}


def test_the_example_of_the_specification_to_the_byte(pipe):
    answered = pipe("verdict", ask(FAIL))
    assert answered.text == '{"verdict":"not yet verified","next":"standard"}\n'
    assert answered.code == 0


def test_who_comes_next_depends_on_the_edition(pipe):
    answered = pipe("verdict", *[ask(FAIL, FAIL, edition=version) for version in ("0.3", "0.4", "1.2", "1.3", "1.5")])
    assert [(row["verdict"], row["next"]) for row in answered.rows] == [
        (None, None),
        ("not yet verified", "stronger"),
        ("not yet verified", "stronger"),
        ("could not verify", None),
        ("could not verify", None),
    ]


def test_the_best_outcome_of_any_agent_is_the_verdict(pipe):
    mock, strong = {**FAIL, "outcome": "pass_mock"}, {**FAIL, "agent": "stronger", "outcome": "pass_full"}
    answered = pipe(
        "verdict", ask(), ask(mock), ask(FAIL, FAIL, strong), ask(FAIL, FAIL, {**strong, "outcome": "fail"})
    )
    assert [row["verdict"] for row in answered.rows] == [
        "not yet verified",
        "runs with mocks",
        "runs",
        "could not verify",
    ]


@pytest.mark.parametrize("validity", ["invalid", "withheld"])
@pytest.mark.parametrize("outcome", [{}, {"outcome": None}, {"outcome": "pass_full"}])
def test_an_attempt_that_does_not_count_changes_nothing_whatever_it_says(pipe, validity, outcome):
    other = {"agent": "standard", "validity": validity, **outcome}
    assert pipe("verdict", ask(FAIL, other)).rows == [{"verdict": "not yet verified", "next": "standard"}]


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"outcome": None}, "attempts.0: outcome"),
        ({"outcome": "pass"}, "attempts.0.outcome"),
        ({"outcome": 1}, "attempts.0.outcome"),
        ({"validity": "ok"}, "attempts.0.validity"),
        ({"validity": None}, "attempts.0.validity"),
        ({"agent": "agent-a"}, "attempts.0.agent"),
        ({"run": "x"}, "attempts.0.run"),
    ],
)
def test_a_wrong_attempt_is_named_by_its_place(pipe, changed, field):
    answered = pipe("verdict", ask({**FAIL, **changed}))
    assert answered.problems[0].startswith(f"standard input:1: {field}: ")
    assert (answered.rows, answered.code) == ([], 2)


@pytest.mark.parametrize("line", [{"attempts": []}, {"edition": "1.5"}, {"edition": "1.6", "attempts": []}, []])
def test_any_other_shape_is_refused(pipe, line):
    answered = pipe("verdict", line)
    assert (answered.rows, len(answered.problems), answered.code) == ([], 1, 2)
