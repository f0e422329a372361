"""Every way in which one file is looked at."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal, NamedTuple

from audit.cleanliness import escapes
from audit.cleanliness.cast import cast, is_cast
from audit.cleanliness.decoders import Decoded
from audit.cleanliness.doubt import Incomplete
from audit.cleanliness.known import Spelling
from audit.cleanliness.screen import rendered
from audit.cleanliness.squeeze import letters, squeezed, unnumbered
from audit.cleanliness.written import written

Form = Literal["asciicast", "text", "binary"]
COLUMNS, ROWS = 120, 40
"""Of a terminal whose file does not say its size (MEASUREMENT §10)."""


class Sight(NamedTuple):
    """One view, or a part of one."""

    view: str
    seen: bytes
    spelling: Spelling = "exact"
    rubbish: bool = False
    """What decoding gave, most of which means nothing."""


class File:
    """One file and what it says. Raises Incomplete where it is a recording that cannot be read."""

    def __init__(self, name: str, data: bytes, *, hiding: bool = True, as_text: bool = False) -> None:
        """`hiding` says that there are values to hide, so that what no view reads cannot be let through. `as_text`
        reads a recording as if it were none."""
        self.hiding = hiding
        self.name, self.data = name, data
        self.form: Form
        self.strings = ""
        self._plain = dict[str, str]()
        self.sizes = [(COLUMNS, ROWS)]
        self._beside = ""
        if not as_text and (name.endswith(".cast") or is_cast(data)):
            self.form = "asciicast"
            told = cast(data)
            self.sizes = told.sizes
            self.strings = "\n".join(told.strings)
            self.texts = list(told.joined.values())
        else:
            text = data.decode("utf-8", "replace")
            self.form = "binary" if text.count("\ufffd") > len(text) // 10 else "text"
            said = written(text)
            self.strings, whole = said or ("", False)
            # Beside JSON that is only some of its lines, the text itself is decoded too.
            self.texts = [one for one in (self.strings, "" if whole else text) if one]
            self._beside = text if whole else ""
        self.decoded = Decoded()

    @cached_property
    def plain(self) -> bytes:
        """The texts without escape sequences."""
        return _bytes("\n\n".join(self._stripped(text) for text in self.texts))

    def _stripped(self, text: str) -> str:
        if text not in self._plain:
            self._plain[text] = escapes.stripped(text)
        return self._plain[text]

    def sights(self) -> Iterator[Sight]:
        """All views but those that are drawn, each to its end. Raises Incomplete where one has none."""
        yield Sight("bytes", self.data)
        yield Sight("strings", _bytes(self.strings))
        for text in self._all():
            yield from self._text(text, decode=text is not self._beside)
        for found in self.decoded.of_packed(self.data):
            yield Sight("decoded", found, rubbish=True)

    def drawn(self) -> Iterator[Sight]:
        """The views that a terminal draws, each to its end. Raises Incomplete where one has none."""
        for text in self._all():
            for columns, rows in self.sizes:
                shown = rendered(escapes.mended(text), columns, rows)
                yield Sight("rendered", _bytes(shown))
                if shown:
                    yield from _tight("rendered", shown)
                    # What also went by as a line is decoded there.
                    lines = set(self._stripped(text).split("\n"))
                    only = "\n".join(row for row in shown.split("\n") if row not in lines)
                    for found in self.decoded.of(only) if only else ():
                        yield Sight("decoded", found, rubbish=True)

    def _all(self) -> Iterator[str]:
        """Every text of the file, each once; the text of a file of JSON beside what it says."""
        yield from self.texts
        if self.form == "asciicast":
            yield self.strings
        if self._beside:
            yield self._beside

    def _text(self, text: str, decode: bool) -> Iterator[Sight]:
        yield Sight("joined", _bytes(text))
        text = escapes.mended(text)
        carried = escapes.payloads(text)
        yield Sight("payloads", _bytes(carried))
        if self.hiding and escapes.draws_pictures(text):
            raise Incomplete("payloads", "a picture is in an escape sequence, and no view reads pictures")
        plain = self._stripped(text)
        yield Sight("stripped", _bytes(plain))
        yield from _tight("squeezed", plain)
        yield Sight("unnumbered", letters(squeezed(unnumbered(plain))), "letters")
        if carried:
            yield from _tight("payloads", carried)
        yield Sight("letters", letters(squeezed(text)), "letters")
        if decode:
            for one in (plain, carried):
                for found in self.decoded.of(one) if one else ():
                    yield Sight("decoded", found, rubbish=True)


def _tight(view: str, text: str) -> Iterator[Sight]:
    small = squeezed(text)
    yield Sight(view, small.lower(), "squeezed")
    yield Sight(view, small, "squeezed")
    yield Sight("reversed", small[::-1].lower(), "squeezed")
    yield Sight("letters", letters(small), "letters")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
