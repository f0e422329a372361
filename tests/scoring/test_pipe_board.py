import json
import subprocess
import sys

import pytest

FAILED = {"scores": [0, 0, 0], "outcomes": ["fail", "fail", "timeout"]}


def one_set(agent="a", project="p", **changes):
    line = {"agent": agent, "project": project, "scores": [90, 90, 90], "outcomes": ["pass_full"] * 3}
    return {**line, "under_review": False, "control": False, **changes}


def test_a_row_has_the_shape_of_the_specification_to_the_byte(pipe):
    lines = [one_set("a", f"p{number:02}") for number in range(10)]
    lines.append(one_set("a", "p10", scores=[0, 50, "280/3"], outcomes=["timeout", "fail", "fail"]))
    lines.append(one_set("a", "p11", scores=[80, 80, 80], outcomes=["fail"] * 3))
    answered = pipe("board", *lines)
    assert answered.text == (
        '{"agent":"a","rank":1,"board_score":90,"sets":12,"unstable":["p10"],"under_review":[],"incomplete":[],'
        '"passes":30,"attempts":36,"wilson_95":[0.68,0.92],"control":false}\n'
    )
    assert (answered.problems, answered.code) == ([], 0)


def test_agents_come_best_first_and_share_ranks(pipe):
    scores = {"c": 60, "a": 90, "b": 90, "none": None, "control": 100}
    lines = [
        one_set(
            agent,
            scores=[] if value is None else [value] * 3,
            outcomes=[] if value is None else ["pass_full"] * 3,
            control=agent == "control",
        )
        for agent, value in scores.items()
    ]
    found = [(row["agent"], row["rank"], row["board_score"], row["control"]) for row in pipe("board", *lines).rows]
    assert found == [
        ("a", 1, 90, False),
        ("b", 1, 90, False),
        ("c", 3, 60, False),
        ("none", None, None, False),
        ("control", None, 100, True),
    ]


def test_the_board_does_not_depend_on_the_order_of_lines(pipe):
    lines = [one_set(agent, project, scores=[index, 90, 90]) for index, agent in enumerate("abc") for project in "pq"]
    assert pipe("board", *lines).text == pipe("board", *reversed(lines)).text


def test_board_scores_are_rounded_at_the_very_end(pipe):
    lines = [one_set("a", name, scores=[score] * 3) for name, score in (("p", "1/8"), ("q", "3/25"))]
    assert pipe("board", *lines).rows[0]["board_score"] == 0.12
    # Rounding 0.125 to 0.13 first would have given (0.13 + 0.12) / 2 = 0.125, printed 0.13.


def test_a_project_given_as_under_review_is_excluded_and_shown(pipe):
    lines = [one_set(project="p", under_review=True), one_set(project="q", scores=[60, 60, 60])]
    (row,) = pipe("board", *lines).rows
    assert (row["board_score"], row["under_review"], row["sets"]) == (60, ["p"], 2)


@pytest.mark.parametrize("left_out", [True, False])
def test_under_review_is_computed_where_it_is_left_out_or_null(pipe, left_out):
    lines = [one_set(agent, project, under_review=None) for agent in "ab" for project in "pq"]
    for line in lines[::2]:
        line.update(FAILED)
    if left_out:
        for line in lines:
            del line["under_review"]
    rows = pipe("board", *lines).rows
    assert [(row["agent"], row["board_score"], row["under_review"]) for row in rows] == [
        ("a", 90, ["p"]),
        ("b", 90, ["p"]),
    ]


def test_what_a_person_decided_is_final(pipe):
    lines = [one_set(agent, **FAILED) for agent in "ab"]
    assert [(row["board_score"], row["under_review"]) for row in pipe("board", *lines).rows] == [(0, []), (0, [])]
    del lines[1]["under_review"]
    assert [row["under_review"] for row in pipe("board", *lines).rows] == [[], []]


def test_a_control_agent_neither_causes_nor_prevents_a_review(pipe):
    lines = [one_set("a", **FAILED), one_set("b", **FAILED), one_set("readme", control=True)]
    for line in lines:
        line["under_review"] = None
    assert [row["under_review"] for row in pipe("board", *lines).rows] == [["p"], ["p"], ["p"]]
    assert [row["under_review"] for row in pipe("board", *lines[1:]).rows] == [[], []]


def test_under_an_edition_before_the_exclusion_nothing_is_computed(pipe):
    lines = [one_set(agent, under_review=None, edition="0.2", **FAILED) for agent in "ab"]
    assert [row["under_review"] for row in pipe("board", *lines).rows] == [[], []]


def test_incomplete_sets_are_shown_and_their_attempts_counted(pipe):
    (row,) = pipe(
        "board", one_set(scores=[90], outcomes=["pass_mock"]), one_set(project="q", scores=[], outcomes=[])
    ).rows
    assert (row["board_score"], row["rank"], row["incomplete"]) == (None, None, ["p", "q"])
    assert (row["passes"], row["attempts"], row["wilson_95"]) == (1, 1, [0.21, 1])


def test_attempts_for_a_verdict_enter_the_pass_rate_alone(pipe):
    (row,) = pipe("board", one_set(scores=[90], outcomes=["fail", "pass_full", "timeout"])).rows
    assert (row["board_score"], row["incomplete"], row["passes"], row["attempts"]) == (None, ["p"], 1, 3)


def test_an_agent_without_any_valid_attempt_has_no_pass_rate(pipe):
    (row,) = pipe("board", one_set(scores=[], outcomes=[])).rows
    assert (row["attempts"], row["wilson_95"]) == (0, None)


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (one_set(), "project: line 1 is this agent's set on it already; write one line a set"),
        (one_set(project="q", control=True), "control: line 1 says otherwise; make the two the same"),
        (one_set("b", under_review=True), "under_review: line 1 says otherwise; make the two the same"),
        (one_set("b", edition="1.4"), "edition: line 1 says otherwise; make the two the same"),
        (one_set("b", scores=[1, 2, 3, 4]), "scores: 4 scores; a set is the first 3 valid attempts by number"),
        (one_set("b", outcomes=["fail"]), "outcomes: fewer than scores; every valid attempt has one"),
        (one_set("b", scores="90"), 'scores: Input should be a valid list, not "90"'),
        (one_set(""), 'agent: String should have at least 1 character, not ""'),
        (one_set("b", rank=1), "rank: unknown key; remove it or correct its spelling"),
        (one_set("b", under_review="no"), 'under_review: Input should be a valid boolean, not "no"'),
        (one_set("b", control=None), "control: Input should be a valid boolean"),
    ],
)
def test_one_wrong_line_is_named_and_there_is_no_board(pipe, second, said):
    outcomes = [*second["outcomes"], "fail"] if len(second["scores"]) == 4 else second["outcomes"]
    answered = pipe("board", one_set(), {**second, "outcomes": outcomes}, one_set("c", "q"))
    assert answered.problems == [f"standard input:2: {said}"]
    assert (answered.text, answered.code) == ("", 2)


def test_all_wrong_lines_are_named(pipe):
    answered = pipe("board", one_set(), "nonsense", one_set(), {"agent": "b"})
    assert sorted({problem.split(":")[1] for problem in answered.problems}) == ["2", "3", "4"]
    assert answered.text == ""


def test_the_newest_edition_and_the_same_one_by_name_go_together(pipe):
    assert pipe("board", one_set(), one_set("b", edition="1.5")).code == 0


def test_no_lines_make_no_board(pipe):
    answered = pipe("board")
    assert (answered.text, answered.code) == ("", 0)


def test_names_keep_their_own_script(pipe):
    answered = pipe("board", one_set("에이전트", "dự án", scores=[], outcomes=[]))
    assert answered.text.startswith('{"agent":"에이전트",')
    assert answered.rows[0]["incomplete"] == ["dự án"]


def test_half_a_character_is_no_name(pipe):
    answered = pipe("board", r'{"agent":"\ud800","project":"p","scores":[],"outcomes":[]}')
    assert answered.problems[0].startswith("standard input:1: agent: ")
    assert answered.code == 2


def test_a_real_process_makes_the_same_board(program, root, pipe):
    lines = [one_set(agent, project) for agent in "ab" for project in "pq"]
    code, environment = program("board")
    raw = "".join(json.dumps(line) + "\n" for line in lines).encode()
    done = subprocess.run(
        [sys.executable, "-c", code], input=raw, capture_output=True, env=environment, cwd=root, check=True, timeout=60
    )
    assert done.stdout.decode() == pipe("board", *lines).text
    assert done.stderr == b""
