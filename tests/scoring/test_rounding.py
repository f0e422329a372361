from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.rounding import exact, read_exact, two

exact_numbers = st.fractions(min_value=0, max_value=100, max_denominator=10**12)


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        (Fraction(280, 3), "93.33"),
        (Fraction(1, 200), "0.01"),
        (Fraction(1, 8), "0.13"),
        (Fraction("1.005"), "1.01"),
        (Fraction("1.0049999"), "1"),
        (Fraction("99.995"), "100"),
        (Fraction(80), "80"),
        (Fraction("0.1"), "0.1"),
        (Fraction(0), "0"),
    ],
)
def test_halves_are_rounded_up_to_two_decimals(value, printed):
    assert str(two(value)) == printed


def test_a_binary_float_would_have_rounded_this_half_down():
    assert round(1.005, 2) == 1.0
    assert two(read_exact(Decimal("1.005"))) == 1.01


@given(exact_numbers)
def test_rounding_moves_a_number_by_at_most_half_a_hundredth_and_never_down_from_a_half(value):
    moved = Fraction(str(two(value))) - value
    assert Fraction(-1, 200) < moved <= Fraction(1, 200)


@given(exact_numbers)
def test_what_is_written_exactly_is_read_back_the_same(value):
    assert read_exact(exact(value)) == value


def test_whole_numbers_are_written_without_a_denominator():
    assert exact(Fraction(80)) == "80"
    assert exact(Fraction(560, 6)) == "280/3"


@given(st.integers(0, 100), st.integers(0, 10**12 - 1))
def test_a_decimal_is_read_digit_by_digit(whole, behind):
    written = f"{whole}.{behind:012d}"
    assert read_exact(Decimal(written)) == whole + Fraction(behind, 10**12)


def test_the_decimal_9333_hundredths_is_no_binary_float():
    assert read_exact(Decimal("93.33")) == Fraction(9333, 100)
    assert Fraction(93.33) != Fraction(9333, 100)


@pytest.mark.parametrize(
    "written",
    [
        True,
        False,
        None,
        93.33,
        float("nan"),
        Decimal("NaN"),
        Decimal("Infinity"),
        Decimal("1e1000000"),
        Decimal("1e-1000000"),
        Decimal("0." + "1" * 41),
        Decimal("12." + "1" * 39),
        "1/0",
        "0/0",
        "-1",
        "-1/2",
        "+1",
        "01",
        "1/02",
        "1.5",
        "1e2",
        " 80",
        "80\n",
        "",
        "/",
        "٣",
        "nan",
        "9" * 41,
        "1/" + "9" * 41,
        [],
        {},
        ["80"],
    ],
)
def test_anything_else_is_refused(written):
    with pytest.raises(ValueError, match="number"):
        read_exact(written)
