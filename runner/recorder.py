"""The terminal of an attempt, recorded in one pass and constant memory.

Three files come out: the raw bytes, their timing (one line a read: microseconds and byte count), and an asciicast v2
made from both. The raw bytes are the evidence; the cast shows invalid UTF-8 as U+FFFD.
"""

from __future__ import annotations

import hmac
import re
import time
from contextlib import ExitStack
from pathlib import Path

import orjson

from runner.cast import ALONE_BYTES, BUFFER, Cast, Helper
from runner.sandbox import COLUMNS, ROWS

TERMINAL, TIMING, RECORDING = "terminal.raw", "timing.txt", "recording.cast"
_TIMED = re.compile(rb"(\d{1,15}) (\d{1,15})\n")


class Recorder:
    """Writes the three files into a folder that only this user can read: nothing is masked yet."""

    def __init__(self, folder: Path, key: bytes, started_at: int) -> None:
        """`key` makes the commitment to the bytes as they arrive; `started_at` is wall-clock time in whole seconds."""
        self._folder = folder
        self._started_at = started_at
        self._raw = (folder / TERMINAL).open("wb", BUFFER)
        self._timing = (folder / TIMING).open("wb", BUFFER)
        self._events = (folder / RECORDING).open("wb", BUFFER)
        self._cast: Cast | Helper = Cast(self._events)
        self._cast.size = self._events.write(cast_header(started_at))
        self._arrived = hmac.new(key, digestmod="sha256")
        self._started = time.monotonic_ns()
        self._last_us = 0
        self._counted = 0

    @property
    def size(self) -> int:
        """Bytes that the three files take so far."""
        return self._counted + self._cast.size

    def feed(self, data: bytes) -> None:
        """Records what one read brought, at the present moment."""
        self._last_us = (time.monotonic_ns() - self._started) // 1000
        self._arrived.update(data)
        if not data:
            return
        self._counted += self._raw.write(data) + self._timing.write(b"%d %d\n" % (self._last_us, len(data)))
        self._cast.write(self._last_us, data)
        if self._counted >= ALONE_BYTES and isinstance(self._cast, Cast):
            self._events.close()
            self._cast = Helper(self._folder / RECORDING, self._cast.cut)

    def sync(self) -> None:
        """Lets the next start after a crash see all that was recorded so far, the bytes before their timing."""
        for file in (self._raw, self._timing):
            file.flush()

    def close(self) -> str:
        """Ends the files, each of them whatever becomes of the others; the keyed commitment to all bytes that arrived.

        Raises OSError where the disk is full: then `mend` makes them agree.
        """
        with ExitStack() as last_first:
            last_first.callback(self._end_cast)
            last_first.callback(self._timing.close)
            last_first.callback(self._raw.close)
        return f"hmac-sha256:{self._arrived.hexdigest()}"

    def _end_cast(self) -> None:
        if isinstance(self._cast, Cast):
            with self._events:
                self._cast.end(self._last_us)
        elif not self._cast.end():
            mend(self._folder, self._started_at)


def cast_header(started_at: int) -> bytes:
    """First line of an asciicast v2."""
    env = {"TERM": "xterm-256color"}
    header = {"version": 2, "width": COLUMNS, "height": ROWS, "timestamp": started_at, "env": env}
    return orjson.dumps(header) + b"\n"


def mend(folder: Path, started_at: int) -> bool:
    """Makes the three files agree again, after a recorder was killed or its terminal masked: keeps what all can prove.

    False where there is nothing to keep. The timing decides: what it does not account for is cut off.
    """
    raw, timing = folder / TERMINAL, folder / TIMING
    if not raw.is_file() or not timing.is_file():
        return False
    size, kept, reads = raw.stat().st_size, 0, []
    for line in timing.read_bytes().splitlines(keepends=True):
        read = _TIMED.fullmatch(line)
        if read is None or kept + int(read[2]) > size:
            break
        reads.append((int(read[1]), int(read[2])))
        kept += int(read[2])
    with raw.open("r+b") as file, (folder / RECORDING).open("wb", BUFFER) as events:
        file.truncate(kept)
        events.write(cast_header(started_at))
        cast = Cast(events)
        for at_us, count in reads:
            cast.write(at_us, file.read(count))
        cast.end(reads[-1][0] if reads else 0)
    timing.write_bytes(b"".join(b"%d %d\n" % read for read in reads))
    return True
