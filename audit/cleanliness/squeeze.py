"""Text without anything that can stand between two characters of a value without separating them for a reader."""

from __future__ import annotations

import re
import unicodedata

_BETWEEN = bytes([*range(0x21), 0x22, 0x27, 0x5C, 0x60, 0x7C, 0x7F])
"""White space and control characters, quotes, backslash and the bar of a drawn table."""
_INVISIBLE = re.compile(
    "[\x80-\xa0\xad\u0300-\u036f\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f"
    "\u2500-\u259f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufffd\U000e0000-\U000e0fff]"
)
"""C1 controls, spaces, joiners, combining marks, boxes and blocks, tags."""
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_OTHERS = bytes(set(range(256)) - set(_LETTERS))
_SMALL = bytes(range(256)).lower()
_NUMBER = re.compile(r"\s*[\[(]?(?:\d{4}-\d\d-\d\d[T ])?\d[\d:.,]{0,20}Z?[\])]?[ \t:|\u2502]+")
_TAGS = {0xE0000 + code: code for code in range(0x20, 0x7F)}
"""Invisible characters that stand for those of ASCII."""


def squeezed(text: str) -> bytes:
    """`text` in compatibility form (full-width letters are letters) without white space, quotes, drawn lines and
    whatever has no width; UTF-8."""
    if not text.isascii():
        if b"\xf3\xa0" in text.encode("utf-8", "surrogatepass"):
            text = text.translate(_TAGS)
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)))
    return text.encode("utf-8", "surrogatepass").translate(None, _BETWEEN)


def letters(data: bytes) -> bytes:
    """Only the letters and digits of `data`, in lower case: what separates the members of a list is gone."""
    return data.translate(_SMALL, _OTHERS)


def unnumbered(text: str) -> str:
    """`text` without the number or the time that each of its lines begins with; nothing where no line does."""
    lines = text.split("\n")
    numbers = [_NUMBER.match(line) for line in lines]
    return (
        "\n".join(line[one.end() if one else 0 :] for line, one in zip(lines, numbers, strict=True))
        if any(numbers)
        else ""
    )
