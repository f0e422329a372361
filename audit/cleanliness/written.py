"""The strings of JSON files: one value, or one a line."""

from __future__ import annotations

import json
from typing import Any, NamedTuple


class Written(NamedTuple):
    """What a text says as JSON."""

    strings: str
    """All strings, those under the same key together: a stream that was cut into many objects is whole again."""
    whole: bool
    """Whether all of the text is JSON, so that nothing that stands in it is not in `strings`."""


def written(text: str) -> Written | None:
    """What of `text` is JSON, None where nothing is. Strings of arrays are together, and by their place in them too."""
    found: dict[str, list[str]] = {}
    whole = True
    try:
        _collect(_pairs(text), "", found)
    except (ValueError, RecursionError):
        for line in text.split("\n"):
            line = line.removeprefix("data:").strip()
            if line[:1] not in ("{", "[", '"'):
                whole = whole and not line
                continue
            try:
                _collect(_pairs(line), "", found)
            except (ValueError, RecursionError):
                whole = False
    return Written("\n\n".join("\n".join((key, *texts)) for key, texts in found.items()), whole) if found else None


class _Pairs(list[tuple[str, Any]]):
    """An object with all its pairs, so that a key that stands twice has both values."""


def _pairs(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_Pairs)


def _collect(value: Any, key: str, found: dict[str, list[str]]) -> None:
    if isinstance(value, str):
        found.setdefault(key, []).append(value)
    elif isinstance(value, _Pairs):
        for name, item in value:
            found.setdefault(name, [])
            _collect(item, name, found)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            if isinstance(item, str):
                found.setdefault(f"{key}[{at}]", []).append(item)
            # Bytes are written as a list of numbers.
            _collect(str(item) if type(item) is int else item, key, found)
