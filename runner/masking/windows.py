"""Looking at a file that is too large to be looked at as a whole."""

from __future__ import annotations

from collections.abc import Callable

from archive.edits import Edit

WINDOW_BYTES = 32 << 20
OVERLAP_BYTES = 1 << 20
"""So much of a window is looked at with the next one again: more than any secret takes."""


def in_windows(data: bytes, find: Callable[[bytes], tuple[Edit, ...]], size: int = WINDOW_BYTES) -> tuple[Edit, ...]:
    """What `find` finds in `data`, looking at windows of `size` bytes."""
    if len(data) <= size:
        return find(data)
    found: list[Edit] = []
    for start in range(0, len(data), size - OVERLAP_BYTES):
        part = find(data[start : start + size])
        found += (edit.model_copy(update={"offset": edit.offset + start}) for edit in part)
        if start + size >= len(data):
            break
    return _joined(found)


def _joined(edits: list[Edit]) -> tuple[Edit, ...]:
    """In order; where two windows found parts of one thing, one edit of the first one's kind."""
    joined: list[Edit] = []
    for edit in sorted(edits, key=lambda one: (one.offset, -one.length)):
        last = joined[-1] if joined else None
        if last is None or edit.offset >= last.offset + last.length:
            joined.append(edit)
        elif edit.offset + edit.length > last.offset + last.length:
            joined[-1] = last.model_copy(update={"length": edit.offset + edit.length - last.offset})
    return tuple(joined)
