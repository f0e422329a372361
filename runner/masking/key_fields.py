"""Keys that are known by the word beside them: a field of a file, or the command whose output they are."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from runner.masking.key_blocks import lines_of_key
from runner.masking.search import Engine, Finder, Form
from runner.masking.text import Span, Text

_HEX = rb"((?:0x)?[0-9a-fA-F]{64}(?:[0-9a-fA-F]{64})?)(?![0-9a-fA-F])"
_WORDS = rb"[:\n]\s{0,8}((?:[a-z]{3,10}[ \t\r\n]+){11,}[a-z]{3,10})"
_BASE58 = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


class _Field(NamedTuple):
    marker: bytes
    """In lower case; where it is missing nothing is looked for."""
    pattern: re.Pattern[bytes]


_FIELDS = (
    _Field(b"privatekey", re.compile(rb"Private_?Key\"?\s{0,4}[=:]\s{0,4}\"?([A-Za-z0-9+/]{20,}={0,2})")),
    _Field(b"presharedkey", re.compile(rb"PresharedKey\s{0,4}[=:]\s{0,4}([A-Za-z0-9+/]{42,43}={1,2})")),
    _Field(b"private-key-format", re.compile(
        rb"(?:PrivateExponent|Prime[12]|Exponent[12]|Coefficient):\s{0,4}([A-Za-z0-9+/]{20,}={0,2})")),
    _Field(b"wg gen", re.compile(
        rb"\bwg gen(?:key|psk)[^\n]*\n(?:[^\n]*\n){0,3}?[^A-Za-z0-9+/\n]*([A-Za-z0-9+/]{43}=)[ \t]*(?:\r|\n|\Z)")),
    _Field(b"private-lines", re.compile(
        rb"Private-Lines:\s{0,4}\d+([A-Za-z0-9+/=\s|]{20,20000}?)(?=Private-(?:MAC|Hash))")),
    _Field(b"secret key", re.compile(
        rb"secret key[^\n]{0,60}\n[^A-Za-z0-9+/\n]{0,12}RW([A-Za-z0-9+/]{90,300}={0,2})")),
    _Field(b"descriptor:x25519", re.compile(rb"[a-z2-7]{56}:descriptor:x25519:([A-Z2-7]{52})")),
    _Field(b"age-plugin-", re.compile(rb"AGE-PLUGIN-[A-Z0-9-]{1,40}-1([0-9A-Z]{20,200})")),
    _Field(b"otpauth:", re.compile(rb"otpauth://[^\s\"']{1,300}?[?&]secret=([A-Za-z2-7]{8,}=*)")),
    _Field(b"unseal key", re.compile(rb"(?i:unseal key) \d{1,2}:\s{0,4}([A-Za-z0-9+/]{40,}={0,2})")),
    _Field(b"recovery key", re.compile(rb"(?i:recovery key) \d{1,2}:\s{0,4}([A-Za-z0-9+/]{40,}={0,2})")),
    _Field(b"root token", re.compile(rb"(?i:root token):\s{0,4}([\w.-]{10,})")),
    _Field(b"seed", re.compile(rb"(?i:\bseed(?: phrase)?)\"?\s{0,4}(?:[:=]|is)\s{0,4}\"?" + _HEX)),
    _Field(b"private", re.compile(
        rb"(?i:private[ _-]?key)(?: \([a-z0-9 ]{1,20}\))?[\"']?\s{0,4}(?:[:=]|is)?\s{0,4}[\"']?" + _HEX)),
    _Field(b"phrase", re.compile(
        rb"(?i:(?:seed|recovery|secret|backup|mnemonic) phrase)[^\n]{0,40}?" + _WORDS)),
    _Field(b"mnemonic", re.compile(rb"(?i:mnemonic|slip-?39)[^\n]{0,20}?" + _WORDS)),
    _Field(b"ed25519v1-secret", re.compile(rb"== ed25519v1-secret: type0 ==\0{3}([\s\S]{64})")),
)  # fmt: skip
_LINES = re.compile(rb"private-lines:\s{0,4}\d+")
_JWK = re.compile(rb"([\"'])(?:d|p|q|dp|dq|qi|k)\1\s{0,4}:\s{0,4}([\"'])([A-Za-z0-9_-]{16,})\2")
_KTY = re.compile(rb"[\"']kty[\"']")
_JWK_BYTES = 6000
_CHECKED = re.compile(
    rb"(?<![A-Za-z0-9])(?:[xyztuvXYZTUV]prv[%b]{107,108}|[5KL9c][%b]{50,51})(?![A-Za-z0-9])" % ((_BASE58,) * 2)
)
_CASES = re.compile(rb"[A-Z]")


@cache
def _markers(engine: Engine | None) -> Finder:
    words = {field.marker for field in _FIELDS}
    return Finder((Form(word, len(word), len(word), False) for word in words), engine)


def fields(text: Text, engine: Engine | None = None) -> Iterator[Span]:
    """Spans of `text` that hold keys named by what stands beside them."""
    data = text.text
    lower = data.lower()
    present = {marker for _, marker in _markers(engine).seeds(lower)}
    for field in _FIELDS:
        if field.marker in present:
            yield from (match.span(1) for match in field.pattern.finditer(data))
    for lines in _LINES.finditer(lower) if b"private-lines" in present else ():
        if lower.find(b"private-mac", lines.end(), lines.end() + 20000) < 0:
            yield from lines_of_key(text, lines.end())
    for kty in _KTY.finditer(data):
        for member in _JWK.finditer(data, max(0, kty.start() - _JWK_BYTES), kty.end() + _JWK_BYTES):
            yield member.span(3)
    for match in _CHECKED.finditer(data):
        if _check(match[0]):
            yield match.span()


def _check(letters: bytes) -> bool:
    """Whether base58 letters end in the checksum of what they say."""
    number = 0
    for letter in letters:
        number = number * 58 + _BASE58.index(letter)
    raw = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return hashlib.sha256(hashlib.sha256(raw[:-4]).digest()).digest()[:4] == raw[-4:]
