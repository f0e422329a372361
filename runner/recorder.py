"""The terminal of an attempt, recorded in one pass and constant memory.

Three files come out: the raw bytes, their timing (one line a read: microseconds and byte count), and an asciicast v2
made from both. The raw bytes are the evidence; the cast shows invalid UTF-8 as U+FFFD.
"""

from __future__ import annotations

import codecs
import contextlib
import hmac
import re
import time
from pathlib import Path

import orjson

from runner.masker import Masker
from runner.sandbox import COLUMNS, ROWS

TERMINAL, TIMING, RECORDING = "terminal.raw", "timing.txt", "recording.cast"
_BUFFER = 1 << 20
_TIMED = re.compile(rb"(\d{1,15}) (\d{1,15})\n")


class Recorder:
    """Writes the three files into a folder. Known values are masked before anything touches the disk."""

    def __init__(self, folder: Path, masker: Masker, key: bytes, started_at: int) -> None:
        """`key` makes the commitment to the bytes as they arrive; `started_at` is wall-clock time in whole seconds."""
        self._files = contextlib.ExitStack()
        self._raw = self._files.enter_context((folder / TERMINAL).open("wb", _BUFFER))
        self._timing = self._files.enter_context((folder / TIMING).open("wb", _BUFFER))
        self._cast = self._files.enter_context((folder / RECORDING).open("wb", _BUFFER))
        self._cast.write(cast_header(started_at))
        self._masker = masker
        self._arrived = hmac.new(key, digestmod="sha256")
        self._cut = b""
        """The beginning of a character whose end has not come."""
        self._started = time.monotonic_ns()
        self._last_us = 0
        self.masked = 0
        """Known values masked."""
        self.size = 0
        """Bytes that the three files take so far."""

    def feed(self, data: bytes) -> None:
        """Records what one read brought, at the present moment."""
        self._last_us = (time.monotonic_ns() - self._started) // 1000
        self._arrived.update(data)
        self._write(self._masker.feed(data))

    def sync(self) -> None:
        """Lets the next start after a crash see all that was recorded so far, the bytes before their timing."""
        for file in (self._raw, self._timing, self._cast):
            file.flush()

    def close(self) -> str:
        """Ends the files; the keyed commitment to all bytes that arrived."""
        self._write(self._masker.flush())
        if self._cut:
            rest, _ = codecs.utf_8_decode(self._cut, "replace", True)
            self._cast.write(cast_event(self._last_us, rest))
        self.masked = self._masker.count
        self._files.close()
        return f"hmac-sha256:{self._arrived.hexdigest()}"

    def _write(self, data: bytes) -> None:
        if not data:
            return
        size = self._raw.write(data) + self._timing.write(b"%d %d\n" % (self._last_us, len(data)))
        if self._cut:
            data = self._cut + data
        # As an incremental decoder does, without its cost for each read.
        text, used = codecs.utf_8_decode(data, "replace", False)
        self._cut = data[used:]
        if text:
            size += self._cast.write(cast_event(self._last_us, text))
        self.size += size


def cast_header(started_at: int) -> bytes:
    """First line of an asciicast v2."""
    env = {"TERM": "xterm-256color"}
    header = {"version": 2, "width": COLUMNS, "height": ROWS, "timestamp": started_at, "env": env}
    return orjson.dumps(header) + b"\n"


def cast_event(at_us: int, text: str) -> bytes:
    """One output event of an asciicast v2."""
    return b'[%d.%06d, "o", %s]\n' % (*divmod(at_us, 1_000_000), orjson.dumps(text))


def mend(folder: Path, started_at: int) -> bool:
    """Makes the three files of a recorder that was killed agree again: keeps what all of them can prove.

    False where there is nothing to keep. The timing decides: what it does not account for is cut off.
    """
    raw, timing = folder / TERMINAL, folder / TIMING
    if not raw.is_file() or not timing.is_file():
        return False
    size, kept, events = raw.stat().st_size, 0, []
    for line in timing.read_bytes().splitlines(keepends=True):
        read = _TIMED.fullmatch(line)
        if read is None or kept + int(read[2]) > size:
            break
        events.append((int(read[1]), int(read[2])))
        kept += int(read[2])
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with raw.open("r+b") as file, (folder / RECORDING).open("wb", _BUFFER) as cast:
        file.truncate(kept)
        cast.write(cast_header(started_at))
        for number, (at_us, count) in enumerate(events):
            text = decoder.decode(file.read(count), final=number == len(events) - 1)
            if text:
                cast.write(cast_event(at_us, text))
    timing.write_bytes(b"".join(b"%d %d\n" % event for event in events))
    return True
