"""What the interfaces have in common."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

Event = tuple[str | None, Any]
"""Name of an event, None where the interface names none, and its data: an object, or a word."""
CREATED = 1_790_000_000
"""Seconds since 1970 that stand in every answer."""


def encoded(event: Event) -> bytes:
    """One event of a stream."""
    name, data = event
    line = data if isinstance(data, str) else json.dumps(data)
    return (f"event: {name}\n" if name else "").encode() + f"data: {line}\n\n".encode()


def halves(text: str) -> tuple[str, ...]:
    """A text in two pieces; none of nothing."""
    middle = (len(text) + 1) // 2
    return tuple(part for part in (text[:middle], text[middle:]) if part)


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """The objects of a list; nothing where it is no list."""
    return (item for item in value if isinstance(item, dict)) if isinstance(value, list) else iter(())


def text_of(content: Any) -> str:
    """The text of a message: a text, or a list of blocks with a text each."""
    if isinstance(content, str):
        return content
    return "\n".join(one["text"] for one in objects(content) if isinstance(one.get("text"), str))


def cut(events: Iterable[Event]) -> list[Event]:
    """The first half, in which no stream has come to its end."""
    whole = list(events)
    return whole[: (len(whole) + 1) // 2]
