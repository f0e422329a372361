"""Verification is decoding (MEASUREMENT §6): what a step printed, read as text, against what the README says."""

from __future__ import annotations

import time

import pytest

from runner.inside.control_readme.commands import Step
from runner.inside.control_readme.expected import from_comment, shown
from runner.inside.control_readme.session import TIMED_OUT, Result
from runner.inside.control_readme.verify import check


def printed(text: bytes, code: int = 0) -> Result:
    return Result("run", code, text, "", complained=False)


@pytest.mark.parametrize(
    ("comment", "result"),
    [
        (" => 3", "3"),
        (" -> anything at all", "anything at all"),
        (" Output: x", "x"),
        (" 'a text'", "'a text'"),
        (" [1, 2]", "[1, 2]"),
        (" -1_000.5", "-1_000.5"),
        (" true", "true"),
        (" the number of items", None),
        (" returns the number", None),
        (" 1. do this", None),
        ("", None),
    ],
)
def test_a_comment_states_a_result_or_is_prose(comment: str, result: str | None) -> None:
    assert from_comment(comment) == result


@pytest.mark.parametrize(
    ("output", "results", "count"),
    [
        ("1\n2\n", ("1", "2"), 2),
        ("2\n1\n", ("1", "2"), 1),  # in order
        ("12\n", ("1",), 0),  # whole lines
        ("21\n", ("1",), 0),
        ("a warning\n1\n", ("1",), 1),
        ("hello\n", ("'hello'",), 1),
        ('{"a": 1}\n', ("{'a':1}",), 1),
        ("[\n  1,\n  2\n]\n", ("[1, 2]",), 1),
        ("<a at 0x7f>\n", ("<a at ...>",), 1),
        ("abc\nxyz\n", ("a...z",), 1),
        ("abc\nxyz\n", ("a...q",), 0),
        ("", ("1",), 0),
    ],
)
def test_results_are_looked_for_as_whole_lines_in_order(output: str, results: tuple[str, ...], count: int) -> None:
    assert shown(output, results) == count


def test_comparing_hostile_texts_ends_soon() -> None:
    began = time.monotonic()
    shown("a" * 65_536, ("a...b..." * 2_000,) * 5 + ("...",) * 50)
    assert time.monotonic() - began < 5


def test_all_stated_results_printed_is_verified() -> None:
    answer = check(Step("run", results=("1", "2")), printed(b"1\n2\n"))
    assert (answer.verified, answer.seen) == (True, "printed 2 of the 2 results that the README states")


def test_one_stated_result_missing_is_not_verified() -> None:
    answer = check(Step("run", results=("1", "2")), printed(b"1\n3\n"))
    assert (answer.verified, answer.seen) == (False, "printed 1 of the 2 results that the README states")


def test_text_is_verified_where_the_readme_states_none() -> None:
    assert check(Step("run"), printed("xin chào\n".encode())).verified


@pytest.mark.parametrize(
    "output", [b"", b" \n\t\n", b"<x.Y object at 0x7f00>\n", b"undefined\n", b"Promise { <pending> }\n", b"\xff\xfe\n"]
)
def test_nothing_that_decodes_is_not_verified(output: bytes) -> None:
    assert not check(Step("run"), printed(output)).verified


def test_help_and_version_start_a_program_and_verify_nothing() -> None:
    assert not check(Step("run --help", asks_only=True), printed(b"usage: run\n")).verified


@pytest.mark.parametrize(("code", "seen"), [(1, "ended with exit code 1"), (TIMED_OUT, "did not end in time")])
def test_a_failed_command_verifies_nothing_whatever_it_printed(code: int, seen: str) -> None:
    answer = check(Step("run", results=("1",)), printed(b"1\n", code))
    assert (answer.verified, answer.seen) == (False, seen)
