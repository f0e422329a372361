"""What holds for any input: masking again changes nothing, nothing else changes, and both engines agree."""

from __future__ import annotations

import base64
import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from archive.edits import apply_to_bytes
from runner.masking import Known, NotProven, credentials, keys
from runner.masking.screen import Screen
from tests.masking.escape_table import SECRETS

WORDS = some.sampled_from(
    [b"make ", b"\r\n", b"\x1b[31m", b"\x1b[0m", b"\x1b[2K", b"\r", b"\x08", b"\x1b[4;7H", b"ok", b" ", b"\t", b"=",
     "│".encode(), "é".encode(), b"\x1b]0;t\x07", b"\xff", b"...", b"%20", b"\\n", b"&amp;", b"deadbeef" * 8]
)  # fmt: skip
SHAPES = sorted(SECRETS)
PARTS = [part.encode() for value in SECRETS.values() for part in (value, value[9:31])]


@some.composite
def dressed(draw, value):
    """A secret cut, coloured, wrapped, cased, reversed and encoded at random, so that it can still be read."""
    text = value
    for _ in range(draw(some.integers(0, 2))):
        how = draw(some.sampled_from(["base64", "hex", "upper", "reversed", "percent", "json", "url"]))
        if how == "base64":
            lead = draw(some.sampled_from(["", "a", "KEY=", "xy"]))
            text = base64.b64encode((lead + text).encode()).decode()
        elif how == "hex":
            text = text.encode().hex()
        elif how == "percent":
            text = "".join(f"%{ord(c):02x}" for c in text)
        elif how == "json":
            text = "".join(f"\\u{ord(c):04x}" for c in text)
        elif how == "url":
            text = "https://h/?k=" + text
        elif text == value:
            text = text.upper() if how == "upper" else text[::-1]
    between = draw(some.sampled_from(["", "\x1b[1m", "\r\n", "\r\n  ", " ", "\x1b[0m\x1b[32m", "\u200b", " │\r\n│ "]))
    size = draw(some.integers(1, 30))
    return between.join(text[at : at + size] for at in range(0, len(text), size)).encode()


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(some.data())
def test_nothing_readable_survives_and_all_else_stays(data):
    shape = data.draw(some.sampled_from(SHAPES))
    value = SECRETS[shape]
    before = b"".join(data.draw(some.lists(some.sampled_from([b"make ", b"ok\r\n", b"\x1b[31m", b"x: "]), max_size=6)))
    middle = data.draw(dressed(value))
    whole = before + b"\r\n" + middle + b"\r\n$ end of it\r\n"
    edits = credentials(whole, Known([value]))
    masked = apply_to_bytes(whole, edits)
    assert credentials(masked, Known([value])) == ()
    assert masked.startswith(before)
    assert masked.endswith(b"$ end of it\r\n")
    left = re.sub(rb"\x1b\[[0-9;]*m|[^A-Za-z0-9]", b"", masked[len(before) : -len(b"$ end of it\r\n")])
    # Of an encoded secret what stands before it in the same encoding may be left: "KEY=", a link.
    assert len(left) <= 0.45 * len(middle), (middle, masked)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(some.lists(some.one_of(WORDS, some.sampled_from(PARTS)), max_size=25))
def test_masking_comes_to_rest_and_both_engines_agree(words):
    data = b"".join(words)
    fast, pure = (Known(SECRETS.values(), engine) for engine in ("hyperscan", "ahocorasick"))
    try:
        edits = credentials(data, fast)
    except NotProven:
        with pytest.raises(NotProven):
            credentials(data, pure)
        return
    assert credentials(data, pure) == edits
    masked = apply_to_bytes(data, edits)
    assert credentials(masked, fast) == ()
    ends = [0, *[at for edit in edits for at in (edit.offset, edit.offset + edit.length)], len(data)]
    kept = [slice(a, b) for a, b in zip(ends[::2], ends[1::2], strict=True)]
    assert [masked[part] for part in kept] == [data[part] for part in kept]


@pytest.mark.parametrize("value", ["short", "aaaaaaaaaaaa", "ababababababab"])
def test_a_value_that_cannot_be_masked_safely_is_refused(value):
    with pytest.raises(ValueError, match="safely"):
        Known([value])


def test_of_a_value_of_several_lines_each_line_is_masked():
    known = Known(["first-line-0123\n{\nsecond-line-4567\n"])
    data = b"{ x } second-line-4567 and first-line-0123\n"
    assert apply_to_bytes(data, credentials(data, known)) == b"{ x } " + b"*" * 16 + b" and " + b"*" * 15 + b"\n"


def test_a_token_of_a_known_vendor_is_masked_though_nobody_knows_its_value():
    token = "ghp_" + "R4nD0mZ9yX8wV7uT6sS5rQ4pO3nM2lK1jI0h"
    data = f"remote https://{token}@host/x\r\n".encode()
    edits = credentials(data, Known([]))
    assert [edit.kind for edit in edits] == ["token"]
    assert apply_to_bytes(data, edits) == b"remote https://" + b"*" * 40 + b"@host/x\r\n"


def test_a_screen_shows_what_a_terminal_shows():
    screen = Screen(20, 5)
    data = b"one\r\ntwo\x1b[1;2HXY\x1b[2;1Htw\x08\x08o"
    screen.feed(data, 0, len(data))
    shown = bytes(screen.shown.cells)
    assert b"oXY" in shown
    assert b"owo" in shown


def test_attempts_that_end_together_are_masked_like_any_other():
    data = b"$ env\r\nKEY=" + SECRETS["64 hex"].encode() + b"\r\n" * 2000
    known = Known([SECRETS["64 hex"]])
    alone = credentials(data, Known([SECRETS["64 hex"]]))
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: credentials(data, known), range(40))) == [alone] * 40


def test_nothing_is_found_in_nothing():
    assert credentials(b"", Known([SECRETS["64 hex"]])) == ()
    assert keys(b"") == ()


def test_a_picture_on_the_terminal_is_covered_where_there_is_a_value_to_hide():
    data = b"before \x1bPq#0;2;0;0;0~~\x1b\\ after \x1b]1337;File=inline=1:iVBORw0KGgo=\x07"
    found = credentials(data, Known([SECRETS["64 hex"]]))
    assert [edit.kind for edit in found] == ["picture", "picture"]
    left = apply_to_bytes(data, found)
    assert left == b"before \x1bPq" + b"*" * 12 + b"\x1b\\ after \x1b]1337;File=" + b"*" * 21 + b"\x07"
    assert credentials(left, Known([SECRETS["64 hex"]])) == ()
    assert credentials(data, Known([])) == ()
