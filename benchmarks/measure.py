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
    """High-water marks of a process and its children, added up, since each became its program."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0  # It has ended.
    own = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")), 0)
    return own / 1024 + sum(peak_mb(int(child)) for child in children)


def median(values: list[float]) -> float:
    """The middle one of an odd number of values."""
    return sorted(values)[len(values) // 2]
