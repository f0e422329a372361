"""Named after terminal escape injection: OSC 52, titles, links, answer-back."""

from __future__ import annotations

import json

import pytest

from archive.errors import DataError
from runner.player import harmless, play


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
    ],
)
def test_a_sequence_that_reaches_beyond_the_screen_is_left_out(bad):
    assert harmless(f"a{bad}" if "never closed" in bad else f"a{bad}b") in ("ab", "a")


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
