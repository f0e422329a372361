"""What a terminal shows: a screen of its own, drawn only where the cursor is moved, and every row before it is lost.

A sequence that is on no reviewed list withholds: what it does to the screen of a reader is not known.

Programs put characters where they want them: over others, backwards, in two halves. So each row is kept as it stood
before something was written over it or erased, and the whole screen before it is cleared, switched or left.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from audit.cleanliness.doubt import Incomplete
from audit.cleanliness.escapes import unstyled

MOST_KEPT = 16 << 20
"""Characters of rows that are kept of one recording, and four times what it printed: more than progress bars leave."""
_TOKEN = re.compile(
    r"(?:\x1b\[|\x9b)([0-?]*)([ -/]*)([@-~])|\x1b([ -/]*)([0-~])|([\x00-\x1f\x7f-\x9f])|([^\x00-\x1f\x7f-\x9f]+)"
)
_MOVES = re.compile(r"[\x08\x0b\x0c\x1b\x84\x85\x8d\x9b]|\r(?!\n)")
_IGNORED = frozenset("NOQRUVYghilmnopqtuvwxyz{|}~[c")
"""What a sequence without anything between ends with if it draws nothing (some of them, as keys are echoed)."""
_IGNORED_BETWEEN = frozenset(re.findall("..", " q!p\"p\"q$p$y$}$~'z'{'|#{#}#p#q%m*x*y+q$u$w t u"))
_NOT_DRAWN = frozenset((3, 40, 69))
"""Modes of another width and of margins left and right."""
_BLANK = "\0"
"""A cell that nothing was written to, and the second cell of a wide character."""


def rendered(text: str, columns: int, rows: int) -> str:
    """The rows that `text` showed on a terminal of that size, each a line, where it is more than text that scrolls by.

    Raises Incomplete beyond MOST_KEPT, and for a sequence that draws what is not drawn here.
    """
    lines = unstyled(text).split("\n")
    moving = [at for at, line in enumerate(lines) if _moves(line)]
    screen = Screen(columns, rows, MOST_KEPT + 4 * len(text))
    at = 0
    for one in moving:
        if one < at:
            continue
        at = _plain(screen, lines, at, one)
        while at < len(lines) and (at <= one or not screen.settled or _moves(lines[at])):
            screen.feed(lines[at] + "\n" * (at < len(lines) - 1))
            at += 1
    screen.leave()
    return "\n".join(screen.kept)


def _moves(line: str) -> bool:
    line = line.removesuffix("\r")
    return not line.isprintable() and _MOVES.search(line) is not None


def _plain(screen: Screen, lines: list[str], at: int, end: int) -> int:
    """Goes over lines that only scroll by: what is further away than a screen from `end` need not be drawn."""
    near = max(at, end - screen.rows - 1)
    if near - at > screen.rows:
        screen.leave()
        at = near
    for line in lines[at:end]:
        screen.feed(line + "\n")
    return end


class Screen:
    """Rows of cells, a cursor, and what was kept. Sequences that move nothing are passed over."""

    def __init__(self, columns: int, rows: int, most_kept: int) -> None:
        self.columns, self.rows = columns, rows
        self.kept: list[str] = []
        self._left = most_kept
        self._saved = (0, 0)
        self._other: list[str] | None = None
        self._blank()

    def _blank(self) -> None:
        self.grid = [""] * self.rows
        self.row = self.column = 0
        self.top, self.bottom = 0, self.rows - 1
        self._inserting = self._from_top = False
        self._tabs = set(range(8, self.columns, 8))
        self._end = (-1, -1)

    @property
    def settled(self) -> bool:
        """Whether plain lines from here on only scroll by."""
        full = (self.top, self.bottom) == (0, self.rows - 1)
        return full and not self.column and not self._inserting and not any(self.grid[self.row :])

    def leave(self) -> None:
        """Keeps what the screen shows and clears it."""
        self._keep_all()
        self.grid = [""] * self.rows
        self.row = self.column = 0

    def feed(self, text: str) -> None:
        for match in _TOKEN.finditer(text):
            arguments, between, final, _, other, control, run = match.groups()
            if run is not None:
                self._write(run)
            elif control is not None:
                self._control(control)
            elif final is not None:
                self._sequence(arguments, between, final)
            elif other is not None:
                self._escape(other)

    def _write(self, text: str) -> None:
        cells = text if text.isascii() else text.translate(_CELLS)
        while cells:
            if self.column >= self.columns:
                self.column = 0
                self._down()
            piece, cells = cells[: self.columns - self.column], cells[self.columns - self.column :]
            row, start, end = self.grid[self.row], self.column, self.column + len(piece)
            if len(row) <= start:
                self.grid[self.row] = row.ljust(start, _BLANK) + piece
            else:
                # Writing on where the last writing ended is one act: it is kept once, as it was before.
                if self._end != (self.row, start):
                    self._keep(self.row)
                self.grid[self.row] = (row[:start] + piece + row[start if self._inserting else end :])[: self.columns]
            self.column = end
            self._end = (self.row, end)

    def _control(self, control: str) -> None:
        match control:
            case "\n" | "\x0b" | "\x0c" | "\x84":
                self._down()
            case "\r":
                self.column = 0
            case "\x08":
                self.column = max(0, min(self.column, self.columns - 1) - 1)
            case "\t":
                self._tab(1)
            case "\x85":
                self.column = 0
                self._down()
            case "\x8d":
                self._up()

    def _escape(self, final: str) -> None:
        match final:
            case "7":
                self._saved = (self.row, self.column)
            case "8":
                self.row, self.column = self._saved
            case "D":
                self._down()
            case "E":
                self.column = 0
                self._down()
            case "M":
                self._up()
            case "H":
                self._tabs.add(self.column)
            case "6" | "9":
                raise _not_drawn()
            case "c":
                self._keep_all()
                self._blank()

    def _sequence(self, arguments: str, between: str, final: str) -> None:
        private = arguments[:1] in ("?", ">", "<", "=")
        numbers = _numbers(arguments)
        count, first = max(1, numbers[0]), numbers[0]
        if between:
            if between + final not in _IGNORED_BETWEEN:
                raise _not_drawn()
            return
        if private and not (final in "JK" and arguments[0] == "?"):
            self._mode(arguments[0], numbers, final)
            return
        match final:
            case "A" | "F" | "k":
                self.row = max(self.top if self.row >= self.top else 0, self.row - count)
            case "B" | "E" | "e":
                self.row = min(self.bottom if self.row <= self.bottom else self.rows - 1, self.row + count)
            case "C" | "a":
                self.column = min(self.columns - 1, self.column + count)
            case "D" | "j":
                self.column = max(0, min(self.column, self.columns - 1) - count)
            case "I":
                self._tab(count)
            case "Z":
                stops = sorted(stop for stop in self._tabs if stop < self.column)
                self.column = stops[-count] if count <= len(stops) else 0
            case "g":
                self._tabs -= {self.column} if not first else self._tabs if first == 3 else set()
            case "G" | "`":
                self.column = min(self.columns, count) - 1
            case "d":
                self._to_row(count)
            case "H" | "f":
                self._to_row(count)
                self.column = min(self.columns, max(1, numbers[1] if len(numbers) > 1 else 1)) - 1
            case "J":
                self._erase(first)
            case "K":
                before, after = (0, self.column) if first == 0 else (self.column + 1, 0) if first == 1 else (0, 0)
                self._blot(self.row, before, after, first)
            case "X":
                self._replace(self.column, min(count, self.columns), _BLANK * min(count, self.columns))
            case "P":
                self._replace(self.column, count, "")
            case "@":
                self._replace(self.column, 0, _BLANK * min(count, self.columns))
            case "b":
                last = self.grid[self.row][self.column - 1 : self.column] if self.column else ""
                self._write(last * min(count, self.columns * self.rows))
            case "L" if self.top <= self.row <= self.bottom:
                self._scroll(self.row, -min(count, self.rows))
            case "M" if self.top <= self.row <= self.bottom:
                self._scroll(self.row, min(count, self.rows))
            case "S":
                self._scroll(self.top, min(count, self.rows))
            case "T" | "^":
                self._scroll(self.top, -min(count, self.rows))
            case "r":
                top, bottom = count - 1, (numbers[1] if len(numbers) > 1 and numbers[1] else self.rows) - 1
                self.top, self.bottom = (top, bottom) if 0 <= top < bottom < self.rows else (0, self.rows - 1)
                self._to_row(1)
                self.column = 0
            case "s":
                self._saved = (self.row, self.column)
            case "u":
                self.row, self.column = self._saved
            case "h" | "l" if 4 in numbers:
                self._inserting = final == "h"
            case "t" if first == 8:
                raise _not_drawn()
            case _ if final not in _IGNORED | set("AFBEeLMIZ"):
                raise _not_drawn()
        if final in "EF":
            self.column = 0

    def _mode(self, kind: str, numbers: tuple[int, ...], final: str) -> None:
        """A sequence of its maker's own: of these, some modes change what is drawn."""
        if kind != "?" or final not in "hl":
            return
        if final == "h" and _NOT_DRAWN & set(numbers):
            raise _not_drawn()
        if {47, 1047, 1049} & set(numbers):
            self._switch(final == "h")
        if 6 in numbers:
            self._from_top = final == "h"
            self._to_row(1)
            self.column = 0

    def _to_row(self, number: int) -> None:
        """Row `number`, counted from the top of the region where that is the mode."""
        first, last = (self.top, self.bottom) if self._from_top else (0, self.rows - 1)
        self.row = min(last, first + number - 1)

    def _tab(self, count: int) -> None:
        after = sorted(stop for stop in self._tabs if stop > self.column)
        self.column = after[count - 1] if count <= len(after) else self.columns - 1

    def _erase(self, how: int) -> None:
        start, end = (self.row if how == 0 else 0), (self.row + 1 if how == 1 else self.rows)
        self._keep_all(start, end)
        for row in range(start, end):
            if row != self.row:
                self.grid[row] = ""
        self._blot(self.row, *((0, self.column) if how == 0 else (self.column + 1, 0) if how == 1 else (0, 0)), how)

    def _blot(self, row: int, before: int, after: int, how: int) -> None:
        """Erases a row from cell `after` on (how 0), up to cell `before` (1), or whole."""
        text = self.grid[row]
        if text and (how != 0 or after < len(text)):
            self._keep(row)
            self.grid[row] = text[:after] if how == 0 else _BLANK * before + text[before:] if how == 1 else ""

    def _replace(self, start: int, length: int, by: str) -> None:
        row = self.grid[self.row]
        if start < len(row):
            self._keep(self.row)
            self.grid[self.row] = (row[:start] + by + row[start + length :])[: self.columns]

    def _switch(self, on: bool) -> None:
        """Goes to the other screen, which begins empty, or comes back."""
        self._keep_all()
        if on and self._other is None:
            self._other, self.grid = self.grid, [""] * self.rows
        elif not on and self._other is not None:
            self.grid, self._other = self._other, None

    def _down(self) -> None:
        if self.row == self.bottom:
            self._scroll(self.top, 1)
        elif self.row < self.rows - 1:
            self.row += 1

    def _up(self) -> None:
        if self.row == self.top:
            self._scroll(self.top, -1)
        elif self.row:
            self.row -= 1

    def _scroll(self, top: int, count: int) -> None:
        """Rows from `top` to the end of the region go up by `count`, or down where it is negative."""
        region = self.grid[top : self.bottom + 1]
        count = max(-len(region), min(len(region), count))
        lost = range(top, top + count) if count > 0 else range(self.bottom + 1 + count, self.bottom + 1)
        for row in lost:
            self._keep(row)
        if count == 1 and not top and self.bottom == self.rows - 1:
            del self.grid[0]
            self.grid.append("")
            return
        blank = [""] * abs(count)
        self.grid[top : self.bottom + 1] = (
            region[count:] + blank if count > 0 else blank + region[: len(region) + count]
        )

    def _keep(self, row: int) -> None:
        text = self.grid[row].rstrip(" \0")
        if not text:
            return
        if row and len(self.grid[row - 1]) >= self.columns:
            text = self.grid[row - 1] + text
        if len(self.grid[row]) >= self.columns and row + 1 < self.rows:
            text += self.grid[row + 1].rstrip(" \0")
        self._left -= len(text) + 1
        if self._left < 0:
            raise Incomplete("rendered", "the screen is written over too often to keep all that it showed")
        self.kept.append(text.replace(_BLANK, " "))

    def _keep_all(self, start: int = 0, end: int = 1000) -> None:
        for row in range(start, min(end, self.rows)):
            if self.grid[row]:
                self._keep(row)


def _not_drawn() -> Incomplete:
    return Incomplete("rendered", "an escape sequence moves text on the screen in a way that is not drawn here")


@lru_cache(maxsize=4096)
def _numbers(arguments: str) -> tuple[int, ...]:
    fields = re.split("[;:]", arguments.lstrip("?<=>"))
    return tuple(min(int(one), 9999) if one.isdecimal() and len(one) < 9 else 0 for one in fields)


class _Cells(dict[int, str]):
    """What each character takes on the screen, found out once: nothing, a cell, or two."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Mn", "Me"):
            cells = ""
        else:
            cells = character + _BLANK if unicodedata.east_asian_width(character) in "WF" else character
        self[code] = cells
        return cells


_CELLS = _Cells()
