"""Fields of a broker's answers: money, moments, names. What cannot be read is None, never a guess."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import ROUND_CEILING, Context, Decimal
from typing import Any

_MICRO = Decimal(1_000_000)
_MOST_USD = 10**9
_EXACT = Context(prec=60, rounding=ROUND_CEILING)
"""Enough digits for every whole number of micro dollars below the most."""


def micro_usd(value: Any) -> int | None:
    """Dollars (a number of JSON, read exactly) in micro dollars, rounded up; None for what is no amount."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    if not 0 <= value <= _MOST_USD:
        return None
    return int(_EXACT.multiply(Decimal(value), _MICRO).to_integral_value(ROUND_CEILING))


def usd(micro: int) -> float:
    """Micro dollars as the number that a request says: exact to the last digit when it is read again."""
    return micro / 1_000_000


def instant(value: Any) -> str | None:
    """A moment of ISO 8601 as "2026-12-01T10:00:00Z", to the second before it; one without a zone is UTC."""
    try:
        moment = datetime.fromisoformat(value)
        utc = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        return None
    return utc.strftime("%Y-%m-%dT%H:%M:%SZ") if utc.year >= 1000 else None


def seconds_of(moment: str) -> int:
    """A moment of `instant` in seconds since 1970."""
    return int(datetime.fromisoformat(moment).timestamp())


def moment_of(seconds: float) -> str:
    """Seconds since 1970 as a moment of `instant`, to the second before it."""
    return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def printed(value: Any, most: int = 512) -> str | None:
    """`value` where it is printable ASCII without a blank, as keys and their public names are."""
    return value if isinstance(value, str) and re.fullmatch(rf"[\x21-\x7e]{{1,{most}}}", value) else None
