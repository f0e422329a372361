"""The log of an attempt: each step written down before it is taken, so that a killed runner leaves a readable story."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, Literal

from archive.canonical import canonical_line

LOG = "log.jsonl"
Step = Literal[
    "planned", "key", "machine", "fetch", "agent", "stopped", "collect", "replay", "destroyed", "key-closed", "mask",
    "prove",
]  # fmt: skip


class Journal:
    """Appends steps to the log in an attempt's spool."""

    def __init__(self, folder: Path) -> None:
        self._began = time.monotonic_ns()
        self._asleep = _asleep_ms()
        self._file = (folder / LOG).open("ab", 0)
        self.error: OSError | None = None

    def step(self, name: Step, **facts: Any) -> None:
        """Writes down that `name` begins, with what is known by now. Survives the end of this process."""
        self._write({"at_ms": self.ms(), "step": name, **facts})

    def note(self, text: str, **facts: Any) -> None:
        """Writes down something that happened within a step."""
        self._write({"at_ms": self.ms(), "step": "note", "text": text, **facts})

    def sound(self) -> None:
        """Raises the OSError that kept a line from the disk, if one did."""
        if self.error is not None:
            raise self.error

    def _write(self, line: dict[str, Any]) -> None:
        # A full disk must not keep the machine from being ended or the attempt from being recorded.
        try:
            self._file.write(canonical_line(line))
        except OSError as error:
            self.error = self.error or error

    def suspended_ms(self) -> int:
        """How long this computer was suspended since the attempt began, in milliseconds; no other clock counts that."""
        return _asleep_ms() - self._asleep

    def ms(self) -> int:
        """Milliseconds since the attempt began."""
        return (time.monotonic_ns() - self._began) // 1_000_000

    def close(self) -> None:
        """Ends the log."""
        self._file.close()


def _asleep_ms() -> int:
    return (time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.monotonic_ns()) // 1_000_000
