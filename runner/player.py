"""Playing a recording in a terminal, without what could harm the terminal it is played in."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson

from archive.errors import DataError

HARMFUL = re.compile(
    r"\x1b[\]PX^_k].*?(?:\x07|\x1b\\|\x9c|$)"  # titles, clipboard, links, device strings
    r"|[\x90\x98\x9d-\x9f].*?(?:\x07|\x1b\\|\x9c|$)"
    r"|\x1b\[[0-9;?>=]*[cnqtx]"  # questions that make the terminal type an answer, window commands
    r"|\x1b\[[?>=][0-9;]*[hl]"  # modes: mouse, alternate screen, bracketed paste
    r"|\x1b[cZ=>\x05]|\x05|\x9b[0-9;?>=]*[cnqtx]",
    re.S,
)
"""Colours, cursor movement and erasing stay; the recording itself is never changed."""
UNFINISHED = re.compile(r"\x1b(\[[0-9;?>=]*)?$|\x9b[0-9;?>=]*$")


def events(path: Path) -> Iterator[tuple[float, str]]:
    """Output events of an asciicast v2: seconds since the start, text."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                event = orjson.loads(line)
                if number == 1:
                    if event["version"] != 2:
                        raise ValueError
                elif event[1] == "o":
                    yield float(event[0]), str(event[2])
            except (ValueError, LookupError, TypeError):
                raise DataError(path, "", "no asciicast v2", number) from None


def play(
    path: Path, write: Callable[[str], None], *, speed: float, idle: float, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Writes the recording at `speed` times its own; a pause is at most `idle` seconds. Leaves colours as they were."""
    before, cut = 0.0, ""
    for at, text in events(path):
        pause = min(at - before, idle) / speed
        if pause > 0.001:
            sleep(pause)
        before = at
        text = cut + text
        # A sequence may be cut by the end of an event: its beginning waits for the rest.
        unfinished = UNFINISHED.search(text)
        cut = unfinished.group() if unfinished else ""
        write(harmless(text.removesuffix(cut)))
    write("\x1b[0m\n")


def harmless(text: str) -> str:
    """`text` without sequences that reach beyond the screen of the terminal."""
    return HARMFUL.sub("", text)
