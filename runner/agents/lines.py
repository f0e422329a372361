"""Reading what a program left, within bounds: any bytes at all may stand there, and none of them may be a surprise."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import orjson

MOST_LINE_BYTES = 16 << 20
"""A longer line is passed over and counted as lost."""
MOST_LINES = 1 << 20
MOST_DOCUMENT_BYTES = 64 << 20
MOST_VALUES = 1 << 21
"""Of one line or document: each needs many times its own size once it is decoded."""
MOST_TOKENS = 1 << 53

_LINE = re.compile(rb"[^\r\n]+")


class Lines:
    """The JSON objects of some streams, one a line; what is no object is passed over. Iterate once.

    Lines that begin with one of `skip` repeat what others say and are not decoded. `lost` counts lines that began like
    an object and could not be read, and streams that were longer than is read.
    """

    def __init__(self, *streams: bytes, skip: tuple[bytes, ...] = ()) -> None:
        self._streams, self._skip = streams, skip
        self.lost = 0
        self.found = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        left = MOST_LINES
        for stream in self._streams:
            for match in _LINE.finditer(stream):
                left -= 1
                if left < 0:
                    self.lost += 1
                    return
                start, end = match.span()
                if end - start > MOST_LINE_BYTES:
                    self.lost += 1
                    continue
                line = match.group().strip()
                if not line.startswith(b"{") or line.startswith(self._skip):
                    continue
                value = _decoded(line)
                if isinstance(value, dict):
                    self.found += 1
                    yield value
                else:
                    self.lost += 1


def document(data: bytes) -> dict[str, Any] | None:
    """The one JSON object that `data` is; None where it is none or larger than is read."""
    if len(data) > MOST_DOCUMENT_BYTES or data.lstrip()[:1] != b"{":
        return None
    value = _decoded(data)
    return value if isinstance(value, dict) else None


def _decoded(data: bytes) -> Any:
    if sum(map(data.count, (b"[", b"{", b","))) > MOST_VALUES:
        return None
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    try:
        # The tolerant one, for half characters as programs print them.
        return json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None


def dig(value: Any, *path: str) -> Any:
    """What stands at `path` of nested objects; None where there is no such place."""
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """The objects of a list; nothing where it is no list."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def whole(value: Any) -> int | None:
    """A count as a program wrote it; None where it is no whole number from 0."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_TOKENS:
        return value
    return None


def code(value: Any) -> int | None:
    """An exit status or HTTP status as a program wrote it."""
    return value if isinstance(value, int) and not isinstance(value, bool) and -(1 << 31) <= value < 1 << 31 else None


def words(value: Any, most: int = 200) -> str | None:
    """A text as a program wrote it, at most `most` characters, in characters that can be written; None for no text."""
    if not isinstance(value, str):
        return None
    return value[:most].encode("utf-8", "replace").decode()


def name(value: Any) -> str:
    """An id or a word as a program wrote it; empty for anything but a text."""
    return value[:1000] if isinstance(value, str) else ""


def blocks(value: Any) -> str | None:
    """The text of a message's content: a text, or a list of blocks with a text each; None where there is none."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return None
    return "".join(item["text"] for item in objects(value) if isinstance(item.get("text"), str))
