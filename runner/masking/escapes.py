"""A terminal's escape sequences: taken out of a text, and what they carry as a text of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runner.masking.text import Piece, Span, Text, made

CARRIED_BYTES = 1 << 22
"""What no sequence ends within is no sequence."""
# A string sequence ends with BEL or ST; ESC, CAN and SUB break it off. tmux doubles each ESC of what it passes through.
SEQUENCE = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]|"
    + rb"\x1b[\]PX^_k][^\x07\x18\x1a\x1b]{0,%d}(?:\x1b\x1b[^\x07\x18\x1a\x1b]*)*(?:\x07|\x1b\\|(?=[\x18\x1a\x1b])|\Z)"
    % CARRIED_BYTES
    + rb"|\x1b[ -/]*[0-~]|\x1b|\xc2\x9b[0-?]*[ -/]*[@-~]"
)
_CARRIERS = frozenset(b"]PX^_k")
_IMAGE = re.compile(rb"\x1b(?:P[0-9;]*q|_G|\]1337;File=)")


def without_escapes(text: Text) -> tuple[Text, Text | None]:
    """The text as it is read, and what its titles, links, clipboard and other strings carry, where there are any."""
    pieces, carried, end = [], [], 0
    data = text.text
    for start, stop in sequences(data):
        if start > end:
            pieces.append(Piece(end, start, data[end:start]))
        if stop - start > 2 and data[start + 1] in _CARRIERS:
            carried += [Piece(start + 2, stop, data[start + 2 : stop]), Piece(stop, stop, b"\n")]
        end = stop
    pieces.append(Piece(end, len(data), data[end:]))
    return made(text, pieces), made(text, carried) if carried else None


def sequences(data: bytes) -> Iterator[Span]:
    """Where each sequence stands."""
    return (match.span() for match in SEQUENCE.finditer(data))


def has_image(data: bytes) -> bool:
    """Whether an image, which cannot be read as text, is drawn by a sequence."""
    return _IMAGE.search(data) is not None
