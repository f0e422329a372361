"""What is written in another alphabet: base64, base32, hexadecimal, escapes of programming languages, compressed data.

A whole text is decoded, not the runs that look encoded: all characters outside an alphabet are taken away and the rest
is decoded at each alignment. Whatever stood encoded in it, with whatever between its characters, is then in one of the
results, between rubbish that means nothing. What is readable in the results is decoded again, three times in all.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import html
import lzma
import re
import zlib
from collections.abc import Iterator
from typing import Any

from audit.cleanliness.doubt import Incomplete
from audit.cleanliness.escapes import stripped
from audit.cleanliness.runs import anywhere, runs
from audit.cleanliness.squeeze import squeezed

DEPTH = 3
MOST_UNPACKED = 16 << 20
"""Bytes that one compressed piece may unfold to, and all pieces of a file together four times."""
_PIECE = 64 << 10
_BASE64 = bytes.maketrans(b"-_", b"+/")
_NOT_BASE64 = bytes(set(range(256)) - set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"))
_NOT_HEX = bytes(set(range(256)) - set(b"0123456789abcdefABCDEF"))
_ROT13 = bytes.maketrans(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", b"NOPQRSTUVWXYZABCDEFGHIJKLMnopqrstuvwxyzabcdefghijklm"
)
_ESCAPE = re.compile(
    r"%([0-9A-Fa-f]{2})"
    r"|\\\\*(?:u\{?|x|U000)([0-9A-Fa-f]{2,5})\}?"
    r"|\\\\*([0-3][0-7]{2})"
    r"|(&(?:#\d{1,6};?|#[xX][0-9A-Fa-f]{1,5};?|[a-z]{2,4};))"
    r"|\\\\*([nrt])"
    r"|\\\\*([\"'/\\])"
)
_QUOTED = re.compile(r"=(?:([0-9A-F]{2})|(?<=[^=\s]=)\r?\n)")
_NUMBERS = re.compile(r"\d{1,3}(?:[\s,;]+\d{1,3}){11,}", re.ASCII)
_SOME_NUMBERS = rb"\d[\s,;]+\d{1,3}[\s,;]+\d{1,3}[\s,;]+\d{1,3}[\s,;]+\d{1,3}[\s,;]+\d{1,3}[\s,;]+\d"
_WORDS = re.compile(
    r"\b(?:([01][0-7]{5}(?:\s+[01][0-7]{5}){5,})|([0-9a-f]{8}(?:\s+[0-9a-f]{8}){2,})|([0-9a-f]{16}(?:\s+[0-9a-f]{16})+))\b",
    re.ASCII,
)
"""Words of two, four and eight bytes, as od writes them."""
_SOME_WORDS = (rb"[01][0-7]{5}\s+[01][0-7]{5}\s+[01][0-7]{5}", rb"[0-9a-f]{8}\s+[0-9a-f]{8}")
_NIBBLES = bytes((value & 15) << 4 | value >> 4 for value in range(256))
"""Digits read backwards: the bytes are searched backwards too."""
_BLOB_SIZE = 64
_PACKED = re.compile(rb"\x1f\x8b\x08|x[\x01\x5e\x9c\xda]|\x28\xb5\x2f\xfd|\xfd7zXZ\x00|BZh[1-9]1AY&SY|PK\x03\x04")


class Decoded:
    """Everything that one file's text decodes to, and how many pieces look encoded and are not."""

    def __init__(self) -> None:
        self.undecodable = 0
        self._unpacked = 0
        self._readable = runs(r"\t\n\r\x1b\x20-\x7e", 20)
        self._blobs = runs("A-Za-z0-9+/", _BLOB_SIZE)
        self._small_base32 = runs("a-z2-7", 24)
        self._numbers = anywhere(_SOME_NUMBERS)
        self._words = anywhere(*_SOME_WORDS)
        self._base32 = runs("A-Z2-7", 20)

    def of(self, text: str, depth: int = 1) -> Iterator[bytes]:
        """All that can be decoded from `text`. Raises Incomplete beyond a limit."""
        tight = squeezed(text)
        yield tight.translate(_ROT13)
        if depth > 1:
            yield tight
        readable: list[str] = list(_unescaped(text))
        for plain in readable:
            yield plain.encode("utf-8", "surrogatepass")
        for found in self._alphabets(text, tight):
            yield found
            readable += [run.decode("ascii") for run in self._readable.inside(found)]
            for unpacked in self.unpacked(found):
                yield unpacked
                readable.append(unpacked.decode("utf-8", "replace"))
        if depth == 1:
            yield from _base64(tight[::-1])
            yield from _base64(tight.translate(_ROT13))
        if depth == 1:
            self.undecodable += sum(not _means(blob) for blob in self._blobs.inside(tight))
        if not readable:
            return
        inner = stripped("\n".join(readable))
        if depth < DEPTH:
            yield from self.of(inner, depth + 1)
        elif any(_means(blob) for blob in self._blobs.inside(squeezed(inner))):
            raise Incomplete("decoded", f"something is encoded more than {DEPTH} times")

    def of_packed(self, data: bytes) -> Iterator[bytes]:
        """What compressed pieces in a file hold, and all that can be decoded from that."""
        for piece in self.unpacked(data):
            yield piece
            yield from self.of(stripped(piece.decode("utf-8", "replace")), 2)

    def unpacked(self, data: bytes) -> Iterator[bytes]:
        """What compressed pieces in `data` hold, as far as they can be unfolded."""
        whole = memoryview(data)
        for match in _PACKED.finditer(data):
            piece = _unpacked(match[0], whole[match.start() :])
            self._unpacked += len(piece)
            if len(piece) > MOST_UNPACKED or self._unpacked > 4 * MOST_UNPACKED:
                raise Incomplete("decoded", f"something compressed unfolds to more than {MOST_UNPACKED >> 20} MB")
            if len(piece) >= 8:
                yield piece

    def _alphabets(self, text: str, tight: bytes) -> Iterator[bytes]:
        yield from _base64(tight)
        digits = tight.replace(b"0x", b"").translate(None, _NOT_HEX)
        for at in range(2):
            decoded = binascii.unhexlify(digits[at : at + (len(digits) - at) // 2 * 2])
            yield decoded
            yield decoded.translate(_NIBBLES)
            for odd in range(2):
                yield _swapped(decoded[odd:], 2)
        data = text.encode("utf-8", "surrogatepass")
        for match in _WORDS.finditer(text) if self._words.inside(data) else ():
            octal, *wide = match.groups()
            if octal:
                yield b"".join(int(word, 8).to_bytes(2, "little") for word in octal.split())
            for size, words in zip((4, 8), wide, strict=True):
                yield _swapped(bytes.fromhex(words), size) if words else b""
        pieces = self._base32.inside(tight)
        pieces += [run.upper() for run in self._small_base32.inside(data) if not run.isalpha()]
        for at in range(8) if pieces else ():
            yield base64.b32decode(
                b"".join(run[at : at + (len(run) - at) // 8 * 8] for run in pieces if len(run) >= 16)
            )
        for match in _NUMBERS.finditer(text) if self._numbers.inside(data) else ():
            numbers = re.findall(r"\d+", match[0])
            yield bytes(value for value in map(int, numbers) if value < 256)
            yield bytes(int(value, 8) for value in numbers if re.fullmatch("[0-3]?[0-7]{1,2}", value))


def _base64(tight: bytes) -> Iterator[bytes]:
    """Padding ends a piece: what follows would stand at another alignment, and each is tried."""
    plain = tight.translate(_BASE64, _NOT_BASE64_KEPT)
    for at in range(4):
        yield binascii.a2b_base64(plain[at : at + (len(plain) - at) // 4 * 4])


def _unescaped(text: str) -> Iterator[str]:
    """What stands around escapes, with each in its place; nothing where there are none."""
    for pattern, meaning in ((_ESCAPE, _character), (_QUOTED, _quoted)):
        spans: list[list[int]] = []
        for match in pattern.finditer(text):
            start, end = max(0, match.start() - 128), match.end() + 128
            if spans and start <= spans[-1][1]:
                spans[-1][1] = end
            else:
                spans.append([start, end])
        if spans:
            yield "\n".join(pattern.sub(meaning, text[start:end]) for start, end in spans)


def _character(match: re.Match[str]) -> str:
    percent, code, octal, entity, named, quoted = match.groups()
    if percent or code:
        return chr(int(percent or code, 16))
    if octal:
        return chr(int(octal, 8))
    return html.unescape(entity) if entity else {"n": "\n", "r": "\r", "t": "\t"}[named] if named else quoted


def _quoted(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else ""


def _swapped(data: bytes, size: int) -> bytes:
    """Words of `size` bytes turned round, as od shows them."""
    whole = data[: len(data) // size * size]
    turned = bytearray(len(whole))
    for at in range(size):
        turned[at::size] = whole[size - 1 - at :: size]
    return bytes(turned)


def _means(blob: bytes) -> bool:
    """Whether a run of base64 decodes to text or to something compressed."""
    decoded = binascii.a2b_base64(blob[: len(blob) // 4 * 4])
    return _PACKED.match(decoded) is not None or 20 * len(decoded.translate(None, _TEXT)) < len(decoded)


_TEXT = b"\t\n\r\x1b" + bytes(range(0x20, 0x7F))
_NOT_BASE64_KEPT = bytes(set(_NOT_BASE64) - set(b"-_"))


def _unpacked(magic: bytes, data: memoryview) -> bytes:
    """What `data` unfolds to as far as it goes, no more than a byte above MOST_UNPACKED."""
    unfold: Any
    match magic[:1]:
        case b"\x1f":
            unfold = zlib.decompressobj(31)
        case b"x":
            unfold = zlib.decompressobj()
        case b"P":
            unfold = zlib.decompressobj(-zlib.MAX_WBITS)
            names = data[26:30]
            data = data[30 + int.from_bytes(names[:2], "little") + int.from_bytes(names[2:], "little") :]
        case b"B":
            unfold = bz2.BZ2Decompressor()
        case b"\xfd":
            unfold = lzma.LZMADecompressor(memlimit=256 << 20)
        case _:
            return _zstd(data)
    pieces, size = list[bytes](), 0
    try:
        for at in range(0, len(data), _PIECE):
            part = data[at : at + _PIECE]
            pieces.append(unfold.decompress(part, MOST_UNPACKED + 1 - size))
            size += len(pieces[-1])
            if size > MOST_UNPACKED or unfold.eof:
                break
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
        pass
    return b"".join(pieces)


def _zstd(data: memoryview) -> bytes:
    import zstandard

    pieces, size = list[bytes](), 0
    try:
        with zstandard.ZstdDecompressor(max_window_size=128 << 20).stream_reader(data) as reader:
            while size <= MOST_UNPACKED and (piece := reader.read(_PIECE)):
                pieces.append(piece)
                size += len(piece)
    except zstandard.ZstdError:
        pass
    return b"".join(pieces)
