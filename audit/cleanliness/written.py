"""The strings of JSON files: one value, or one a line."""

from __future__ import annotations

import json
from typing import Any


def written(text: str) -> str | None:
    """All strings of `text`, those under the same key together: a stream that was cut into many objects is whole again.

    None where nothing of it is JSON. Keys are in it once, twice used keys of one object with both their values.
    """
    found: dict[str, list[str]] = {}
    try:
        _collect(_pairs(text), "", found)
    except (ValueError, RecursionError):
        for line in text.split("\n"):
            if line.lstrip()[:1] in ("{", "[", '"'):
                try:
                    _collect(_pairs(line), "", found)
                except (ValueError, RecursionError):
                    continue
    return "\n\n".join("\n".join((key, *texts)) for key, texts in found.items()) if found else None


class _Pairs(list[tuple[str, Any]]):
    """An object with all its pairs."""


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
        for item in value:
            _collect(item, key, found)
