"""Stage 2: private keys that a tested project made, by structure: bodies masked, headers kept (MEASUREMENT §10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from archive.edits import Edit, apply_to_bytes
from runner.masking import decoders
from runner.masking.escapes import without_escapes
from runner.masking.key_blocks import blocks, shapes
from runner.masking.key_der import der
from runner.masking.key_fields import fields
from runner.masking.key_mnemonics import mnemonics
from runner.masking.look import edits
from runner.masking.not_proven import NotProven
from runner.masking.search import Engine, Finder, Form
from runner.masking.text import LOWER, NOT_ALNUM, Span, Text, tight, union, without

DEPTH = 3
_ROUNDS = 4
_REACH = 4096
_SMALL = 1 << 18
"""In a longer text that was made from the file's own words are looked for once."""
_LEAST_OF_A_BODY = 24
"""A part of a body that stands somewhere else is masked from so many characters on."""

_SEEN_BEFORE = 6
"""So many characters after a sign say that it is the body's."""


def keys(data: bytes, engine: Engine | None = None) -> tuple[Edit, ...]:
    """The edits that mask every private key in `data`; looking again finds none. Raises NotProven."""
    spans: list[Span] = []
    left = data
    for _ in range(_ROUNDS):
        looked = _Keys(engine)
        looked.look_into(Text(left), 0)
        looked.look_for_parts(left)
        more = union(looked.spans)
        if not more:
            return edits({"key": spans})
        spans = union(spans + more)
        left = apply_to_bytes(data, edits({"key": spans}))
    raise NotProven("a private key can still be read after masking")


class _Keys:
    """One look for keys in a file."""

    def __init__(self, engine: Engine | None) -> None:
        self._engine = engine
        self.spans: list[Span] = []
        self._texts: list[Text] = []
        self._bodies: dict[bytes, bytes] = {}
        """Letters and digits of what was found; and all its letters of base64, as they stand."""

    def look_into(self, text: Text, depth: int) -> None:
        """Looks for all in a text and in what stands encoded in it."""
        plain, carried = without_escapes(text) if b"\x1b" in text.text else (text, None)
        for one in (plain, carried):
            if one is not None:
                self._look(one, depth)

    def _look(self, text: Text, depth: int) -> None:
        self._take(text)
        self._texts.append(text)
        if depth >= DEPTH:
            return
        for child in self._children(text, depth):
            self.look_into(child, depth + 1)

    def _take(self, text: Text) -> None:
        """Looks in `text` itself."""
        looks: list[Callable[[Text], Iterator[Span]]] = [blocks, shapes, partial(fields, engine=self._engine), der]
        if not self._texts or len(text.text) < _SMALL:
            looks.append(mnemonics)
        for look in looks:
            found = list(look(text))
            for start, end in found:
                self.spans += text.resolve(start, end)
            letters = b"".join(text.text[start:end] for start, end in found)
            body = letters.translate(LOWER, NOT_ALNUM)
            if len(body) >= _LEAST_OF_A_BODY and look is not mnemonics:
                self._bodies[body] = letters

    def _children(self, text: Text, depth: int) -> Iterator[Text]:
        yield from (
            child
            for child in (
                decoders.backslashes(text, _REACH),
                decoders.entities(text, _REACH),
                decoders.percent(text, _REACH),
            )
            if child is not None
        )
        yield from decoders.runs(text, self._engine)
        if depth == 0:
            for lines in (decoders.unnumbered(text), *decoders.dumps(text)):
                if lines is not None:
                    self._take(lines)
                    self._texts.append(lines)
                    for run in decoders.runs(lines, self._engine):
                        self.look_into(run, 1)

    def look_for_parts(self, data: bytes) -> None:
        """The tail or another part of a body, shown without its header somewhere else."""
        if not self._bodies:
            return
        parts = Finder((Form(body, _LEAST_OF_A_BODY, 16, False) for body in self._bodies), self._engine)
        taken = union(self.spans)
        for text in self._texts:
            squeezed = tight(text)
            for hit in parts.find(squeezed.text):
                part = union(squeezed.spans(hit.start, hit.end))
                # A letter or two that the words beside it share with the body are no part of it.
                while len(part) > 1 and part[0][1] - part[0][0] <= 2 and part[1][1] - part[1][0] > 2:
                    part = part[1:]
                while len(part) > 1 and part[-1][1] - part[-1][0] <= 2 and part[-2][1] - part[-2][0] > 2:
                    part = part[:-1]
                # What touches a body that was found by itself may only happen to go on as it does.
                if sum(end - start for start, end in without(part, taken)) >= _LEAST_OF_A_BODY:
                    letters = self._bodies[hit.form.text]
                    self.spans += [_with_signs(data, start, end, letters) for start, end in part]


def _with_signs(data: bytes, start: int, end: int, letters: bytes) -> Span:
    """The letters of base64 that are neither letters nor digits belong to the part they follow.

    Before it they do where they stand in the body, too: else they are the sign of a diff or the end of a path.
    """
    while data[end : end + 1] in (b"+", b"/", b"="):
        end += 1
    while data[start - 1 : start] in (b"+", b"/") and data[start - 1 : start + _SEEN_BEFORE] in letters:
        start -= 1
    return start, end
