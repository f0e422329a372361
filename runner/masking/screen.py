"""What a terminal showed where the cursor was moved: the text of each row, and of every cell the byte that drew it.

Output that only adds lines is read as it stands; here are the rows that were touched by backspaces, carriage returns
and cursor addressing. A row is told each time before something on it is overwritten, and at the end.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from itertools import pairwise
from typing import NamedTuple

from runner.masking.escapes import SEQUENCE
from runner.masking.not_proven import NotProven
from runner.masking.text import Piece, Span, Text, made, union, without

_COLOUR = re.compile(rb"\x1b\[[0-9;:]*m")
_UP_AND_DOWN = re.compile(rb"\x1b\[[0-9;?]*[ABEFHJLMSTdefhlrsu]|\x1b[78DEMc]|[\x0b\x0c]")
_ALONG = re.compile(rb"\x08|\r(?!\r*(?:\n|\Z))|\x1b\[[0-9;]*[CDGKPX@`abI]")
_START_AGAIN = re.compile(rb"\r|\x1b\[1?G|\x1b\[[02]?K")
_MOVES = re.compile(rb"\x08|\r(?![\r\n]|\Z)|\x1b\[[0-9;?]*[A-HJKLMPSTX`adefhlrsu@bI]|\x1b[78DEMc]|[\x0b\x0c]")
_SPECIAL = re.compile(rb"[\x00-\x1a\x1c-\x1f\x7f]|" + SEQUENCE.pattern)
_ALTERNATE = frozenset(b"?%d" % number for number in (47, 1047, 1049))
_PLAIN = bytes(range(0x20, 0x7F))
_SHOWN_BYTES = 64 << 20
_TAB = 8
_LAST_COLUMN = 4096


class Shown(NamedTuple):
    """Told rows: their cells' bytes (not ASCII: 0) and the place that each was drawn from."""

    cells: bytearray
    places: array[int]


class _Row:
    """Cells of one line of the screen."""

    __slots__ = ("cells", "mark", "places", "touched", "untold")

    def __init__(self) -> None:
        self.cells = bytearray()
        self.places: array[int] = array("q")
        self.touched = False
        self.untold = False
        self.mark = 0
        """Cells drawn from here on were not told yet."""

    def put(self, column: int, data: bytes, at: int) -> None:
        """Draws ASCII."""
        if column > len(self.cells):
            self.blank(column)
        end = column + len(data)
        self.cells[column:end] = data
        self.places[column:end] = array("q", range(at, at + len(data)))

    def loses(self, column: int, data: bytes) -> bool:
        """Whether `data` drawn there hides something that was not told yet."""
        end = column + len(data)
        old = self.cells[column:end]
        return old != data[: len(old)] and bool(old.strip(b" \0")) and max(self.places[column:end]) >= self.mark

    def blank(self, width: int) -> None:
        gap = width - len(self.cells)
        self.cells += b" " * gap
        self.places.extend([-1] * gap)


class Screen:
    """Feeds bytes, tells rows."""

    def __init__(self, columns: int, rows: int) -> None:
        self._columns, self._height = columns, rows
        self._rows: dict[int, _Row] = {}
        self._line = self._column = self._top = 0
        self._saved = (0, 0)
        self.shown = Shown(bytearray(), array("q"))
        self.certain = True
        """False once a sequence came whose effect on the cells is not followed here."""

    def feed(self, data: bytes, start: int, end: int) -> None:
        """A stretch of a stream; it begins with an empty screen."""
        for move in _MOVES.finditer(data, start, end):
            if move.start() < start:
                continue
            self._plain(data, start, move.start())
            self._move(data, move)
            start = move.end()
            if len(self.shown.cells) > _SHOWN_BYTES:
                raise NotProven("a screen that is drawn over more often than can be followed")
        self._plain(data, start, end)
        self._fresh()

    def _plain(self, data: bytes, start: int, end: int) -> None:
        """Text and what only colours it; only the last screenful of it can still be touched."""
        cut = end
        for _ in range(self._height + 1):
            cut = data.rfind(b"\n", start, cut)
            if cut < 0:
                break
        else:
            self._tell_all()
            self._rows.clear()
            self._line += self._height
            self._top, self._column, start = self._line, 0, cut + 1
        at = start
        for special in _SPECIAL.finditer(data, start, end):
            self._draw(data, at, special.start())
            at = special.end()
            byte = data[special.start()]
            if byte == 0x0A:
                self._down(1)
                # A pipe's output has bare line feeds, which a terminal driver turns into both.
                self._column = 0
            elif byte == 0x0D:
                self._column = 0
            elif byte == 0x09:
                self._column = min(self._columns - 1, (self._column // _TAB + 1) * _TAB)
        self._draw(data, at, end)

    def _draw(self, data: bytes, start: int, end: int) -> None:
        if start >= end:
            return
        text = data[start:end]
        if text.isascii():
            while text:
                if self._column >= self._columns:
                    self._down(1)
                    self._column = 0
                part = text[: self._columns - self._column]
                self._put(part, start)
                start, text = start + len(part), text[len(part) :]
            return
        for character in text.decode("utf-8", "surrogateescape"):
            size = len(character.encode("utf-8", "surrogateescape"))
            width = 1 if size == 1 else _cells(character)
            if self._column + width > self._columns:
                self._down(1)
                self._column = 0
            if width:
                self._put(character.encode() if size == 1 and ord(character) < 128 else b"\0" * width, start)
            start += size

    def _put(self, part: bytes, at: int) -> None:
        row = self._row()
        if row.touched and row.untold and row.loses(self._column, part):
            self._tell(row)
            row.mark = at
        row.put(self._column, part, at)
        row.untold = True
        self._column += len(part)

    def _row(self) -> _Row:
        row = self._rows.get(self._line)
        if row is None:
            row = self._rows[self._line] = _Row()
        return row

    def _down(self, count: int) -> None:
        self._line += count
        if self._line >= self._top + self._height:
            top = self._line - self._height + 1
            for line in range(self._top, min(top, self._top + self._height)):
                row = self._rows.pop(line, None)
                if row is not None:
                    self._tell(row)
            self._top = top

    def _tell(self, row: _Row) -> None:
        if row.touched and row.untold:
            self.shown.cells.extend(row.cells)
            self.shown.places.extend(row.places)
        row.untold = False

    def _tell_all(self) -> None:
        if any(row.touched and row.untold for row in self._rows.values()):
            # A value that runs over rows is read over them: the rows around a touched one are told with it.
            for line in sorted(self._rows):
                self._rows[line].touched = self._rows[line].untold = True
                self._tell(self._rows[line])

    def _touch(self) -> None:
        row = self._row()
        row.touched = True

    def _move(self, data: bytes, move: re.Match[bytes]) -> None:
        whole = move[0]
        self._touch()
        if whole == b"\x08":
            self._column = max(0, min(self._column, self._columns - 1) - 1)
        elif whole == b"\r":
            self._column = 0
        elif whole in (b"\x0b", b"\x0c"):
            self._down(1)
        elif whole[1:2] != b"[":
            self._single(whole[1:])
        else:
            self._control(whole[2:-1], whole[-1:])
        self._touch()

    def _single(self, code: bytes) -> None:
        if code == b"7":
            self._saved = (self._line - self._top, self._column)
        elif code == b"8":
            self._line, self._column = self._top + self._saved[0], self._saved[1]
        elif code in (b"D", b"E"):
            self._down(1)
            self._column = 0 if code == b"E" else self._column
        elif code == b"M":
            if self._line > self._top:
                self._line -= 1
            else:
                self.certain = False
        else:
            self._fresh()

    def _control(self, parameters: bytes, code: bytes) -> None:
        if parameters[:1] == b"?":
            if code in b"hl" and _ALTERNATE & {b"?" + part.lstrip(b"?") for part in parameters.split(b";")}:
                self._fresh()
            return
        numbers = [int(part) if part.isdigit() else 0 for part in parameters.split(b";")]
        count = min(max(1, numbers[0]), _LAST_COLUMN)
        if code in b"Hf":
            column = numbers[1] if len(numbers) > 1 else 1
            self._go(count - 1, max(1, column) - 1)
        elif code in b"ABFEde":
            here = self._line - self._top
            line = {b"A": here - count, b"F": here - count, b"d": count - 1}.get(code, here + count)
            self._go(line, 0 if code in b"EF" else self._column)
        elif code in b"CDG`a":
            columns = {b"C": self._column + count, b"a": self._column + count, b"D": self._column - count}
            self._go(self._line - self._top, columns.get(code, count - 1))
        elif code == b"K":
            self._erase(self._row(), numbers[0])
        elif code == b"J":
            self._erase_screen(numbers[0])
        elif code == b"s":
            self._saved = (self._line - self._top, self._column)
        elif code == b"u":
            self._go(*self._saved)
        elif code in b"PX@":
            self._shift(self._row(), count, code)
        elif code in b"LMSTrbI" or (code in b"hl" and b"4" in parameters.split(b";")):
            self._tell_all()
            self.certain = self.certain and code == b"r" and parameters in (b"", b"1;%d" % self._height)

    def _go(self, line: int, column: int) -> None:
        self._line = self._top + min(max(0, line), self._height - 1)
        self._column = min(max(0, column), self._columns - 1)

    def _erase(self, row: _Row, how: int) -> None:
        self._tell(row)
        row.blank(max(len(row.cells), self._column + 1))
        first, last = {0: (self._column, len(row.cells)), 1: (0, self._column + 1)}.get(how, (0, len(row.cells)))
        row.cells[first:last] = b" " * (last - first)
        if last == len(row.cells):
            del row.cells[first:], row.places[first:]

    def _erase_screen(self, how: int) -> None:
        self._tell_all()
        if how == 0:
            gone = [line for line in self._rows if line > self._line]
        elif how == 1:
            gone = [line for line in self._rows if line < self._line]
        else:
            gone = list(self._rows)
        for line in gone:
            del self._rows[line]
        if how < 2:
            self._erase(self._row(), how)

    def _shift(self, row: _Row, count: int, code: bytes) -> None:
        self._tell(row)
        at = self._column
        row.blank(max(len(row.cells), at))
        if code == b"@":
            row.cells[at:at] = b" " * count
            row.places[at:at] = array("q", [-1] * count)
        elif code == b"P":
            del row.cells[at : at + count], row.places[at : at + count]
        else:
            row.cells[at : at + count] = b" " * len(row.cells[at : at + count])
        row.untold = True

    def _fresh(self) -> None:
        """A cleared screen, or the other one."""
        self._tell_all()
        self._rows.clear()
        self._line = self._top
        self._column = 0


def screen(text: Text, columns: int, rows: int) -> tuple[Text, bool] | None:
    """The rows that cursor movement touched as a text, and whether its cells are certain; None where there are none."""
    data = text.text
    pieces: list[Piece] = []
    bounds = [0]
    for start, end in stretches(data, rows):
        size = bounds[-1]
        for colour in (*_COLOUR.finditer(data, start, end), None):
            upto = colour.start() if colour else end
            pieces.append(Piece(start, upto, data[start:upto]))
            size += upto - start
            start = colour.end() if colour else end
        bounds.append(size)
    plain = made(text, pieces)
    made_of = Screen(columns, rows)
    for start, end in pairwise(bounds):
        if not _redrawn(plain.text, start, end, columns, made_of.shown):
            made_of.feed(plain.text, start, end)
    return (_Drawn(made_of.shown, plain), made_of.certain) if made_of.shown.cells else None


def stretches(data: bytes, rows: int) -> list[Span]:
    """Where the screen must be drawn: the screenfuls around what moves the cursor between rows, and single lines."""
    found: list[Span] = []
    for move in _UP_AND_DOWN.finditer(data):
        start, end = move.span()
        if found and end <= found[-1][1]:
            continue
        for _ in range(rows + 1):
            start = data.rfind(b"\n", 0, start)
            if start < 0:
                break
        for _ in range(rows + 1):
            end = data.find(b"\n", end) + 1
            if not end:
                end = len(data)
                break
        found.append((start + 1, end))
    found = union(found)
    lines, past = [], 0
    for move in _ALONG.finditer(data):
        if move.start() >= past:
            start, past = data.rfind(b"\n", 0, move.start()) + 1, data.find(b"\n", move.end()) + 1 or len(data)
            lines.append((start, past))
    return sorted(found + [line for line in lines if without([line], found)])


def _redrawn(data: bytes, start: int, end: int, columns: int, shown: Shown) -> bool:
    """Tells the rows of a line that is only drawn again from its beginning, as progress bars are; False for any other.

    Only a row on which something of an earlier drawing is left is told: the others can be read as they stand.
    """
    line = data[start:end].rstrip(b"\r\n")
    row, row_places = b"", array("q")
    frame, frame_places = b"", array("q")
    at, told = 0, len(shown.cells)
    for again in (*_START_AGAIN.finditer(line), None):
        part = line[at : again.start() if again else len(line)]
        if not part.isascii() or part.translate(None, _PLAIN) or len(frame) + len(part) > columns:
            del shown.cells[told:], shown.places[told:]
            return False
        frame += part
        frame_places.extend(range(start + at, start + at + len(part)))
        at = again.end() if again else len(line)
        if again is not None and again[0][-1:] == b"K":
            size = len(frame)
            if b"2" in again[0]:
                row, frame, frame_places = b"", b" " * size, array("q", [-1] * size)
            row, row_places = row[:size], row_places[:size]
            continue
        if frame and len(row) > len(frame):
            frame += row[len(frame) :]
            frame_places.extend(row_places[len(frame_places) :])
            shown.cells.extend(frame)
            shown.places.extend(frame_places)
        if frame:
            row, row_places = frame, frame_places
        frame, frame_places = b"", array("q")
    return True


class _Drawn(Text):
    """Told rows, each cell of which leads back to the byte that drew it."""

    def __init__(self, shown: Shown, parent: Text) -> None:
        super().__init__(bytes(shown.cells), parent)
        self._places, self._from = shown.places, parent

    def resolve(self, start: int, end: int) -> list[Span]:
        places = (place for place in self._places[start:end] if place >= 0)
        return [span for cell in union((at, at + 1) for at in places) for span in self._from.resolve(*cell)]


def _cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Me", "Mn"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
