"""What masking changed, and nothing of what it hid: enough to make each stage of evidence from the one before.

A manifest lists spans. What stands in a span follows from the characters that stood there and from the kind of the edit
alone, so that a reader who has the earlier stage can make the later one and compare (MEASUREMENT §10).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, model_validator

from archive.model import Commitment, Digest, Model

Kind = Literal["credential", "token", "picture", "key", "banner"]
"""A value the harness knows; a value of a provider's known shape; a picture that a sequence draws on the terminal, in
which nothing can be looked for; the body of a generated key; a tool's own banner."""
Stage = Literal["credentials", "presentation"]
"""Stage 1 wipes credentials, tokens and pictures; stage 2, the served copy, masks keys and replaces the banner."""
Form = Literal["bytes", "asciicast"]
NEUTRAL = "Argusic Agent"

_MASKS = {(1, 1): "*", (2, 1): "·", (2, 0): "\u034f", (3, 1): "█", (3, 2): "＊", (3, 0): "\u200b", (4, 1): "\U00010101",
          (4, 2): "\U0001f7e5", (4, 0): "\U000e0100"}  # fmt: skip
_BLANKS = {**_MASKS, (1, 1): " ", (2, 1): "\u00a0", (3, 1): "\u2007", (3, 2): "\u3000"}


_SEQUENCE_OR_CHARACTER = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|.", re.DOTALL)


class Edit(Model):
    """One span of what was changed."""

    event: Annotated[int, Field(ge=0)] | None
    """Of an asciicast: which event, from 0; null in any other file."""
    offset: Annotated[int, Field(ge=0)]
    """Bytes from the beginning of the file; characters from the beginning of the event's text."""
    length: Annotated[int, Field(gt=0)]
    """In the same unit."""
    kind: Kind


class Fingerprint(Model):
    """Which bytes are meant: by their digest where nothing in them was hidden, else by a keyed commitment."""

    bytes: Annotated[int, Field(ge=0)]
    mark: Digest | Commitment


class Manifest(Model):
    """The edits that make one stage of one file from the stage before it."""

    schema_version: Literal[1]
    stage: Stage
    form: Form
    before: Fingerprint
    after: Fingerprint
    edits: tuple[Edit, ...]

    @model_validator(mode="after")
    def _in_order(self) -> Manifest:
        places = [(-1 if edit.event is None else edit.event, edit.offset, edit.length) for edit in self.edits]
        if any(a[0] > b[0] or (a[0] == b[0] and a[1] + a[2] > b[1]) for a, b in pairwise(places)):
            raise ValueError("edits: in the order of their places, none over another")
        if any((edit.event is None) == (self.form == "asciicast") for edit in self.edits):
            raise ValueError("edits: an event's number is given in an asciicast and only there")
        return self


def covered(text: str, kind: Kind) -> str:
    """`text` as it stands in its span afterwards: as many bytes, as many cells, control characters where they were.

    In a banner escape sequences stay too; no other span has any.
    """
    if kind != "banner":
        return "".join(_cover(character, _MASKS) for character in text)
    # Of an escape sequence only its first byte is a control character: it stays as a whole, or what follows is garbled.
    blank = [part if part[:1] == "\x1b" else _cover(part, _BLANKS) for part in _SEQUENCE_OR_CHARACTER.findall(text)]
    fits = next((place for place, run in _runs(blank) if run >= len(NEUTRAL)), None)
    if fits is not None:
        blank[fits : fits + len(NEUTRAL)] = NEUTRAL
    return "".join(blank)


def covered_bytes(data: bytes, kind: Kind) -> bytes:
    """As `covered`; a byte that belongs to no character becomes an asterisk."""
    text = data.decode("utf-8", "surrogateescape")
    return covered(text, kind).encode("utf-8", "surrogateescape")


def apply_to_bytes(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The next stage of a file that is no asciicast. Raises ValueError where an edit lies outside of it."""
    out, end = bytearray(data), 0
    for edit in edits:
        end = edit.offset + edit.length
        if end > len(data):
            raise ValueError(f"an edit ends at byte {end}, the file has {len(data)}")
        out[edit.offset : end] = covered_bytes(data[edit.offset : end], edit.kind)
    return bytes(out)


def _cover(character: str, table: dict[tuple[int, int], str]) -> str:
    code = ord(character)
    if code < 0x20 or code == 0x7F:
        return character
    if 0xDC80 <= code <= 0xDCFF:
        return "*"
    wide = unicodedata.east_asian_width(character) in "WF"
    nothing = unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Me", "Mn")
    size = len(character.encode())
    return table.get((size, 0 if nothing else 2 if wide else 1), table[size, 1])


def _runs(blank: list[str]) -> Iterable[tuple[int, int]]:
    """Place and length of each run of single blanks."""
    place = 0
    while place < len(blank):
        end = place
        while end < len(blank) and blank[end] == " ":
            end += 1
        if end > place:
            yield place, end - place
        place = end + 1
