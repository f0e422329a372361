import pytest

INCOMPLETE = {"middle": None, "exact": None, "spread": None, "unstable": False, "incomplete": True}


def test_the_example_of_the_specification_to_the_byte(pipe):
    answered = pipe("set", '{"scores":[80,"280/3",100]}')
    assert answered.text == '{"middle":93.33,"exact":"280/3","spread":21.43,"unstable":false}\n'
    assert answered.code == 0


@pytest.mark.parametrize(
    ("scores", "middle", "spread", "unstable"),
    [
        ("[80,56,80]", 80, 30, False),
        ("[80,55.9999999999999999999,80]", 80, 30, True),
        ("[0,0,0.01]", 0, "infinite", True),
        ("[0,0,0]", 0, 0, False),
        ("[0,50,50]", 50, 100, True),
        ("[100,100,100]", 100, 0, False),
        ('["40/3",13.33,"13"]', 13.33, 2.5, False),
    ],
)
def test_middle_spread_and_stability(pipe, scores, middle, spread, unstable):
    (row,) = pipe("set", f'{{"scores":{scores}}}').rows
    assert (row["middle"], row["spread"], row["unstable"]) == (middle, spread, unstable)


def test_a_decimal_is_read_exactly_and_not_as_a_binary_float(pipe):
    (row,) = pipe("set", '{"scores":[93.33,93.33,93.33]}').rows
    assert (row["middle"], row["exact"]) == (93.33, "9333/100")


def test_stability_is_decided_before_rounding(pipe):
    (row,) = pipe("set", '{"scores":["80","5599999999/100000000",80]}').rows
    assert row["spread"] == 30
    assert row["unstable"]


@pytest.mark.parametrize("scores", [[], [80], [80, "280/3"]])
def test_fewer_than_three_scores_are_incomplete(pipe, scores):
    answered = pipe("set", {"scores": scores})
    assert (answered.rows, answered.code) == ([INCOMPLETE], 0)


def test_more_than_three_scores_are_a_wrong_line(pipe):
    answered = pipe("set", {"scores": [1, 2, 3, 4]})
    assert answered.problems == ["standard input:1: scores: 4 scores; a set is the first 3 valid attempts by number"]
    assert (answered.rows, answered.code) == ([], 2)


@pytest.mark.parametrize(
    "score",
    [
        "true",
        "null",
        "-1",
        "-0.01",
        "100.01",
        "101",
        "1e400",
        '"1/0"',
        '"303/3.0"',
        '"-1/2"',
        '"301/3"',
        '""',
        "[]",
        "{}",
        '"' + "9" * 200 + '"',
        "0." + "3" * 200,
        "1e-400",
    ],
)
def test_what_is_no_score_is_named_by_its_place(pipe, score):
    answered = pipe("set", f'{{"scores":[1,{score},3]}}', '{"scores":[1,2,3]}')
    assert [problem.split(": ")[:2] for problem in answered.problems] == [["standard input:1", "scores.1"]]
    assert (len(answered.rows), answered.code) == (1, 2)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"scores":[1,100.01,3]}', "scores.1: a score is between 0 and 100, not 100.01"),
        ('{"scores":[1,101,3]}', "scores.1: a score is between 0 and 100, not 101"),
        ('{"scores":3.5}', "scores: Input should be a valid list, not 3.5"),
        ("{}", "scores: missing; this key is required"),
    ],
)
def test_a_refused_number_is_shown_and_words_are_those_of_json(pipe, line, said):
    assert pipe("set", line).problems == [f"standard input:1: {said}"]


def test_the_edges_are_scores(pipe):
    assert pipe("set", '{"scores":[0,100,"300/3"]}', '{"scores":[0.0,1e2,"0"]}').code == 0


@pytest.mark.parametrize("line", ["{}", '{"scores":3}', '{"scores":{"0":1}}', '{"scores":[1,2,3],"set":1}'])
def test_any_other_shape_is_refused(pipe, line):
    answered = pipe("set", line)
    assert (answered.rows, len(answered.problems), answered.code) == ([], 1, 2)


def test_an_edition_may_be_named(pipe):
    answered = pipe("set", *[{"scores": [1, 1, 1], "edition": version} for version in ("0.2", "1.5", None, "0.1")])
    assert len(answered.rows) == 3
    assert answered.problems[0].startswith("standard input:4: edition: no such edition")
