"""A terminal's escape sequences: taken out of a text, and what they carry as a text of its own."""

from __future__ import annotations

import re

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
_CARRIER = re.compile(rb"\x1b[\]PX^_k]")
_END = re.compile(rb"(?:\x07|\x1b\\|\x1b)?\Z")
_IMAGE = re.compile(rb"\x1b(?:P[0-9;]*q|_G|\]1337;(?:File|MultipartFile|FilePart)=)")


def without_escapes(text: Text) -> tuple[Text, Text | None]:
    """The text as it is read, and what its titles, links, clipboard and other strings carry, where there are any."""
    data = text.text
    carried = []
    for carrier in _CARRIER.finditer(data):
        sequence = SEQUENCE.match(data, carrier.start())
        if sequence is not None:
            start, stop = carrier.end(), sequence.end() - len(_END.search(sequence[0])[0])  # type: ignore[index]
            carried += [Piece(start, stop, data[start:stop]), Piece(stop, stop, b"\n")]
    return Text(SEQUENCE.sub(b"", data), text, lambda: _between(data)), made(text, carried) if carried else None


def _between(data: bytes) -> list[Piece]:
    pieces, end = [], 0
    for sequence in SEQUENCE.finditer(data):
        pieces.append(Piece(end, sequence.start(), data[end : sequence.start()]))
        end = sequence.end()
    return [*pieces, Piece(end, len(data), data[end:])]


def pictures(data: bytes) -> list[Span]:
    """What draws pictures on the terminal, where it is not covered yet: the payload of each such sequence."""
    found = []
    for introducer in _IMAGE.finditer(data):
        sequence = SEQUENCE.match(data, introducer.start())
        if sequence is not None:
            stop = sequence.end() - len(_END.search(sequence[0])[0])  # type: ignore[index]
            if data[introducer.end() : stop].strip(b"*"):
                found.append((introducer.end(), stop))
    return found
