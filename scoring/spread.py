"""Middle and spread of a set, and when it is unstable (MEASUREMENT §8)."""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from typing import Literal

from archive.edition import Edition

Spread = Fraction | Literal["infinite"]


def middle(scores: Collection[Fraction]) -> Fraction:
    """The middle score; of an even number, the mean of the two in the middle. Raises ValueError for none at all."""
    if not scores:
        raise ValueError("no scores have no middle")
    ordered = sorted(scores)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def spread(scores: Collection[Fraction]) -> Spread:
    """(highest − lowest) / middle × 100, in percent. All 0 is 0; a middle of 0 under any higher score is infinite."""
    ordered = sorted(scores)
    centre = middle(ordered)
    lowest, highest = ordered[0], ordered[-1]
    if not highest:
        return Fraction(0)
    return (highest - lowest) / centre * 100 if centre else "infinite"


def unstable(value: Spread, edition: Edition) -> bool:
    """Strictly above the edition's threshold: exactly 30 stays on the board."""
    return value == "infinite" or value > edition.board.spread_percent
