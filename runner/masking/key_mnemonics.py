"""Twelve or more words of the BIP-39 list whose checksum is right: they are a wallet, not prose."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from itertools import islice

from runner.masking.text import Span, Text

_WORD = re.compile(rb"[A-Za-z]+")
_SIZES = (24, 21, 18, 15, 12)
_REPEATED = 2
"""More words that repeat others are in one wallet of a hundred thousand; build logs have them on every line."""


def mnemonics(text: Text) -> Iterator[Span]:
    """Spans of `text`, one a word; numbers and punctuation between the words stay."""
    numbers = _numbers()
    words = _WORD.findall(text.text)
    listed = bytes(map(numbers.__contains__, words))
    if b"\1" * min(_SIZES) not in listed:
        return
    for run in re.finditer(rb"\x01{12,}", listed):
        at = run.start()
        while at + min(_SIZES) <= run.end():
            size = next((size for size in _SIZES if at + size <= run.end() and _valid(words[at : at + size])), 0)
            if size:
                yield from (word.span() for word in islice(_WORD.finditer(text.text), at, at + size))
            at += size or 1


def _valid(words: list[bytes]) -> bool:
    if len(set(words)) < len(words) - _REPEATED:
        return False
    numbers = _numbers()
    bits = "".join(f"{numbers[word]:011b}" for word in words)
    check = len(bits) // 33
    entropy = int(bits[:-check], 2).to_bytes((len(bits) - check) // 8, "big")
    return f"{hashlib.sha256(entropy).digest()[0]:08b}"[:check] == bits[-check:]


@cache
def _numbers() -> dict[bytes, int]:
    from mnemonic import Mnemonic

    return {word.encode(): number for number, word in enumerate(Mnemonic("english").wordlist)}
