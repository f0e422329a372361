"""Where in a recording an error line was first shown, so that a page can say at which moment to look.

A line is found by what it shows: without escape sequences, spaces, line ends and the frames that programs draw, so
colours, wraps and boxes do not hide it. A line that an agent put in its own words is not found, and nothing is guessed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

SHORTEST = 8
"""Shown bytes of a line below which it could stand anywhere: its moment is not looked for."""
WINDOW = 4 << 20
"""Bytes of a terminal that are looked at together."""
OVERLAP = 64 << 10
"""Bytes that the next window has too: a line with its colours and frames is found where it takes no more."""
_SPACES = bytes([*range(0x1B), *range(0x1C, 0x21), 0x7F])
_SEQUENCES = re.compile(
    rb"\x1b[\]PX^_k][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?"  # strings, such as titles
    rb"|\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]?"  # colours and cursor movement
    rb"|\x1b[ -/]{0,8}[0-~]?"
    rb"|\xe2[\x94\x95][\x80-\xbf]"  # U+2500 to U+257F: frames
    rb"|\xc2\xa0|\xe2\x80[\x80-\x8f]|\xe2\x81\xa0|\xef\xbb\xbf"  # other spaces
)
_HIDDEN = re.compile(_SEQUENCES.pattern + rb"|[\x00-\x1a\x1c-\x20\x7f]+")
_CUT = re.compile(rb"(?:\xe2\x80\xa6|\.\.\.)+$")
"""The mark of a line that was shortened."""
_TIMED = re.compile(rb"(\d{1,15}) (\d{1,15})\n")


def error_moments(terminal: bytes, timing: bytes, errors: Sequence[str]) -> tuple[int | None, ...]:
    """For each of `errors`, the milliseconds since the agent's start at which its first character was first shown.

    `terminal` and `timing` are the recorder's files (runner/recorder.py). None where the line was not shown as it is
    written, is too short to be told from others, or lies beyond what the timing accounts for.
    """
    keys = [_CUT.sub(b"", _shown(error.encode("utf-8", "replace"))) for error in errors]
    places = _places(terminal, {key for key in keys if len(key) >= SHORTEST})
    if not places:
        return (None,) * len(keys)
    reads = [(int(read[1]), int(read[2])) for read in _reads(timing)]
    ends = list(accumulate(count for _, count in reads))
    found = (None if (at := places.get(key)) is None else bisect_right(ends, at) for key in keys)
    return tuple(None if read is None or read == len(reads) else reads[read][0] // 1000 for read in found)


def _places(terminal: bytes, keys: set[bytes]) -> dict[bytes, int]:
    """The offset of the first byte of each key's first occurrence, of those that occur."""
    found: dict[bytes, int] = {}
    for start in range(0, len(terminal), WINDOW):
        if len(found) == len(keys):
            break
        window = terminal[start : start + WINDOW + OVERLAP]
        shown = _shown(window)
        for key in keys - found.keys():
            if (place := shown.find(key)) >= 0:
                found[key] = start + _offset(window, place)
    return found


def _shown(data: bytes) -> bytes:
    # As leaving out what `_HIDDEN` finds, in a third of the time.
    return _SEQUENCES.sub(b"", data).translate(None, _SPACES)


def _offset(data: bytes, shown: int) -> int:
    """Where in `data` the byte lies before which `shown` others are shown."""
    before = last = 0
    for hidden in _HIDDEN.finditer(data):
        if shown < before + hidden.start() - last:
            break
        before += hidden.start() - last
        last = hidden.end()
    return last + shown - before


def _reads(timing: bytes) -> Iterator[re.Match[bytes]]:
    """The lines of the timing up to the first that is none."""
    place = 0
    while read := _TIMED.match(timing, place):
        yield read
        place = read.end()
