"""A text that was made from other bytes, and the way back from its places to theirs.

What masks evidence looks at many such texts of one file: without escape sequences, decoded, as a screen showed it. Only
where something is found is the way back gone, so that a text costs little more than its bytes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import NamedTuple

_BETWEEN_LETTERS = re.compile(rb"[^!-~]+[|>+][^!-~]+|[^!-~]+")
_BETWEEN_PRINTED = re.compile(rb"[^!-~]+")
_BETWEEN_ALNUM = re.compile(rb"[^A-Za-z0-9]*[^!-~][^A-Za-z0-9]*")
_CHUNK = 1 << 15
_ALNUM = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
_PRINTED = frozenset(range(0x21, 0x7F))
_LETTERS = _PRINTED - frozenset(b"|>:,")
NOT_ALNUM = bytes(sorted(set(range(256)) - _ALNUM))
LOWER = bytes(range(256)).lower()

Span = tuple[int, int]
"""From one byte up to another, the second not included."""


class Piece(NamedTuple):
    """Bytes of a text and where in its parent they come from; of equal length: byte by byte, else as a whole."""

    start: int
    end: int
    text: bytes


class Text:
    """Bytes with the way back to the file."""

    def __init__(
        self, text: bytes, parent: Text | None = None, pieces: Callable[[], list[Piece]] = list[Piece]
    ) -> None:
        """`pieces` make `text` from `parent`; they are asked for once something is found."""
        self.text = text
        self.joined: bool = parent.joined if parent is not None else False
        """Whether white space was taken out of it: what stands beside something may be another word."""
        self._parent = parent
        self._make = pieces
        self._pieces: list[Piece] = []
        self._starts: list[int] = []

    def resolve(self, start: int, end: int) -> list[Span]:
        """The spans of the file that `start` up to `end` was made from."""
        if self._parent is None:
            return [(start, end)]
        if not self._starts:
            self._pieces = self._make()
            self._starts = list(accumulate((len(piece.text) for piece in self._pieces), initial=0))
        found = []
        for number in range(max(0, bisect_right(self._starts, start) - 1), len(self._pieces)):
            piece, at = self._pieces[number], self._starts[number]
            if at >= end:
                break
            if piece.start == piece.end or not piece.text:
                continue
            if len(piece.text) == piece.end - piece.start:
                first, last = max(start, at), min(end, at + len(piece.text))
                span = (piece.start + first - at, piece.start + last - at)
            else:
                span = (piece.start, piece.end)
            if span[0] < span[1]:
                found += self._parent.resolve(*span)
        return found


def made(parent: Text, pieces: list[Piece]) -> Text:
    """The text that `pieces`, in order, make."""
    return Text(b"".join([piece.text for piece in pieces]), parent, lambda: pieces)


def replaced(parent: Text, found: Iterable[Piece], reach: int | None = None) -> Text | None:
    """`parent` with some spans read otherwise; None where there is nothing to read otherwise.

    With `reach` only so many bytes around each span are taken over: what is far from all of them was looked at already.
    """
    pieces: list[Piece] = []
    text, end = parent.text, 0
    for piece in found:
        gap = piece.start - end
        if reach is None or gap <= 2 * reach:
            if gap:
                pieces.append(Piece(end, piece.start, text[end : piece.start]))
        else:
            if pieces:
                pieces.append(Piece(end, end + reach, text[end : end + reach]))
            pieces.append(Piece(end, end, b"\n"))
            pieces.append(Piece(piece.start - reach, piece.start, text[piece.start - reach : piece.start]))
        pieces.append(piece)
        end = piece.end
    if not pieces:
        return None
    last = len(text) if reach is None else min(len(text), end + reach)
    pieces.append(Piece(end, last, text[end:last]))
    return made(parent, pieces)


class Squeezed:
    """A text without what stands between characters: `solid` keeps all printable ASCII, `tight` letters and digits."""

    def __init__(self, source: Text, kept: frozenset[int], gap: re.Pattern[bytes], lower: bool) -> None:
        self.source = source
        self._kept, self._gap = kept, gap
        self._delete = bytes(sorted(set(range(256)) - kept))
        self.text = source.text.translate(LOWER if lower else None, self._delete)
        self._ends: list[int] = []
        self._chunk: tuple[int, list[int]] = (-1, [])

    def spans(self, start: int, end: int) -> list[Span]:
        """The spans of the file that hold `start` up to `end`.

        Punctuation between belongs to them; white space and all that is beside it does not: borders, signs of a diff.
        """
        if start >= end:
            return []
        first, last = self.place(start), self.place(end - 1) + 1
        found, text = [], self.source.text
        at = first
        for gap in self._gap.finditer(text, first, last):
            found += self.source.resolve(at, gap.start())
            at = gap.end()
        found += self.source.resolve(at, last)
        return [span for span in found if span[0] < span[1]]

    def place(self, at: int) -> int:
        """Where in the source the byte at `at` stands."""
        text = self.source.text
        if not self._ends:
            sizes = (
                len(text[place : place + _CHUNK].translate(None, self._delete)) for place in range(0, len(text), _CHUNK)
            )
            self._ends = list(accumulate(sizes))
        number = bisect_right(self._ends, at)
        if self._chunk[0] != number:
            begin = number * _CHUNK
            kept = self._kept
            places = [begin + i for i, byte in enumerate(text[begin : begin + _CHUNK]) if byte in kept]
            self._chunk = (number, places)
        before = self._ends[number - 1] if number else 0
        return self._chunk[1][at - before]


def solid(source: Text, lower: bool = True) -> Squeezed:
    """Printable ASCII only."""
    return Squeezed(source, _PRINTED, _BETWEEN_PRINTED, lower)


def tight(source: Text, lower: bool = True) -> Squeezed:
    """Letters and digits only."""
    return Squeezed(source, _ALNUM, _BETWEEN_ALNUM, lower)


def between_letters(source: Text) -> Squeezed:
    """Without what may stand between the letters of an encoded run: white space, borders, signs of a diff."""
    return Squeezed(source, _LETTERS, _BETWEEN_LETTERS, False)


class Inside(Text):
    """A squeezed text as one that others are made from."""

    def __init__(self, squeezed: Squeezed, joined: bool = False) -> None:
        super().__init__(squeezed.text)
        self.joined = joined or squeezed.source.joined
        self._squeezed = squeezed

    def resolve(self, start: int, end: int) -> list[Span]:
        return self._squeezed.spans(start, end)

    def breaks(self, at: int) -> bool:
        """Whether something was left out behind the byte at `at`."""
        return self._squeezed.place(at + 1) != self._squeezed.place(at) + 1


def union(spans: Iterable[Span]) -> list[Span]:
    """Spans in order, those that touch or overlap as one."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def without(spans: list[Span], taken: list[Span]) -> list[Span]:
    """What of `spans` lies in none of `taken`; both as `union` gives them."""
    left, number = [], 0
    for start, end in spans:
        while number < len(taken) and taken[number][1] <= start:
            number += 1
        at = number
        while at < len(taken) and taken[at][0] < end:
            if taken[at][0] > start:
                left.append((start, taken[at][0]))
            start = max(start, taken[at][1])
            at += 1
        if start < end:
            left.append((start, end))
    return left
