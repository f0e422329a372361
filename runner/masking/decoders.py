"""Texts that stand encoded in another one: each reader gives what there is, with the way back (MEASUREMENT §10).

Escapes are read in the neighbourhood of where they stand; runs of base64, base32 and hexadecimal digits are read where
what comes out is text or a known compression, and then lead back to the run as a whole.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import html
import lzma
import re
import unicodedata
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import zstandard

from runner.masking.search import Engine, Starts
from runner.masking.text import Inside, Piece, Text, between_letters, made, replaced

DECODED_BYTES = 16 << 20
"""A longer text is not read out of one encoded run."""
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
_LITERAL = re.compile(rb"\b0x([0-9A-Fa-f]{1,2})\b(?:,[ \t\r\n]*)?")
_QUOTED = re.compile(rb"=([0-9A-F]{2})|=[ \t]*\r?\n")
_ENTITY = re.compile(rb"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});?")
_BACKSLASH = re.compile(
    rb"\\(?:u\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|(.)|\r?\n)"
)
_LETTERS = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"e": b"\x1b", b"b": b"\b", b"a": b"\a", b"f": b"\f", b"v": b"\v"}
_COMPATIBLE = re.compile(
    rb"\xef[\xbc\xbd][\x80-\xbf]|\xf0\x9d[\x90-\x9f][\x80-\xbf]|\xe2[\x91-\x93\x80-\x85][\x80-\xbf]|\xef\xb9[\xa0-\xab]"
)
_NUMBERED = re.compile(
    rb"(?m)^[ \t]*(?:[+<>-] ?)?(?:\d{1,6}(?:[ \t]*(?:[:|]|\xe2\x94\x82|\xe2\x86\x92|\xe2\x94\x86)|[ \t]+([+-]?))"
    rb"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]*(?:Z|[+-]\d\d:?\d\d)?\]?|\[?\d\d:\d\d:\d\d[.,\d]*\]?"
    rb"|[\w.-]{1,40}[ \t]{1,20}\|)[ \t]?"
)
_OFFSET = rb"(?m)^[ \t]*(?:0x)?[0-9a-fA-F]{6,8}:?[ \t]+"
_DUMPS = (
    re.compile(_OFFSET + rb"((?:[0-9a-fA-F]{2,8}[ \t]+)+)[|>]([^\n]{1,16})[|<][ \t]*\r?$"),
    re.compile(_OFFSET + rb"((?:[0-9a-fA-F]{2,8}[ \t])*[0-9a-fA-F]{2,8})[ \t]{2,}([^\n]{1,16})\r?$"),
    re.compile(_OFFSET + rb"((?:\S{1,8}[ \t]{1,8}){1,32}\S{1,8})()[ \t]*\r?$"),
)
_URL = bytes.maketrans(b"-_", b"+/")
_READABLE = bytes(range(0x20, 0x7F)) + b"\t\r\n\x00\x1b"


def percent(text: Text, reach: int) -> Text | None:
    """`%2D`."""
    found = (Piece(*match.span(), bytes([int(match[1], 16)])) for match in _PERCENT.finditer(text.text))
    return replaced(text, found, reach)


def literals(text: Text, reach: int) -> Text | None:
    """`0x2d`, as in the source of a C array."""
    found = (Piece(*match.span(), bytes([int(match[1], 16)])) for match in _LITERAL.finditer(text.text))
    return replaced(text, found, reach)


def quoted_printable(text: Text, reach: int) -> Text | None:
    """`=2D`, and the line break that is none."""
    found = (
        Piece(*match.span(), bytes([int(match[1], 16)]) if match[1] else b"\n") for match in _QUOTED.finditer(text.text)
    )
    return replaced(text, found, reach)


def entities(text: Text, reach: int) -> Text | None:
    """`&#45;`."""

    def found() -> Iterator[Piece]:
        for match in _ENTITY.finditer(text.text):
            read = html.unescape(match[0].decode()).encode("utf-8", "replace")
            if read != match[0]:
                yield Piece(*match.span(), read)

    return replaced(text, found(), reach)


def backslashes(text: Text, reach: int) -> Text | None:
    """As JSON, C, Python and shells write characters after a backslash."""
    found = (Piece(*match.span(), _character(match)) for match in _BACKSLASH.finditer(text.text))
    return replaced(text, found, reach)


def compatible(text: Text, reach: int) -> Text | None:
    """Fullwidth, circled and mathematical letters as the plain ones."""
    if text.text.isascii():
        return None

    def found() -> Iterator[Piece]:
        for match in _COMPATIBLE.finditer(text.text):
            read = unicodedata.normalize("NFKC", match[0].decode("utf-8", "replace"))
            if read.isascii():
                yield Piece(*match.span(), read.encode())

    return replaced(text, found(), reach)


def unnumbered(text: Text) -> Text | None:
    """Without the line numbers, times and names that programs put before each line."""
    found = list(_NUMBERED.finditer(text.text))
    signed = [bool(match[1]) for match in found]
    # The sign of a diff stands in the lines beside it, too; the first letter of a line of base64 does not.
    signs = [all(three) for three in zip([False, *signed], signed, [*signed[1:], False], strict=False)]
    ends = (match.end() if sign or not match[1] else match.start(1) for match, sign in zip(found, signs, strict=True))
    return replaced(text, (Piece(match.start(), end, b"") for match, end in zip(found, ends, strict=True)))


def dumps(text: Text) -> Iterator[Text]:
    """The columns of numbers, and those of characters, in dumps as od, xxd and hexdump make them."""
    for pattern in _DUMPS:
        lines = list(pattern.finditer(text.text))
        for group in (1, 2) if lines else ():
            yield made(text, [Piece(*line.span(group), line[group]) for line in lines if line[group]])


class _Coding(NamedTuple):
    """One way to write bytes as letters."""

    begins: tuple[Starts, ...]
    """What a run begins with."""
    run: re.Pattern[bytes]
    """Letters, without what may stand between them, that can be ASCII text or begin as compressed data does."""
    all: re.Pattern[bytes]
    """Any letters of it."""
    group: int
    """So many letters stand for"""
    size: int
    """so many bytes."""
    read: Callable[[bytes], bytes]
    """Letters to bytes; what is left over at the end is ignored."""


def runs(text: Text, engine: Engine | None = None) -> Iterator[Text]:
    """What encoded runs hold, where that is text or was compressed; text leads back to its letters byte by byte."""
    letters = Inside(between_letters(text))
    for coding in _CODINGS:
        past = 0
        for start in sorted({at for begin in coding.begins for at in begin.find(letters.text, engine)}):
            match = coding.run.match(letters.text, start)
            if start < past or match is None:
                continue
            past = match.end()
            decoded = coding.read(match[0])
            if decoded[:2] in _OPENINGS:
                rest = coding.all.match(letters.text, match.start())
                opened, used = expanded(coding.read(rest[0] if rest else b""))
                if opened:
                    last = match.start() - (-used * coding.group // coding.size)
                    yield made(letters, [Piece(match.start(), _padded(letters.text, last), opened)])
            elif coding.group != 8 or not decoded.translate(None, _READABLE):
                pieces = list(_byte_by_byte(letters, coding, match, decoded))
                yield made(letters, pieces)
                if b"\x1b" in decoded and len(pieces) > len(decoded):
                    # A line break in the middle of a sequence would break the sequence.
                    yield made(letters, [piece for piece in pieces if piece.start != piece.end])


def _byte_by_byte(letters: Inside, coding: _Coding, match: re.Match[bytes], decoded: bytes) -> Iterator[Piece]:
    """Each byte from its letters; a line break where they have one, as what follows it may be other words."""
    bits, last = 8 * coding.size // coding.group, _padded(letters.text, match.end())
    for number, byte in enumerate(decoded):
        first, end = match.start() + number * 8 // bits, match.start() + (number * 8 + 7) // bits + 1
        yield Piece(first, last if end == match.end() else end, bytes([byte]))
        if end < match.end() and letters.breaks(end - 1):
            yield Piece(end, end, b"\n")


def _padded(data: bytes, end: int) -> int:
    while data[end : end + 1] == b"=":
        end += 1
    return end


def expanded(data: bytes) -> tuple[bytes, int]:
    """What was compressed, up to `DECODED_BYTES`, and from how many bytes; nothing where `data` was not."""
    try:
        if data[:2] == b"\x1f\x8b":
            return _opened(zlib.decompressobj(31), data)
        if data[:4] == b"\x28\xb5\x2f\xfd":
            reader = zstandard.ZstdDecompressor(max_window_size=DECODED_BYTES).decompressobj()
            return reader.decompress(data), len(data) - len(reader.unused_data)
        if data[:6] == b"\xfd7zXZ\x00":
            return _opened(lzma.LZMADecompressor(), data)
        if data[:3] == b"BZh":
            return _opened(bz2.BZ2Decompressor(), data)
        if len(data) > 8 and data[0] == 0x78 and (data[0] << 8 | data[1]) % 31 == 0:
            return _opened(zlib.decompressobj(), data)
    except (zlib.error, lzma.LZMAError, zstandard.ZstdError, OSError, EOFError, ValueError):
        pass
    return b"", 0


def _opened(reader: Any, data: bytes) -> tuple[bytes, int]:
    opened: bytes = reader.decompress(data, DECODED_BYTES)
    return opened, len(data) - len(reader.unused_data)


def _character(match: re.Match[bytes]) -> bytes:
    code = match[1] or match[2] or match[3]
    if code:
        number = int(code, 16)
        return chr(number).encode("utf-8", "replace") if number < 0x110000 else b"?"
    if match[4]:
        return bytes([int(match[4], 16)])
    if match[5]:
        return bytes([int(match[5], 8) & 0xFF])
    return _LETTERS.get(match[6], match[6]) if match[6] else b"\n"


def _from_base64(letters: bytes) -> bytes:
    whole = letters[: len(letters) - (len(letters) % 4 == 1)].translate(_URL)
    return binascii.a2b_base64(whole + b"=" * (-len(whole) % 4))


def _from_base32(letters: bytes) -> bytes:
    whole = letters[: len(letters) - (len(letters) % 8 in (1, 3, 6))]
    return base64.b32decode(whole + b"=" * (-len(whole) % 8))


def _from_hex(letters: bytes) -> bytes:
    return binascii.unhexlify(letters[: len(letters) // 2 * 2])


_OPENINGS = frozenset({b"\x1f\x8b", b"\x28\xb5", b"\xfd7", b"BZ", b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda"})
# Of four letters that stand for ASCII each of the first three has a bit that is 0: few other runs pass.
_GROUP = rb"[CDGI-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]"
_BASE64 = re.compile(
    rb"(?:%b){5,}(?:[CDGI-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589]?)?|[A-Za-z0-9+/_-]{4}" % _GROUP
)
_BYTE = rb"(?:[2-7][0-9A-Fa-f]|0[789AaDd]|1[Bb])"
_HEX = re.compile(rb"%b{12,}|[0-9A-Fa-f]{4}" % _BYTE)
_BASE32 = re.compile(rb"[A-Z2-7]{24,}")
_CODINGS = (
    _Coding(
        (
            Starts(_GROUP * 5, 20),
            Starts(rb"(?:H4sI|KLUv|_Td6|/Td6|Qlpo|eJ[w-z].|eN[o-r].|eF[4-7].|eA[E-H].)", 4),
        ),
        _BASE64, re.compile(rb"[A-Za-z0-9+/_-]+"), 4, 3, _from_base64,
    ),
    _Coding((Starts(rb"[A-Z2-7]{24}", 24),), _BASE32, _BASE32, 8, 5, _from_base32),
    _Coding(
        (Starts(_BYTE + rb"{12}", 24), Starts(rb"(?:1[fF]8[bB]|28[bB]5|[fF][dD]37|425a|78(?:9c|da|01))", 4)),
        _HEX, re.compile(rb"[0-9A-Fa-f]+"), 2, 1, _from_hex,
    ),
)  # fmt: skip
