import json
import select
import subprocess
import sys

import pytest

ASKED = {
    "installed": True,
    "launched": True,
    "errors_encountered": 3,
    "errors_fixed": 2,
    "test_depth": "tier1_real",
    "timed_out": False,
    "edition": "1.5",
}
INVALID = {
    "lines": None,
    "score": None,
    "exact": None,
    "outcome": None,
    "validity": "invalid",
    "reason": "agent:report-contradictory",
}


def zero(outcome):
    lines = {"installed": 0, "launched": 0, "recovery": 0, "depth": 0}
    return {"lines": lines, "score": 0, "exact": "0", "outcome": outcome}


def test_the_example_of_the_specification_to_the_byte(pipe):
    answered = pipe("attempt", ASKED)
    assert answered.text == (
        '{"lines":{"installed":30,"launched":30,"recovery":13.33,"depth":20},'
        '"score":93.33,"exact":"280/3","outcome":"pass_full"}\n'
    )
    assert (answered.problems, answered.code) == ([], 0)


def test_a_line_in_is_a_line_out_in_the_same_order(pipe):
    depths = ["tier3_none", "tier1_real", "tier2_mock"]
    answered = pipe("attempt", *[{**ASKED, "errors_fixed": 3, "test_depth": depth} for depth in depths])
    assert [(row["score"], row["outcome"]) for row in answered.rows] == [
        (80, "fail"),
        (100, "pass_full"),
        (92, "pass_mock"),
    ]


def test_no_lines_in_are_no_lines_out(pipe):
    answered = pipe("attempt")
    assert (answered.text, answered.problems, answered.code) == ("", [], 0)


def test_started_without_installed_gives_neither_the_start_nor_the_depth(pipe):
    (row,) = pipe("attempt", {**ASKED, "installed": False}).rows
    assert row["lines"] == {"installed": 0, "launched": 0, "recovery": 13.33, "depth": 0}
    assert (row["exact"], row["outcome"]) == ("40/3", "fail")


def test_a_time_out_is_zero_on_every_line(pipe):
    assert pipe("attempt", {**ASKED, "timed_out": True}).rows == [zero("timeout")]


def test_no_readable_report_is_a_fail_of_zero_and_a_time_out_stays_one(pipe):
    none = [{"report": None, "timed_out": timed_out, "edition": "1.5"} for timed_out in (False, True)]
    assert pipe("attempt", *none).rows == [zero("fail"), zero("timeout")]


def test_more_fixes_than_errors_is_an_invalid_attempt_and_no_wrong_line(pipe):
    answered = pipe("attempt", {**ASKED, "errors_fixed": 4})
    assert (answered.rows, answered.problems, answered.code) == ([INVALID], [], 0)


def test_validity_comes_before_the_outcome_so_a_contradiction_wins_over_a_time_out(pipe):
    assert pipe("attempt", {**ASKED, "errors_fixed": 4, "timed_out": True}).rows == [INVALID]


def test_good_lines_are_answered_beside_wrong_ones(pipe):
    answered = pipe("attempt", ASKED, "{", {**ASKED, "errors_fixed": -1}, "", ASKED)
    assert [row["exact"] for row in answered.rows] == ["280/3", "280/3"]
    assert [problem.split(":")[1] for problem in answered.problems] == ["2", "3", "4"]
    assert answered.problems[1] == (
        "standard input:3: errors_fixed: Input should be greater than or equal to 0, not -1"
    )
    assert answered.code == 2


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("installed", 1),
        ("installed", "true"),
        ("installed", None),
        ("launched", 0),
        ("errors_encountered", True),
        ("errors_encountered", "3"),
        ("errors_encountered", 3.0),
        ("errors_encountered", 1_000_001),
        ("errors_fixed", 0.5),
        ("test_depth", "real"),
        ("test_depth", None),
        ("timed_out", "no"),
        ("edition", 1.5),
        ("edition", None),
        ("edition", "1.50"),
        ("report", {}),
        ("extra", 1),
    ],
)
def test_a_wrong_value_is_named_by_line_and_field(pipe, field, value):
    answered = pipe("attempt", ASKED, {**ASKED, field: value})
    assert answered.problems
    assert any(problem.startswith(f"standard input:2: {field}: ") for problem in answered.problems)
    assert (len(answered.rows), answered.code) == (1, 2)


@pytest.mark.parametrize("field", sorted(ASKED))
def test_every_field_is_required(pipe, field):
    answered = pipe("attempt", {key: value for key, value in ASKED.items() if key != field})
    assert answered.problems[0].startswith(f"standard input:1: {field}: missing")
    assert answered.code == 2


def test_an_unknown_edition_is_answered_with_those_there_are(pipe):
    answered = pipe("attempt", {**ASKED, "edition": "2.0"})
    assert answered.problems == [
        "standard input:1: edition: no such edition; one of 0.2, 0.3, 0.4, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5"
    ]


def test_a_real_process_answers_each_line_as_it_comes(program, root):
    code, environment = program("attempt")
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, cwd=root) as process:
        for fixed, score in ((2, 93.33), (3, 100)):
            process.stdin.write(json.dumps({**ASKED, "errors_fixed": fixed}).encode() + b"\n")
            process.stdin.flush()
            assert select.select([process.stdout], [], [], 30)[0], "no answer before the next line"
            assert json.loads(process.stdout.readline())["score"] == score
        process.stdin.write(b"{}")
        process.stdin.close()
        assert process.stdout.read() == b""
        assert process.wait(timeout=60) == 2


@pytest.mark.parametrize(("first", "code"), [(b"", 0), (b"{}\n", 2)])
def test_a_reader_that_leaves_is_no_traceback_and_hides_no_wrong_line(program, root, first, code):
    text, environment = program("attempt")
    many = (json.dumps(ASKED) + "\n").encode() * 400_000
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", text], env=environment, cwd=root, **pipes) as process:
        process.stdout.close()
        with pytest.raises(BrokenPipeError):
            process.stdin.write(first + many)
        said = process.stderr.read().decode()
        assert process.wait(timeout=60) == code
    assert all(line.startswith("standard input:1: ") for line in said.splitlines())
    assert bool(said) == bool(first)
