"""One line of JSON Lines read strictly: what is wrong is named by line, field and what would be right."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, NamedTuple

from pydantic import ValidationError

from archive.errors import DataError, DataErrors
from archive.model import M, explain

SOURCE = "standard input"
"""How messages call the stream."""


class Line(NamedTuple):
    """A line that holds a JSON object."""

    number: int
    """1-based."""
    data: dict[str, Any]
    """Decoded; numbers with a decimal point are Decimal, read digit by digit."""

    def read(self, model: type[M]) -> M:
        """The line as a `model`. Raises DataErrors with every wrong field."""
        try:
            return model.model_validate(self.data)
        except ValidationError as error:
            inputs = [one["input"] for one in error.errors(include_url=False)]
            found = zip(explain(error, SOURCE), inputs, strict=True)
            raise DataErrors(
                [_problem(self.number, one.field, _said(one.problem, given)) for one, given in found]
            ) from None

    def wrong(self, field: str, problem: str) -> DataErrors:
        """The error to raise for a field whose value does not fit."""
        return DataErrors([_problem(self.number, field, problem)])


def parse(raw: bytes, number: int) -> Line:
    """The bytes of line `number`, with or without its newline.

    Raises DataErrors for anything but one JSON object in UTF-8: an empty line, a key written twice and NaN are
    refused too, since each answer must stand for one line that can be read in one way only.
    """
    try:
        data = _DECODER.decode(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8 at byte {error.start + 1}; write UTF-8"
    except json.JSONDecodeError as error:
        problem = f"is no JSON: {error.msg}, column {error.colno}" if raw.strip() else "is empty; write a JSON object"
    except _Refused as error:
        problem = str(error)
    except RecursionError:
        problem = "is nested too deeply; write one flat JSON object"
    except (ValueError, ArithmeticError):
        # Python's own limits: digits of an int, exponent of a Decimal.
        problem = "has a number too large to be read"
    else:
        if isinstance(data, dict):
            return Line(number, data)
        problem = "is no JSON object; write {…}"
    raise DataErrors([_problem(number, "", problem)])


def _said(problem: str, given: object) -> str:
    """`problem` in the words of JSON: it has lists, and a number with a decimal point is shown as it was written."""
    told = problem.replace("valid tuple", "valid list")
    return f"{told}, not {str(given)[:120]}" if isinstance(given, Decimal) else told


class _Refused(ValueError):
    """JSON that Python would read and that can be read in more than one way."""


def _problem(number: int, field: str, problem: str) -> DataError:
    # A key comes from the input: shown as JSON shows it, it cannot move a terminal's cursor or begin a line.
    shown = field if field.isprintable() else json.dumps(field)
    return DataError(SOURCE, shown[:200], problem, number)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _Refused(f"has the key {json.dumps(twice[:80])} twice; write it once")
    return found


def _no_constant(name: str) -> None:
    raise _Refused(f"has {name}, no JSON number; write a number or null")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=Decimal, parse_constant=_no_constant)
