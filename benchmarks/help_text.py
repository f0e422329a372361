"""Start-up: `argusic --help`."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.measure import Measured, median, process

LIMIT = 0.3


def bench() -> list[Measured]:
    """Median of nine starts."""
    command = [str(Path(sys.executable).with_name("argusic")), "--help"]
    seconds = median([process(command).seconds for _ in range(9)])
    return [Measured("argusic --help", f"{seconds:.2f} s", f"< {LIMIT} s", seconds < LIMIT)]
