"""The one display transform of quoted text: dashes, never words, never commands (MEASUREMENT §10)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.escape import clean
from bot.quote import final_state, punctuated, shortened

DASHES = "\u2012\u2013\u2014\u2015"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("It ran \u2014 all 12 tests passed.", "It ran, all 12 tests passed."),
        ("It ran \u2013 The server answered.", "It ran. The server answered."),
        ("one\u2014two", "one, two"),
        ("it ran - slowly", "it ran, slowly"),
        ("it ran -- slowly", "it ran, slowly"),
        ("a - b - c", "a, b, c"),
        ("a -- b - c -- d", "a, b, c, d"),
        ("it ran \u2014", "it ran."),
        ("\u2014 it ran", "it ran"),
        ("Done:\n- installed\n- started", "Done: installed, started"),
        ("`code` \u2014 then `more`", "`code`, then `more`"),
    ],
)
def test_a_dash_of_the_author_is_a_comma_or_a_full_stop(written: str, shown: str) -> None:
    assert punctuated(written) == shown


@pytest.mark.parametrize(
    "written",
    [
        "a well-known tool",
        "pages 3\u20135",
        "5 - 3 is 2",
        "ran ffmpeg -v error -i FILE -f null - and it exited 0",
        "npm run build -- --watch",
        "make - -x",
        "cat -n - - done",
        "`npm test -- all` passed",
        "A -> B",
    ],
)
def test_hyphens_ranges_and_commands_stay(written: str) -> None:
    assert punctuated(written) == written


@given(st.text(alphabet=f"ab1 -{DASHES}`.,:\n(", max_size=60))
def test_words_and_their_order_never_change(written: str) -> None:
    assert re.findall(r"\w+", punctuated(written)) == re.findall(r"\w+", clean(written))


@given(st.text(alphabet=f"ab {DASHES}.", max_size=40))
def test_no_long_dash_is_left_in_a_sentence(written: str) -> None:
    assert not re.search(f"[{DASHES}]", punctuated(written))


def test_a_closing_sentence_is_escaped_after_its_dashes() -> None:
    assert final_state("It ran \u2014 see <b>") == "It ran, see `<b>`"


def test_a_command_between_backticks_stays_one_code_span_with_its_dashes() -> None:
    assert final_state("`npm test -- --all | tee log` passed - twice") == (
        "`npm test -- --all`\\|`tee log` passed, twice"
    )
    assert final_state("see `a b`, (`c d`). End") == "see `a b`, (`c d`). End"


def test_a_long_quote_ends_with_an_ellipsis_and_a_short_one_is_whole() -> None:
    assert shortened("one\n two", 7) == "one two"
    assert shortened("one two three", 8) == "one two \u2026"
