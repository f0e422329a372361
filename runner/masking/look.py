"""Stage 1: known values and provider-shaped tokens, wherever and however they are written (MEASUREMENT §10)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from archive.edits import Edit, Kind, apply_to_bytes
from runner.masking import decoders
from runner.masking.escapes import pictures, without_escapes
from runner.masking.not_proven import NotProven
from runner.masking.screen import screen
from runner.masking.spelling import Known
from runner.masking.text import Inside, Span, Text, solid, tight, union, without
from runner.masking.tokens import tokens
from runner.sandbox import COLUMNS, ROWS

DEPTH = 3
"""So many layers of encoding are read."""
DECODED_BYTES = 256 << 20
"""All that is read out of encoded runs of one file."""
_ROUNDS = 4
_SMALL = 1 << 16
_ENCODED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-")
_ELLIPSIS = re.compile(
    rb"\.\.+|\*\*\*+|\xe2\x80\xa6|\xe2\x80\xa2(?:\xe2\x80\xa2)+|\xe2\x96\x88(?:\xe2\x96\x88)+|<[a-z ]{3,12}>|\[\.\.\.\]"
)
_SHOWN_AROUND = 6
_LOOKED_AT = 3


def credentials(data: bytes, known: Known, columns: int = COLUMNS, rows: int = ROWS) -> tuple[Edit, ...]:
    """The edits that make stage 1 of a file of `data`; of a terminal's bytes, one of that many cells.

    What they leave was looked at again and holds nothing. Raises NotProven where the bytes cannot be told for certain.
    """
    spans: dict[Kind, list[Span]] = {"credential": [], "token": [], "picture": []}
    left = data
    for _ in range(_ROUNDS):
        found = _Found(known, columns, rows)
        found.look_into(Text(left))
        # What is covered already is not covered again: an asterisk stays one.
        more: dict[Kind, list[Span]] = {"credential": found.values, "token": found.tokens, "picture": found.pictures}
        if not any(more.values()):
            return edits(spans)
        spans = {kind: union(spans[kind] + union(more[kind])) for kind in spans}
        left = apply_to_bytes(data, edits(spans))
    raise NotProven("a known value can still be read after masking")


def edits(spans: dict[Kind, list[Span]]) -> tuple[Edit, ...]:
    """One edit for each span; where two kinds meet, the first one named has it."""
    taken: list[Span] = []
    made: list[Edit] = []
    for kind, wanted in spans.items():
        own = without(union(wanted), taken)
        made += [Edit(event=None, offset=start, length=end - start, kind=kind) for start, end in own]
        taken = union(taken + own)
    return tuple(sorted(made, key=lambda edit: edit.offset))


class _Found:
    """Collects the spans of one look at a file."""

    def __init__(self, known: Known, columns: int, rows: int) -> None:
        self._known = known
        self._size = columns, rows
        self._budget = DECODED_BYTES
        self.values: list[Span] = []
        self.tokens: list[Span] = []
        self.pictures: list[Span] = []

    def look_into(self, text: Text, depth: int = 0) -> None:
        """Looks for all in a text that may hold escape sequences."""
        if b"\x1b" not in text.text and b"\xc2\x9b" not in text.text:
            self._look_deeper(text, depth)
        else:
            self._look(text)
            for plain in without_escapes(text):
                if plain is not None:
                    self._look_deeper(plain, depth)
        if depth == 0:
            # What a picture shows cannot be looked for; without a value there is nothing to look for.
            self.pictures += pictures(text.text) if self._known.values else []
            shown = screen(text, *self._size)
            if shown is not None:
                self._look_at_screen(*shown)

    def _look_deeper(self, text: Text, depth: int) -> None:
        self._look(text)
        if depth == 0:
            self.values += _around_dots(text, self._known.ends)
        if depth >= DEPTH:
            return
        reach = self._known.reach
        for read in (decoders.percent, decoders.entities, decoders.backslashes):
            self._read(read(text, reach), depth + 1)
        for run in decoders.runs(text, self._known.engine):
            self._read(run, depth + 1)
        for read in (decoders.quoted_printable, decoders.literals, decoders.compatible):
            self._look_flat(read(text, reach))
        if depth == 0 or len(text.text) < _SMALL:
            # An escape can itself be spaced out or wrapped.
            printed = Inside(solid(text, lower=False), joined=True)
            for read in (decoders.percent, decoders.entities, decoders.backslashes):
                self._read(read(printed, reach), depth + 1)
        if depth == 0:
            self._look_flat(decoders.unnumbered(text))
            for columns in decoders.dumps(text):
                self._look_flat(columns)

    def _read(self, text: Text | None, depth: int) -> None:
        if text is not None:
            self._budget -= len(text.text)
            if self._budget < 0:
                raise NotProven(f"more than {DECODED_BYTES} bytes are encoded, and what they hold was not looked at")
            self.look_into(text, depth)

    def _look_flat(self, text: Text | None) -> None:
        if text is not None:
            self._look(text)
            for run in decoders.runs(text, self._known.engine):
                self._read(run, 1)

    def _look(self, text: Text) -> None:
        self.values += self._known_in(text)
        for start, end in tokens(text.text, self._known.engine):
            self.tokens += text.resolve(start, end)

    def _look_at_screen(self, shown: Text, certain: bool) -> None:
        spans = list(self._known_in(shown))
        shaped = [span for token in tokens(shown.text, self._known.engine) for span in shown.resolve(*token)]
        if (spans or shaped) and not certain:
            raise NotProven("the screen shows a value whose bytes cannot be told for certain")
        self.values += spans
        self.tokens += shaped

    def _known_in(self, text: Text) -> Iterator[Span]:
        known = self._known
        for finder, squeeze in ((known.tight, tight), (known.solid, solid)):
            squeezed = squeeze(text)
            for hit in finder.find(squeezed.text):
                yield from squeezed.spans(hit.start, hit.end)
                if hit.form.encoded and not text.joined:
                    for at in (squeezed.place(hit.start), squeezed.place(hit.end - 1)):
                        yield from text.resolve(*_run(text.text, at, at + 1))


def _run(data: bytes, first: int, last: int) -> Span:
    """The encoded run of one line that `first` up to `last` stands in."""
    while first and data[first - 1] in _ENCODED:
        first -= 1
    while last < len(data) and data[last] in _ENCODED:
        last += 1
    return first, last


def _around_dots(text: Text, ends: tuple[tuple[bytes, int], ...]) -> Iterator[Span]:
    """What is left of a value that a program shortened to its beginning, dots and its end."""
    data = text.text
    for dots in _ELLIPSIS.finditer(data) if ends else ():
        first, last = dots.span()
        for value, public in ends:
            before = _beginning(value, data[max(0, first - len(value)) : first])
            after = _beginning(value[::-1], data[last : last + len(value)][::-1])
            if max(0, before - public) + after >= _SHOWN_AROUND and before != public:
                yield from text.resolve(first - before, first)
                yield from text.resolve(last, last + after)


def _beginning(value: bytes, data: bytes) -> int:
    """With how many first characters of `value` does `data` end?"""
    at = -1
    if data:
        at = value.rfind(data[-_LOOKED_AT:])
    while at >= 0:
        size = at + len(data[-_LOOKED_AT:])
        if data.endswith(value[:size]):
            return size
        at = value.rfind(data[-_LOOKED_AT:], 0, at + len(data[-_LOOKED_AT:]) - 1)
    return 0
