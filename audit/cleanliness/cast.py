"""An asciicast, v2 or v3: a header and arrays of three. Nothing else is let through, since a player does not show it.

A player drops every line and every code that it does not know, but the file that is served has them.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from audit.cleanliness.doubt import Incomplete

CODES = frozenset("oimrx")
"""Output, input, marker, resize, exit."""
MOST_SIZES = 8
"""Of a terminal: what it shows is drawn at each."""


class Cast(NamedTuple):
    """What a recording says."""

    sizes: list[tuple[int, int]]
    """Columns and rows in the header, and others to which the terminal was changed."""
    strings: list[str]
    """Every key and every string of the header, and its line as it is."""
    joined: dict[str, str]
    """For each code the texts of all its events, with nothing between them."""


def is_cast(data: bytes) -> bool:
    """Whether a file of any name begins as a recording does."""
    try:
        header = json.loads(data[: data.find(b"\n")]) if data[:1] == b"{" else None
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict) and header.get("version") in (2, 3) and ("width" in header or "term" in header)


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
    sizes = [_size(columns, rows, 1)]
    parts: dict[str, list[str]] = {}
    for number, line in enumerate(lines[1:], 2):
        match _value(line, number):
            case [int() | float(), str() as code, str() as text] if code in CODES:
                parts.setdefault(code, []).append(text)
                if code == "r":
                    across, _, down = text.partition("x")
                    sizes.append(_size(_number(across), _number(down), number))
            case [int() | float(), str(), str()]:
                raise Incomplete("joined", f"line {number} is an event of a kind that players do not show")
            case _:
                raise Incomplete("joined", f"line {number} is no event")
    sizes = list(dict.fromkeys(sizes))
    if len(sizes) > MOST_SIZES:
        raise Incomplete("rendered", f"the terminal had more than {MOST_SIZES} sizes")
    said = [*strings(header), lines[0].decode("utf-8", "replace")]
    return Cast(sizes, said, {code: "".join(texts) for code, texts in parts.items()})


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


def _size(columns: Any, rows: Any, number: int) -> tuple[int, int]:
    if isinstance(columns, int) and isinstance(rows, int) and 0 < columns <= 1000 and 0 < rows <= 1000:
        return columns, rows
    raise Incomplete("joined", f"line {number} has no size of a terminal that can be drawn")


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 5 else 0


def _value(line: bytes, number: int) -> Any:
    try:
        return json.loads(line, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise Incomplete("joined", f"line {number} is no JSON") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object. Of a key that stands twice one value would be lost, which is in the file all the same."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)
