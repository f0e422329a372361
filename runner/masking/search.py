"""Many strings looked for at once, whole or in part, in a squeezed text.

Of every string short seeds are looked for by an engine (hyperscan, else Aho-Corasick); from each seed that is found the
match is grown to both sides, so that a part is found wherever it begins and ends. Both engines give the same matches.
"""

from __future__ import annotations

import importlib.util
import re
import threading
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Literal, NamedTuple

Engine = Literal["hyperscan", "ahocorasick"]
_one_at_a_time = threading.Lock()
"""A compiled database has one scratch space: two attempts that end together must not search in it at once."""


class Form(NamedTuple):
    """One spelling of a value, lower case, squeezed as the text it is looked for in."""

    text: bytes
    least: int
    """A part of so many bytes is a match."""
    seed: int
    """Length of what the engine looks for; at most `least`."""
    encoded: bool
    """The encoded run around a match carries bits of the value too."""


class Hit(NamedTuple):
    """A match: places in the squeezed text, and what matched."""

    start: int
    end: int
    form: Form


class Finder:
    """Finds the forms it was made with."""

    def __init__(self, forms: Iterable[Form], engine: Engine | None = None) -> None:
        """Without `engine`: hyperscan where it is installed."""
        self._seeds: dict[bytes, list[tuple[Form, int]]] = {}
        for form in dict.fromkeys(forms):
            seed = min(form.seed, form.least)
            for at in range(0, len(form.text) - seed + 1, form.least - seed + 1):
                self._seeds.setdefault(form.text[at : at + seed], []).append((form, at))
        self._words = sorted(self._seeds)
        self.engine: Engine = engine or default_engine()
        self._compiled: Any = None

    def find(self, text: bytes) -> Iterator[Hit]:
        """Every longest match of at least `least` bytes, once; `text` is in lower case."""
        if not self._words:
            return
        seen: set[Hit] = set()
        for start, word in self.seeds(text):
            for form, at in self._seeds[word]:
                hit = _grown(text, start, form, at, len(word))
                if hit.end - hit.start >= form.least and hit not in seen:
                    seen.add(hit)
                    yield hit

    def seeds(self, text: bytes) -> list[tuple[int, bytes]]:
        """Where which seed stands, in order."""
        found = self._by_hyperscan(text) if self.engine == "hyperscan" else self._by_automaton(text)
        return sorted(found)

    def _by_hyperscan(self, text: bytes) -> list[tuple[int, bytes]]:
        if not text:
            return []
        with _one_at_a_time:
            return self._scanned(text)

    def _scanned(self, text: bytes) -> list[tuple[int, bytes]]:
        import hyperscan

        if self._compiled is None:
            self._compiled = hyperscan.Database()
            self._compiled.compile(
                expressions=self._words, ids=list(range(len(self._words))), elements=len(self._words), literal=True
            )
        found: list[tuple[int, bytes]] = []
        words = self._words

        def on_match(number: int, _start: int, end: int, _flags: int, _context: Any) -> None:
            found.append((end - len(words[number]), words[number]))

        self._compiled.scan(text, on_match)
        return found

    def _by_automaton(self, text: bytes) -> list[tuple[int, bytes]]:
        import ahocorasick

        if self._compiled is None:
            self._compiled = ahocorasick.Automaton()
            for word in self._words:
                self._compiled.add_word(word.decode("latin-1"), word)
            self._compiled.make_automaton()
        # The automaton is made for characters; latin-1 makes one of every byte.
        return [(end - len(word) + 1, word) for end, word in self._compiled.iter(text.decode("latin-1"))]


class Starts:
    """Where a pattern of one fixed length begins; hyperscan looks where it is installed, else `re`, with one result."""

    def __init__(self, pattern: bytes, length: int) -> None:
        self._pattern, self._length = pattern, length
        self._ahead = re.compile(b"(?=" + pattern + b")")
        self._compiled: Any = None

    def find(self, text: bytes, engine: Engine | None = None) -> list[int]:
        """Every place, overlapping ones too, in order."""
        if (engine or default_engine()) != "hyperscan":
            return [match.start() for match in self._ahead.finditer(text)]
        if not text:
            return []
        import hyperscan

        ends: list[int] = []
        with _one_at_a_time:
            if self._compiled is None:
                self._compiled = hyperscan.Database()
                self._compiled.compile(expressions=[self._pattern], ids=[0], elements=1)
            self._compiled.scan(text, lambda _number, _start, end, _flags, _context: ends.append(end))
        return [end - self._length for end in ends]


@cache
def default_engine() -> Engine:
    """hyperscan where it is installed."""
    return "hyperscan" if importlib.util.find_spec("hyperscan") else "ahocorasick"


def _grown(text: bytes, start: int, form: Form, at: int, size: int) -> Hit:
    value = form.text
    end, stop = start + size, at + size
    while at and start and text[start - 1] == value[at - 1]:
        start, at = start - 1, at - 1
    while stop < len(value) and end < len(text) and text[end] == value[stop]:
        end, stop = end + 1, stop + 1
    return Hit(start, end, form)
