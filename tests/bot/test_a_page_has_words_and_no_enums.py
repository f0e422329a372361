"""Numbers and enums in the form a reader expects."""

from __future__ import annotations

from fractions import Fraction
from typing import get_args

import pytest

from archive.reasons import Outcome, Reason, Validity
from archive.record import Claims, Guarantee, Incident, Record
from bot import words
from bot.environment import environment
from scoring.interval import wilson_95


@pytest.mark.parametrize(
    ("score", "shown"), [(Fraction(80), "80"), (Fraction(280, 3), "93.33"), (Fraction(125, 2), "62.50"), (None, "none")]
)
def test_a_score_has_two_decimals_or_none(score: Fraction | None, shown: str) -> None:
    assert words.points(score) == shown


def test_a_spread_is_in_percent_and_can_be_infinite() -> None:
    assert [words.spread(value) for value in (Fraction(30), Fraction(301, 10), "infinite", None)] == [
        "30 %",
        "30.10 %",
        "infinite",
        "none",
    ]


def test_a_rate_says_of_how_many_and_how_sure() -> None:
    assert words.rate(2, 3, wilson_95(2, 3)) == "2 of 3 (66.7 %, 95 % interval 20.8 to 93.9)"
    assert words.rate(0, 0, None) == "no valid attempt"


def test_times_are_minutes_in_a_budget_and_a_moment_in_a_recording() -> None:
    assert [words.minutes(value) for value in (0, 754_000, 5_400_000, None)] == ["0.0", "12.6", "90.0", "not started"]
    assert [words.moment(value) for value in (0, 59_999, 754_000, 3_723_000)] == [
        "0:00:00",
        "0:00:59",
        "0:12:34",
        "1:02:03",
    ]


def test_money_is_in_dollars() -> None:
    assert [words.usd(value) for value in (3_000_000, 250_000)] == ["3 USD", "0.25 USD"]


def test_every_value_of_every_enum_has_words() -> None:
    assert words.OUTCOMES.keys() == set(Outcome)
    assert words.ENDED.keys() == set(get_args(Record.model_fields["ended_by"].annotation))
    assert words.INCIDENTS.keys() == set(get_args(Incident.model_fields["kind"].annotation))
    assert words.GUARANTEES.keys() == set(get_args(Guarantee))
    for name, table in (("seen", words.SEEN), ("kind", words.KIND), ("replay", words.REPLAY)):
        assert table.keys() == set(get_args(Claims.model_fields[name].annotation))


def test_an_attempt_that_does_not_count_says_why() -> None:
    assert words.validity(Validity.INVALID, Reason.INFRA_DISK) == "invalid: the runner's disk was full"
    assert words.validity(Validity.VALID, None) == "valid"
    assert words.outcome(Outcome.FAIL, "did not start") == "fail: did not start"


@pytest.mark.parametrize(
    ("claims", "flagged"),
    [
        (None, True),
        (("yes", "decodes", "same"), False),
        (("yes", "decodes", "needs-live-process"), False),
        (("no", "decodes", "same"), True),
        (("yes", "probes", "same"), True),
        (("yes", "decodes", "differs"), True),
    ],
)
def test_a_pass_whose_claims_are_not_confirmed_is_flagged(claims: tuple[str, str, str] | None, flagged: bool) -> None:
    assert words.flagged(claims) is flagged


@pytest.mark.parametrize("value", [None, 0.1 + 0.2, True])
def test_a_template_refuses_to_show_what_has_no_words(value: object) -> None:
    with pytest.raises(TypeError, match="has words for"):
        environment().from_string("{{ value }}").render(value=value)


def test_a_template_escapes_what_is_not_known_to_be_markdown() -> None:
    assert environment().from_string("{{ value }}").render(value="<b> a_b") == "`<b>` `a_b`"
