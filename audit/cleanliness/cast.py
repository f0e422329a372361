"""An asciicast, v2 or v3: a header and arrays of three. Nothing else is let through, since a player does not show it.

A player drops every line and every code that it does not know, but the file that is served has them.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from audit.cleanliness.doubt import Incomplete

CODES = frozenset("oimrx")
"""Output, input, marker, resize, exit."""


class Cast(NamedTuple):
    """What a recording says."""

    columns: int
    rows: int
    strings: list[str]
    """Every key and every string of the header."""
    joined: dict[str, str]
    """For each code the texts of all its events, with nothing between them."""


def cast(data: bytes) -> Cast:
    """`data` read. Raises Incomplete, naming the line, for anything that is no header or event."""
    if not data.endswith(b"\n"):
        raise Incomplete("joined", "the last line is cut off")
    lines = data[:-1].split(b"\n")
    header = _value(lines[0], 1)
    if not isinstance(header, dict) or header.get("version") not in (2, 3):
        raise Incomplete("joined", "line 1 is no header of an asciicast 2 or 3")
    size = header.get("term") if header["version"] == 3 else header
    columns, rows = (
        (size.get("cols", size.get("width")), size.get("rows", size.get("height")))
        if isinstance(size, dict)
        else (0, 0)
    )
    if not (isinstance(columns, int) and isinstance(rows, int) and 0 < columns <= 1000 and 0 < rows <= 1000):
        raise Incomplete("joined", "line 1 has no size of a terminal that can be drawn")
    parts: dict[str, list[str]] = {}
    for number, line in enumerate(lines[1:], 2):
        match _value(line, number):
            case [int() | float(), str() as code, str() as text] if code in CODES:
                parts.setdefault(code, []).append(text)
            case [int() | float(), str(), str()]:
                raise Incomplete("joined", f"line {number} is an event of a kind that players do not show")
            case _:
                raise Incomplete("joined", f"line {number} is no event")
    return Cast(columns, rows, strings(header), {code: "".join(texts) for code, texts in parts.items()})


def strings(value: Any) -> list[str]:
    """Every key and every string in `value`, in order."""
    match value:
        case str():
            return [value]
        case dict():
            return [text for key, item in value.items() for text in (key, *strings(item))]
        case list() | tuple():
            return [text for item in value for text in strings(item)]
    return []


def _value(line: bytes, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise Incomplete("joined", f"line {number} is no JSON") from None
