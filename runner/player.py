"""Playing a recording in a terminal, without what could harm the terminal it is played in."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson

from archive.errors import DataError

SHOWN = re.compile(
    r"[^\x00-\x1f\x7f-\x9f]+"  # text
    r"|[\n\r\t\b]"
    r"|\x1b\[[0-9;]{0,64}[ABCDEFGHJKLMPSTXdfm@]"  # colours, cursor movement, erasing
)
"""All that reaches the terminal. Every other sequence is left out: titles, clipboard, links, questions, modes."""
SWALLOWED = re.compile(
    r"\x1b[\]PX^_k][^\x07\x1b\x9c]{0,4096}(?:\x07|\x1b\\|\x9c)?"  # strings, their payload with them
    r"|\x1b\[[0-?]{0,64}[ -/]{0,8}[@-~]?"
    r"|\x1b[ -/]{0,8}[0-~]?",
)
UNFINISHED = re.compile(r"\x1b(?:\[[0-9;]{0,64})?$")
AFTERWARDS = "\x1b[0m\n"


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
    write(AFTERWARDS)


def harmless(text: str) -> str:
    """`text` with only what draws on the screen. What stands between two left-out pieces never joins to a new one."""
    parts: list[str] = []
    place = 0
    while place < len(text):
        found = SHOWN.match(text, place)
        if found:
            parts.append(found.group())
        else:
            found = SWALLOWED.match(text, place)
        place = found.end() if found else place + 1
    return "".join(parts)
