"""`argusic-report` refuses what the harness would refuse and says what would be right (MEASUREMENT §6, §7)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive.report import ReportRefused, read_report
from runner.inside.check_report import CONTRADICTORY, FINE, MAX_BYTES, WRONG, check

PROGRAM = Path(__file__).parents[2] / "runner/inside/check_report.py"
ERROR = {"what": "no module named yaml", "fix": "installed pyyaml", "fixed": True, "at_seconds": 12}
GOOD: dict[str, Any] = {
    "schema_version": 1,
    "installed": True,
    "launched": True,
    "errors_encountered": 1,
    "errors_fixed": 1,
    "errors": [ERROR],
    "test_depth": "tier1_real",
    "verified_how": {"command": "python quickstart.py", "returned": "3"},
    "final_state": "It runs.",
    "install_seconds": None,
}


def with_(**changes: Any) -> bytes:
    return json.dumps({**GOOD, **changes}).encode()


def test_a_good_report_is_fine() -> None:
    assert check(with_()) == (FINE, ["the report is fine"])


def test_not_verified_is_an_accepted_answer() -> None:
    assert check(with_(verified_how="not verified", test_depth="tier3_none")) == (FINE, ["the report is fine"])


@pytest.mark.parametrize("name", list(GOOD))
def test_every_key_is_required(name: str) -> None:
    report = {key: value for key, value in GOOD.items() if key != name}
    assert check(json.dumps(report).encode()) == (WRONG, [f"{name}: missing; every key is required"])


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("schema_version", True, "schema_version: is true; it must be 1"),
        ("schema_version", 1.0, "schema_version: is the fraction 1.0; it must be 1"),
        ("schema_version", 2, "schema_version: is 2; it must be 1"),
        ("installed", 1, "installed: is 1; it must be true or false"),
        ("launched", "yes", 'launched: is the text "yes"; it must be true or false'),
        ("errors_encountered", -1, "errors_encountered: is -1; it must be a whole number, 0 to 1000000"),
        ("errors_encountered", True, "errors_encountered: is true; it must be a whole number, 0 to 1000000"),
        ("errors_fixed", 1.0, "errors_fixed: is the fraction 1.0; it must be a whole number, 0 to 1000000"),
        ("install_seconds", "9", 'install_seconds: is the text "9"; it must be a whole number, 0 to 1000000, or null'),
        ("errors", {}, "errors: is an object; it must be a list, [] when no error was met"),
        ("errors", [ERROR] * 201, "errors: has 201 entries; at most 200 are taken"),
        ("errors", ["x"], 'errors[0]: is the text "x"; it must be an object with what, fix, fixed, at_seconds'),
        ("errors", [{**ERROR, "fixed": 1}], "errors[0].fixed: is 1; it must be true or false"),
        ("errors", [{**ERROR, "what": "x" * 501}], "errors[0].what: has 501 characters; at most 500 are taken"),
        (
            "test_depth",
            "tier1",
            'test_depth: is the text "tier1"; it must be "tier1_real" or "tier2_mock" or "tier3_none"',
        ),
        ("verified_how", {"command": "x"}, "verified_how.returned: missing; every key is required"),
        ("verified_how", {"command": "", "returned": ""}, "verified_how.command: is empty; write what was run"),
        ("final_state", None, "final_state: is null; it must be a text of at most 2000 characters"),
    ],
)
def test_a_wrong_field_is_named_with_what_would_be_right(name: str, value: Any, line: str) -> None:
    assert check(with_(**{name: value})) == (WRONG, [line])


def test_an_unknown_key_is_refused_and_shown_without_its_control_characters() -> None:
    assert check(with_(**{"\x1b[31mnote": 1})) == (WRONG, ['"\\u001b[31mnote": unknown key; take it out'])


def test_more_fixes_than_errors_is_a_contradiction() -> None:
    assert check(with_(errors_fixed=2)).code == CONTRADICTORY


def test_odd_but_allowed_things_are_noted_and_change_nothing() -> None:
    code, lines = check(with_(launched=False, errors=[]))
    assert code == FINE
    assert lines[0] == "the report is fine"
    assert len([line for line in lines if line.startswith("note: ")]) == 3


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (b"", "not JSON"),
        (b"[]", "a list"),
        (b"null", "null"),
        (b"\xff\xfe{}", "UTF-8"),
        (b'\xef\xbb\xbf{"a": 1}', "not JSON"),
        (b'{"a": 1, "a": 2}', "twice"),
        (b'{"a": {"b": 1, "b": 2}}', "twice"),
        (b'{"a": NaN}', "NaN"),
        (b'{"a": -Infinity}', "-Infinity"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "too many digits"),
        (b'{"a": "\\ud800"}', "surrogate"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 50_000 + b"1", "nested too deeply"),
        (b" " * (MAX_BYTES + 1), "larger than"),
        (b'{"a": 1', "not JSON"),
    ],
)
def test_what_is_not_one_json_object_is_refused_in_one_line(raw: bytes, word: str) -> None:
    code, lines = check(raw)
    assert (code, len(lines)) == (WRONG, 1)
    assert word in lines[0]


def test_a_thousand_mistakes_are_not_a_thousand_lines() -> None:
    code, lines = check(with_(**{f"key{n}": n for n in range(1000)}))
    assert (code, lines[-1], len(lines)) == (WRONG, "… and 960 more", 41)


VALUES = st.sampled_from([
    None, True, False, -2, -1, 0, 1, 2, 3, 0.5, 1e309, 10**6, 10**6 + 1, 10**20, [], {}, [ERROR],
    "not verified", "tier1_real", "tier2_mock", "tier3_none", "", "x" * 501, "x" * 2001, "\ud800", "\0",
    {"command": "a", "returned": "b"}, [{**ERROR, "at_seconds": 1.5}],
])  # fmt: skip


@given(
    st.dictionaries(st.sampled_from([*GOOD, "other"]), VALUES, max_size=3),
    st.sets(st.sampled_from(list(GOOD)), max_size=1),
)
def test_the_command_and_the_harness_agree_on_every_report(changes: dict[str, Any], left_out: set[str]) -> None:
    report = {key: value for key, value in {**GOOD, **changes}.items() if key not in left_out}
    raw = json.dumps(report).encode()
    try:
        harness = CONTRADICTORY if read_report(raw).contradictory else FINE
    except ReportRefused:
        harness = WRONG
    assert check(raw).code == harness


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", str(PROGRAM), *arguments], capture_output=True, text=True, timeout=20, check=False
    )


def test_the_program_answers_by_exit_code_and_lines(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(with_())
    assert (run(str(file)).returncode, run(str(file)).stdout) == (FINE, "the report is fine\n")
    file.write_bytes(with_(errors_fixed=2))
    assert run(str(file)).returncode == CONTRADICTORY


def test_a_missing_file_a_folder_a_pipe_and_a_device_are_answered_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "none", tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        answer = run(str(path))
        assert (answer.returncode, answer.stdout.count("\n"), answer.stderr) == (WRONG, 1, "")
        assert answer.stdout.startswith("report: cannot read ")
