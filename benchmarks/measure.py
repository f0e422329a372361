"""Timing whole processes, and what a benchmark says."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import NamedTuple


class Measured(NamedTuple):
    """One line of `make bench`."""

    what: str
    value: str
    reach: str
    reached: bool


class Process(NamedTuple):
    """A finished process."""

    seconds: float
    peak_mb: float


def process(command: list[str], **options: object) -> Process:
    """Runs `command` to its end. Raises CalledProcessError where it fails."""
    began = time.perf_counter()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **options)  # type: ignore[call-overload]
    peak = 0.0
    while True:
        try:
            child.wait(0.02)
            break
        except subprocess.TimeoutExpired:
            peak = max(peak, peak_mb(child.pid))
    seconds = time.perf_counter() - began
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command)
    return Process(seconds, peak)


def peak_mb(pid: int) -> float:
    """High-water mark of a process's memory since it became its program (not what it was forked from)."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    return 0.0


def median(values: list[float]) -> float:
    """The middle one of an odd number of values."""
    return sorted(values)[len(values) // 2]
