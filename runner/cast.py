"""The asciicast v2 of a terminal: its events, made here or in a process of their own.

A chatty terminal keeps one processor busy with reading; the events, two thirds of the work, are then made on another.
"""

from __future__ import annotations

import codecs
import contextlib
import os
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import BinaryIO

import orjson

BUFFER = 1 << 20
ALONE_BYTES = 8 << 20
"""So many bytes are turned into events by the recording process itself; most attempts never write more."""
_PIECE = 16 << 10
_AWAKE_SECONDS = 0.002
_HEAD = struct.Struct("<QI")


class Cast:
    """Appends events to an open asciicast. Invalid UTF-8 becomes U+FFFD, as an incremental decoder would do it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.cut = b""
        """The beginning of a character whose end has not come."""
        self.size = 0
        """Bytes of the events so far."""

    def write(self, at_us: int, data: bytes) -> None:
        """One read, at its microseconds."""
        if self.cut:
            data = self.cut + data
        # An incremental decoder's own bookkeeping costs as much as the decoding.
        text, used = codecs.utf_8_decode(data, "replace", False)
        self.cut = data[used:]
        if text:
            self._event(at_us, text)

    def end(self, at_us: int) -> None:
        """After the last read: what is left of a character."""
        text, _ = codecs.utf_8_decode(self.cut, "replace", True)
        if text:
            self._event(at_us, text)

    def _event(self, at_us: int, text: str) -> None:
        self.size += self._file.write(b'[%d.%06d, "o", %s]\n' % (*divmod(at_us, 1_000_000), orjson.dumps(text)))


class Helper:
    """A process that goes on with an asciicast: as `Cast`, but the events are made elsewhere."""

    def __init__(self, path: Path, cut: bytes) -> None:
        """The file at `path` must be closed; `cut` is what its events left over."""
        command = [sys.executable, "-I", __file__, str(path), cut.hex()]
        # A process group of its own: Ctrl-C is for the recorder, which ends this process in order.
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, bufsize=_PIECE, process_group=0)
        self._path = path
        self._lost = False

    @property
    def size(self) -> int:
        """Bytes of the asciicast so far."""
        return self._path.stat().st_size

    def write(self, at_us: int, data: bytes) -> None:
        """One read, at its microseconds."""
        assert self._process.stdin is not None
        if not self._lost:
            try:
                self._process.stdin.write(_HEAD.pack(at_us, len(data)) + data)
            except BrokenPipeError:
                self._lost = True

    def end(self) -> bool:
        """Waits for the last event; False where the process was lost on the way."""
        with contextlib.suppress(BrokenPipeError):
            self._process.communicate()
        return self._process.returncode == 0 and not self._lost


def _main() -> None:
    """The process: reads come on standard input, each as its microseconds and length, then its bytes."""
    path, cut = sys.argv[1:]
    with open(path, "ab", BUFFER) as file:
        cast, at_us = Cast(file), 0
        cast.cut = bytes.fromhex(cut)
        waiting = b""
        while more := _more(sys.stdin.fileno()):
            waiting += more
            start = 0
            while start + _HEAD.size <= len(waiting):
                time_us, size = _HEAD.unpack_from(waiting, start)
                end = start + _HEAD.size + size
                if end > len(waiting):
                    break
                at_us = time_us
                cast.write(at_us, waiting[start + _HEAD.size : end])
                start = end
            waiting = waiting[start:]
        cast.end(at_us)


def _more(handle: int) -> bytes:
    """What waits in the pipe; nothing at its end.

    Between pieces that follow each other closely this process does not sleep: on a virtual machine a processor that
    has to be woken for every piece, and for the kernel's own part of the terminal, costs half of the throughput.
    """
    os.set_blocking(handle, False)
    until = time.monotonic() + _AWAKE_SECONDS
    while time.monotonic() < until:
        try:
            return os.read(handle, _PIECE)
        except BlockingIOError:
            continue
    os.set_blocking(handle, True)
    return os.read(handle, _PIECE)


if __name__ == "__main__":
    _main()
