"""A recording as plain text: what stood in each line when the next one began, without colours or anything that steers.

Only what happens within a line is followed: going back to its beginning, one place back, erasing to its end or whole.
A program that moves over the whole screen is read in the order in which it wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from runner.player import UNFINISHED, events, harmless

LONGEST = 1 << 16
"""Characters after which a line is ended."""
_PIECES = re.compile(r"(?P<text>[^\x00-\x08\x0a-\x1f\x7f-\x9f]+)|(?P<move>[\n\r\b])|\x1b\[(?P<how>[0-9;]*)(?P<what>.)")


def lines(path: Path) -> Iterator[str]:
    """The lines of an asciicast v2, without their ends. Raises DataError as `events`."""
    line, at, cut = list[str](), 0, ""
    for _, text in events(path):
        text = cut + text
        unfinished = UNFINISHED.search(text)
        cut = unfinished.group() if unfinished else ""
        for piece in _PIECES.finditer(harmless(text.removesuffix(cut))):
            if shown := piece["text"]:
                line[at : at + len(shown)] = shown
                at += len(shown)
            elif piece["move"] == "\r":
                at = 0
            elif piece["move"] == "\b":
                at = max(0, at - 1)
            elif piece["what"] == "K" and piece["how"] in ("", "0", "2"):
                # Erased as a whole, the line keeps the place at which it is written on.
                line[0 if piece["how"] == "2" else at :] = " " * at if piece["how"] == "2" else ""
            if piece["move"] == "\n" or len(line) > LONGEST:
                yield _plain(line)
                line, at = [], 0
    if line:
        yield _plain(line)


def _plain(line: list[str]) -> str:
    return "".join(character for character in line if character.isprintable() or character == "\t").rstrip()
