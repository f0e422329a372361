"""The known values, kept only as disguised fragments, and the search for them.

A value is cut into all its runs of twelve characters; a shorter one is searched whole. The bytes of each fragment and
of each view are exchanged by one secret permutation, drawn anew for each process, so what stays in memory is not what a
core file, a swapped page, a traceback or a careless print can be read by. It is a disguise and no encryption: the
permutation lies in the same memory, and who can read all of that and knows how can undo it.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable
from typing import BinaryIO, Literal

from audit.cleanliness.doubt import Unusable
from audit.cleanliness.squeeze import letters, squeezed

Spelling = Literal["exact", "squeezed", "letters"]
"""How the bytes of a view are written: as they are, squeezed and in lower case, or letters and digits alone."""

GRAM = 12
SHORTEST = 8
"""Characters: a shorter value is a word that stands in any log."""
SHORTEST_LINE = 6
"""Characters: a shorter line of a value of several lines is a brace or nothing."""
PUBLIC = (b"sk-or-v1-", b"sk-ant-api03-", b"sk-ant-admin01-", b"sk-proj-", b"github_pat_", b"pypi-AgEIcHlwaS5vcmc")
"""Beginnings that all keys of a provider share."""
_ARMOUR = re.compile(rb"-+(BEGIN|END) [A-Z0-9 ]+-+")


def told(source: BinaryIO) -> list[str]:
    """The values on `source`, JSON strings or plain, one a line, until the empty line that ends the list.

    Raises Unusable without that line: the list is cut off, and a check against half of it would prove nothing. For the
    same reason nothing may follow that line, and no value may be one of which nothing would be searched.
    """
    values: list[str] = []
    for number, line in enumerate(iter(source.readline, b""), 1):
        if line in (b"\n", b"\r\n"):
            if source.read(1):
                raise Unusable(f"the list of known values goes on after its end in line {number}; nothing was checked")
            return values
        try:
            text = line.decode("utf-8").rstrip("\r\n")
            value = json.loads(text) if text.startswith('"') else text
        except ValueError:
            raise Unusable(f"line {number} of the known values is no JSON string") from None
        if not isinstance(value, str) or len(value) < SHORTEST:
            raise Unusable(f"line {number} of the known values is shorter than {SHORTEST} characters")
        if not _grams(value.encode("utf-8", "surrogatepass")):
            raise Unusable(f"line {number} of the known values holds nothing that could be searched")
        values.append(value)
    raise Unusable("the list of known values does not end with an empty line; nothing was checked")


class Fragments:
    """What is searched for, for each spelling in which a view can be; letters and digits backwards too."""

    def __init__(self, values: Iterable[str]) -> None:
        order = list(range(256))
        random.SystemRandom().shuffle(order)
        self._disguise = bytes(order)
        exact, tight, alone, self.known = set[bytes](), set[bytes](), set[bytes](), 0
        for value in values:
            self.known += 1
            lines = [value, *(line for line in value.splitlines() if line != value and len(line) >= SHORTEST_LINE)]
            for line in lines:
                exact |= _grams(line.encode("utf-8", "surrogatepass"))
                small = squeezed(line).lower()
                # Short lines of a longer value are common words once nothing separates words any more.
                if line is value or len(small) >= GRAM:
                    tight |= _grams(small)
                # Fewer letters than a fragment would be found in words.
                if len(only := letters(small)) >= GRAM:
                    alone |= _grams(only) | {gram[::-1] for gram in _grams(only)}
        self._searchers: dict[Spelling, _Searcher | None] = {
            "exact": self._searcher(exact),
            "squeezed": self._searcher(tight),
            "letters": self._searcher(alone),
        }

    def inside(self, view: bytes, spelling: Spelling = "exact") -> bool:
        """Whether any fragment is in `view`, which is written in that spelling."""
        if (searcher := self._searchers[spelling]) is None:
            return False
        found: list[int] = []
        searcher.scan(view.translate(self._disguise), match_event_handler=lambda *_: found.append(1))
        return bool(found)

    def _searcher(self, grams: set[bytes]) -> _Searcher | None:
        return _Searcher([gram.translate(self._disguise) for gram in grams]) if grams else None


class _Searcher:
    """Literal search for many fragments in one pass."""

    def __init__(self, fragments: list[bytes]) -> None:
        import hyperscan

        self._scan = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        patterns = ["".join(f"\\x{byte:02x}" for byte in one).encode() for one in fragments]
        self._scan.compile(patterns, flags=hyperscan.HS_FLAG_DOTALL | hyperscan.HS_FLAG_SINGLEMATCH)
        self.scan = self._scan.scan


def _grams(value: bytes) -> set[bytes]:
    """All runs of twelve of `value`, or itself; without what is public, or one character over and over."""
    if _ARMOUR.fullmatch(value) or len(value) < SHORTEST_LINE:
        return set()
    grams = {value[at : at + GRAM] for at in range(max(1, len(value) - GRAM + 1))}
    public = [known for prefix in PUBLIC for known in (prefix.lower(), letters(prefix))]
    return {gram for gram in grams if len(set(gram)) > 1 and not any(gram.lower() in one for one in public)}
