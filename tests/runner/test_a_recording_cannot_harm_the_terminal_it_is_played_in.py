"""Named after terminal escape injection: OSC 52, titles, links, answer-back."""

from __future__ import annotations

import json
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive.errors import DataError
from runner.player import harmless, play

SAFE = re.compile(r"(?:[^\x00-\x1f\x7f-\x9f]|[\n\r\t\b]|\x1b\[[0-9;]*[ABCDEFGHJKLMPSTXdfm@])*")
CONTROLS = "".join(map(chr, range(0x80, 0xA0)))
"""As one-byte controls these steer no terminal that speaks UTF-8; what follows them shows as text."""


@pytest.mark.parametrize(
    "bad",
    [
        "\x1b]52;c;cm0gLXJmIH4=\x07",
        "\x1b]0;title\x1b\\",
        "\x1b]8;;https://example.org\x07",
        "\x1bP$q\x1b\\",
        "\x1b_payload\x1b\\",
        "\x1b[6n",
        "\x1b[c",
        "\x1b[>0q",
        "\x1b[?1049h",
        "\x1b[?2004h",
        "\x1bc",
        "\x05",
        "\x9d52;c;x\x9c",
        "\x1b]52;c;never closed",
        "\x1b[8;1;1t",
        "\x1b[5i",
        "\x1b[4h",
        "\x1b[?2026$p",
        "\x1b[>4;2m",
        "\x1b[!p",
        "\x9b?1049h",
        "\x1b[1;5r",
        "\x0e",
        "\x1b(0",
        "\x00",
    ],
)
def test_a_sequence_that_reaches_beyond_the_screen_is_left_out(bad):
    shown = harmless(f"a{bad}" if "never closed" in bad else f"a{bad}b")
    assert shown in ("ab", "a", f"a{bad.strip(CONTROLS)}b")
    assert SAFE.fullmatch(shown)


@pytest.mark.parametrize("good", ["\x1b[31mred\x1b[0m", "50%\r51%", "\x1b[2K", "\x1b[3A", "\x1b[10;2H", "漢字 🚀\r\n"])
def test_colours_and_movement_stay(good):
    assert harmless(good) == good


def test_playing_keeps_time_up_to_the_longest_pause(tmp_path):
    lines = [{"version": 2, "width": 80, "height": 24}, [0.5, "o", "a"], [0.6, "i", "typed"], [10.5, "o", "b"]]
    path = tmp_path / "x.cast"
    path.write_text("\n".join(map(json.dumps, lines)))
    slept, shown = [], []
    play(path, shown.append, speed=2, idle=3, sleep=slept.append)
    assert slept == [0.25, 1.5]
    assert "".join(shown) == "ab\x1b[0m\n"


@pytest.mark.parametrize(
    "text", ["", "[]\n", '{"version": 3}\n', '{"version": 2}\nnonsense\n', '{"version": 2}\n[1]\n']
)
def test_what_is_no_recording_is_named_by_its_line(tmp_path, text):
    path = tmp_path / "x.cast"
    path.write_text(text)
    if not text:
        play(path, lambda _: None, speed=1, idle=1)
        return
    with pytest.raises(DataError, match=r"x\.cast:[12]: no asciicast v2"):
        play(path, lambda _: None, speed=1, idle=1)


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_sequence_cut_by_two_events_is_left_out_too(tmp_path, cut):
    bad = "\x1b]52;c;eHl6\x07"
    path = tmp_path / "x.cast"
    lines = [{"version": 2}, [0, "o", "a" + bad[:cut]], [0, "o", bad[cut:] + "b"]]
    path.write_text("\n".join(map(json.dumps, lines)))
    shown: list[str] = []
    play(path, shown.append, speed=1, idle=0)
    assert "\x1b]" not in "".join(shown)


@pytest.mark.parametrize(
    "trick", ["\x1b\x1bc]52;c;eHl6\x07", "\x1b[\x056n", "\x1b\x1b[31m[6n", "\x1b]\x1b]0;x\x07\x07"]
)
def test_what_is_left_out_never_joins_its_neighbours_to_a_new_sequence(trick):
    assert SAFE.fullmatch(harmless(trick))
    assert "\x1b]" not in harmless(trick)
    assert "\x1b[6n" not in harmless(trick)


@given(st.text(st.sampled_from("\x1b[]0;?6nmPc\x07\x9b\x9d\\ab\x00\n"), max_size=40))
def test_whatever_comes_only_drawing_reaches_the_terminal(text):
    shown = harmless(text)
    assert SAFE.fullmatch(shown)
    assert harmless(shown) == shown


def test_a_long_unfinished_sequence_takes_no_time(tmp_path):
    text = "\x1b[" + "1;" * 1_500_000
    began = time.process_time()
    harmless(text)
    assert time.process_time() - began < 5
