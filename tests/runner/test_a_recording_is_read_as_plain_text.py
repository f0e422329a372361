"""evidence text: what a person would have read, line by line, and nothing that a terminal obeys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive.errors import DataError
from runner.transcript import LONGEST, lines


def text(folder: Path, *events: str) -> list[str]:
    header = {"version": 2, "width": 120, "height": 40, "timestamp": 1}
    rows = [header, *([number * 0.1, "o", event] for number, event in enumerate(events))]
    (folder / "recording.cast").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return list(lines(folder / "recording.cast"))


@pytest.mark.parametrize(
    ("events", "shown"),
    [
        (["one\r\ntwo\r\n"], ["one", "two"]),
        (["a line ", "in ", "pieces\r\n"], ["a line in pieces"]),
        (["\x1b[1;31mred\x1b[0m\r\n"], ["red"]),
        (["\x1b[3", "1mred\r\n"], ["red"]),
        (["10 %\r50 %\r100 %\r\n"], ["100 %"]),
        (["downloading\r\x1b[Kdone\r\n"], ["done"]),
        (["longer\rab\r\n"], ["abnger"]),
        (["gone\x1b[2K\rback\r\n"], ["back"]),
        (["abc\b\bX\r\n"], ["aXc"]),
        (["\b\bab\r\n"], ["ab"]),
        (["\x1b]0;a title\x07shown\r\n"], ["shown"]),
        (["\x1b]52;c;aGVsbG8=\x07copied\r\n"], ["copied"]),
        (["gr\u00fc\u00dfe \uc644\ub8cc\tend\r\n"], ["gr\u00fc\u00dfe \uc644\ub8cc\tend"]),
        (["to the \u202eright\u202c\r\n"], ["to the right"]),
        (["no end"], ["no end"]),
        ([], []),
        (["\r\n\r\n"], ["", ""]),
    ],
)
def test_a_line_is_what_stood_in_it_at_its_end(tmp_path, events, shown):
    assert text(tmp_path, *events) == shown


def test_a_line_without_end_is_cut_into_long_ones(tmp_path):
    found = text(tmp_path, *["x" * 1000] * 100)
    assert "".join(found) == "x" * 100_000
    assert max(map(len, found)) <= LONGEST + 1000


def test_what_is_no_recording_is_one_message(tmp_path):
    (tmp_path / "bad").write_text("{}\n")
    with pytest.raises(DataError, match="no asciicast v2"):
        list(lines(tmp_path / "bad"))


@given(events=st.lists(st.text(alphabet="\x1b[]0;27KmHA\r\n\b\x07\x9b\x85ab", max_size=30), max_size=5))
def test_nothing_that_steers_a_terminal_comes_out(events, tmp_path_factory):
    for line in text(tmp_path_factory.mktemp("text"), *events):
        assert all(character.isprintable() or character == "\t" for character in line)
