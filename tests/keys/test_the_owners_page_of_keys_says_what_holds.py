"""docs/owner/keys.md: its variables, numbers and exit statuses are those of the program."""

from __future__ import annotations

from pathlib import Path

from archive import pools
from archive.errors import ArgusicError, Unfinished
from runner.keys import ADDRESS_VARIABLES, ADDRESSES, KEY_VARIABLES, PREFIX
from runner.keys.ending import PAUSES, SETTLE_SECONDS, SETTLED_POLLS
from runner.keys.lease import MOST_LATER_SECONDS
from runner.keys.sweep import EXPIRED_SECONDS
from tests.support.markdown import tables

CHECKOUT = Path(__file__).resolve().parents[2]
PAGE = (CHECKOUT / "docs/owner/keys.md").read_text()


def table(first: str) -> list[list[str]]:
    return next(one for one in tables(PAGE) if one[0][0] == first)[1:]


def test_the_variables_are_those_that_are_read() -> None:
    shown = {row[0].strip("`"): row[2] for row in table("variable")}
    assert set(shown) == {*KEY_VARIABLES.values(), *ADDRESS_VARIABLES.values()}
    assert ADDRESSES["openrouter"] in shown[ADDRESS_VARIABLES["openrouter"]]


def test_the_exit_statuses_are_those_of_the_errors() -> None:
    assert [row[0] for row in table("exit status")] == ["0", str(ArgusicError.exit_code), str(Unfinished.exit_code)]


def test_the_numbers_in_words_are_those_of_the_program() -> None:
    assert SETTLED_POLLS == 3
    assert "the same three times in a row, for half a minute" in PAGE
    assert SETTLE_SECONDS == 30
    assert 60 <= sum(PAUSES) <= 70
    assert "For about a minute" in PAGE
    assert MOST_LATER_SECONDS == 24 * 3600
    assert "more than a day late" in PAGE
    assert EXPIRED_SECONDS == 3600
    assert "ended\nan hour ago" in PAGE
    assert f"begin with `{PREFIX}`" in PAGE


def test_the_cap_is_that_of_the_newest_edition() -> None:
    newest = list(pools.editions(CHECKOUT).values())[-1]
    assert newest.key_cap_micro_usd == 3_000_000
    assert "With the edition's\n3 USD" in PAGE
