"""A known value in every spelling that needs no key to be read (MEASUREMENT §10)."""

from __future__ import annotations

import base64
import codecs
import html
import json
import re
from collections.abc import Iterable, Iterator

from runner.masking.search import Engine, Finder, Form

SHORTEST = 8
"""A shorter value is refused: replacing it everywhere would destroy the evidence."""
LEAST = 12
"""So many characters of a value are as good as the value."""
_SHORTEST_LINE = 6
_DIFFERENT = 4
_HEADER = re.compile(rb"-{4,5} ?(?:BEGIN|END) [^-\n]{1,60}-{4,5}")
_PUBLIC = re.compile(r"(?:[A-Za-z0-9]{2,8}[-_])+(?=[^-_])|gh[pousr]_|AKIA|AIza")
_NOT_TIGHT = bytes(sorted(set(range(256)) - set(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")))
_NOT_SOLID = bytes(sorted(set(range(256)) - set(range(0x21, 0x7F))))


class Known:
    """The values that must not be read in any evidence.

    Raises ValueError for a value that cannot be masked without destroying the evidence: under 8 characters, or made of
    fewer than 4 different ones. A value of several lines is looked for line by line too.
    """

    def __init__(self, values: Iterable[str], engine: Engine | None = None) -> None:
        self.engine = engine
        self.values = tuple(sorted(set(values)))
        for value in self.values:
            if len(value) < SHORTEST:
                raise ValueError(f"a value of {len(value)} characters is too short to be masked safely")
            if len(set(value)) < _DIFFERENT:
                raise ValueError("a value of so few different characters cannot be masked safely")
        self._parts = [part for value in self.values for part in _parts(value)]
        tight: list[Form] = []
        solid: list[Form] = []
        for part in self._parts:
            for form, squeezed in _forms(part):
                (tight if squeezed == "tight" else solid).append(form)
        self.tight = Finder(tight, engine)
        """Looks in letters and digits."""
        self.solid = Finder(solid, engine)
        """Looks in printable ASCII."""
        self.ends = tuple((part, public_length(part)) for part in self._parts)
        """Each value, for its beginning and end around dots, and how much of its beginning everybody knows."""
        self.reach = max((len(part) for part in self._parts), default=0) + 16
        """What of a value stands unencoded beside an encoded character of it is no longer than that."""


def public_length(value: bytes) -> int:
    """How long the public prefix of a value is: `sk-or-v1-` says whose key it is, not which."""
    match = _PUBLIC.match(value.decode("latin-1"))
    return match.end() if match and match.end() <= len(value) // 2 else 0


def _parts(value: str) -> Iterator[bytes]:
    data = _HEADER.sub(b"", value.encode())
    yield data
    if b"\n" in data.strip():
        for line in data.splitlines():
            if len(line.strip()) >= _SHORTEST_LINE and len(set(line)) >= _DIFFERENT:
                yield line.strip()


def _forms(value: bytes) -> Iterator[tuple[Form, str]]:
    turned = codecs.encode(value.decode("latin-1"), "rot13").encode("latin-1")
    for text in (value, turned):
        yield from _plain(text)
    for text in _quoted(value):
        yield from _plain(text)
    for text in (value, value.decode("utf-8", "replace").encode("utf-16-le"), _wide(value)):
        for lead in range(3):
            yield from _encoded(_inside(base64.b64encode(bytes(lead) + text), lead, 3, 4), 16, 10)
    for lead in range(5):
        yield from _encoded(_inside(base64.b32encode(bytes(lead) + value), lead, 5, 8), 20, 12)
    yield from _encoded(value.hex().encode(), 24, 16)
    for lead in range(2):
        even = bytes(lead) + value + bytes((len(value) + lead) % 2)
        swapped = b"".join(even[at : at + 2][::-1] for at in range(0, len(even), 2))
        yield from _encoded(swapped[lead * 2 :].hex().encode(), 24, 16)
    yield from _encoded(b"".join(b"%03o" % byte for byte in value), 36, 20)
    yield from _encoded(b"".join(b"%d" % byte for byte in value), 26, 16)
    yield from _encoded(b"".join(f"{byte:08b}".encode() for byte in value), 96, 64)


def _plain(value: bytes) -> Iterator[tuple[Form, str]]:
    for squeezed, delete in (("tight", _NOT_TIGHT), ("solid", _NOT_SOLID)):
        text = value.translate(None, delete).lower()
        if len(text) < (SHORTEST if squeezed == "tight" else _SHORTEST_LINE) or len(set(text)) < _DIFFERENT:
            continue
        least = min(LEAST, len(text))
        for way in (text, text[::-1]):
            yield Form(way, least, min(8, least), False), squeezed


def _encoded(text: bytes, least: int, seed: int) -> Iterator[tuple[Form, str]]:
    text = text.translate(None, _NOT_TIGHT).lower()
    least = min(least, len(text))
    if least >= SHORTEST:
        for way in (text, text[::-1]):
            yield Form(way, least, min(seed, least), True), "tight"


def _inside(encoded: bytes, lead: int, group: int, letters: int) -> bytes:
    """Of an encoding the letters that depend on nothing but the value, which `lead` bytes stand before."""
    bits = 8 * group // letters
    encoded = encoded.rstrip(b"=")
    whole = len(encoded) * bits % 8 == 0
    return encoded[-(-lead * 8 // bits) : len(encoded) if whole else len(encoded) - 1]


def _wide(value: bytes) -> bytes:
    return value.decode("utf-8", "replace").encode("utf-16-be")


def _quoted(value: bytes) -> Iterator[bytes]:
    """As shells, JSON, XML and YAML write it, where that differs."""
    text = value.decode("utf-8", "replace")
    spelled = {
        text.replace("'", "'\\''"),
        text.replace("'", "'\"'\"'"),
        text.replace("'", "''"),
        json.dumps(text)[1:-1],
        json.dumps(json.dumps(text)[1:-1])[1:-1],
        json.dumps(text, ensure_ascii=False)[1:-1],
        html.escape(text),
        html.escape(text, quote=False),
        re.sub(r"([^\w./:=@%+,-])", r"\\\1", text),
    }
    for spelling in sorted(spelled - {text}):
        yield spelling.encode()
