"""Whether terminal, timing and recording of an attempt are one and the same session, in one pass and constant memory.

The raw bytes of the terminal are the evidence. The timing says how many of them each read brought, and when. The
recording (asciicast v2) is made from both: one event a read, invalid UTF-8 as U+FFFD, a read without a whole
character left out (MEASUREMENT §10).
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

COLUMNS, ROWS = 120, 40
READ_LIMIT = 1 << 20
"""Bytes: more than one read of a terminal ever brings."""
LINE_LIMIT = 8 * READ_LIMIT
"""Bytes: more than one event of such a read can take, every character escaped."""
_TIMING = re.compile(rb"(\d{1,18}) ([1-9]\d{0,8})\n")


class Differs(Exception):
    """`path` is not what it must be, or not what the other files make it."""

    def __init__(self, path: Path, problem: str) -> None:
        self.path, self.problem = path, problem
        super().__init__(problem)


def recording(cast: Path, terminal: Path, timing: Path) -> int:
    """How many events the three files agree on. Raises Differs at the first place where they do not."""
    events = _events(cast)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    count = 0
    with terminal.open("rb") as raw:
        for at_us, size, last in _reads(timing):
            data = raw.read(size)
            if len(data) < size:
                raise Differs(timing, f"accounts for more bytes than the terminal gave ({terminal.stat().st_size})")
            text, rest = decoder.decode(data), decoder.decode(b"", final=True) if last else ""
            if not text + rest:
                continue
            shown = _next(events, cast, at_us)
            count += 1
            # What is left of a cut character at the very end may stand with the last event or in one of its own.
            if rest and text and shown == text:
                text, rest, shown = rest, "", _next(events, cast, at_us)
                count += 1
            if shown != text + rest:
                raise Differs(cast, f"event {count} does not show what the terminal gave at {at_us} µs")
        if raw.read(1):
            raise Differs(timing, f"accounts for {raw.tell() - 1} of {terminal.stat().st_size} bytes of the terminal")
    if next(events, None) is not None:
        raise Differs(cast, f"goes on after event {count}, where the terminal ended")
    return count


def lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, none of them longer than `LINE_LIMIT`; each ends with its newline."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LINE_LIMIT + 1):
            number += 1
            if len(line) > LINE_LIMIT:
                raise Differs(path, f"line {number} is longer than {LINE_LIMIT} bytes")
            if not line.endswith(b"\n"):
                raise Differs(path, f"line {number} is cut off")
            yield line


def value(path: Path, number: int, line: bytes) -> object:
    """One JSON value of a line, numbers exact."""
    try:
        return json.loads(line.decode("utf-8"), parse_float=Decimal, parse_constant=_refused)
    except (ValueError, ArithmeticError, RecursionError):
        raise Differs(path, f"line {number} is no JSON") from None


def _refused(name: str) -> None:
    raise ValueError(name)


def _reads(timing: Path) -> Iterator[tuple[int, int, bool]]:
    """Time in microseconds, number of bytes, and whether it is the last, of each read."""
    before: tuple[int, int] | None = None
    for number, line in enumerate(lines(timing), 1):
        found = _TIMING.fullmatch(line)
        if not found:
            raise Differs(timing, f'line {number} is not "<microseconds> <bytes>"')
        read = int(found[1]), int(found[2])
        if before and read[0] < before[0]:
            raise Differs(timing, f"line {number} goes back in time")
        if read[1] > READ_LIMIT:
            raise Differs(timing, f"line {number} is one read of {read[1]} bytes; at most {READ_LIMIT} are taken")
        if before:
            yield *before, False
        before = read
    if before:
        yield *before, True


def _events(cast: Path) -> Iterator[tuple[Decimal | int, str]]:
    """Seconds and text of each event, after a header that says what it must."""
    source = lines(cast)
    header = value(cast, 1, next(source, b"null\n"))
    wanted = {"version": 2, "width": COLUMNS, "height": ROWS}
    if not isinstance(header, dict) or {key: header.get(key) for key in wanted} != wanted:
        raise Differs(cast, f"line 1 is no header of an asciicast v2 of {COLUMNS} by {ROWS}")
    if type(header.get("timestamp")) is not int:
        raise Differs(cast, "line 1 has no whole timestamp")
    for number, line in enumerate(source, 2):
        match value(cast, number, line):
            case [Decimal() | int() as seconds, "o", str() as text] if not isinstance(seconds, bool):
                yield seconds, text
            case _:
                raise Differs(cast, f'line {number} is no event [seconds, "o", text]')


def _next(events: Iterator[tuple[Decimal | int, str]], cast: Path, at_us: int) -> str:
    event = next(events, None)
    if event is None:
        raise Differs(cast, f"ends before the terminal did, at {at_us} µs")
    seconds, text = event
    # Compared as numbers and not multiplied: an exponent can be as large as it likes.
    if seconds != Decimal(at_us).scaleb(-6):
        raise Differs(cast, f"has an event at another time than the terminal gave something, {at_us} µs")
    return text
