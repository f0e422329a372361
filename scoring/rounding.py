"""How an exact number is written and read back: rounding happens here, at the very end, and nowhere else."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

MAX_DIGITS = 40
"""Digits in a written number; far more than any score has, few enough to compute with."""
_EXACT = re.compile(rf"(0|[1-9][0-9]{{0,{MAX_DIGITS - 1}}})(?:/([1-9][0-9]{{0,{MAX_DIGITS - 1}}}))?")


def two(value: Fraction) -> int | float:
    """`value` rounded half up to two decimals, an int where whole. For printing only: never compute with it."""
    hundredths = (200 * value.numerator + value.denominator) // (2 * value.denominator)
    return hundredths // 100 if hundredths % 100 == 0 else hundredths / 100


def exact(value: Fraction) -> str:
    """`value` without loss, in lowest terms: "280/3", or "80" where whole. `read_exact` is its inverse."""
    return str(value)


def read_exact(written: object) -> Fraction:
    """The number that a decoded JSON value stands for: an int, a Decimal (read digit by digit) or "280/3".

    Raises ValueError for anything else: true and false, a binary float, "1/0", more than `MAX_DIGITS` digits.
    """
    if isinstance(written, int) and not isinstance(written, bool):
        return Fraction(written)
    if isinstance(written, Decimal) and written.is_finite():
        _, digits, exponent = written.as_tuple()
        if len(digits) <= MAX_DIGITS and isinstance(exponent, int) and abs(exponent) <= MAX_DIGITS:
            return Fraction(written)
        raise ValueError(f"a number of more than {MAX_DIGITS} digits is not read")
    match = _EXACT.fullmatch(written) if isinstance(written, str) else None
    if match is None:
        raise ValueError('write a number such as 93.33, or an exact one as text such as "280/3"')
    return Fraction(int(match[1]), int(match[2] or 1))
