"""A large pool: reading it."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from archive import pools
from benchmarks.measure import Measured, median
from tests.support.make import declare

COUNT, SECONDS = 10_000, 1.0


def bench() -> list[Measured]:
    """Median of three readings of 10,000 subjects."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        declare(root, *(f"pkg:pypi/package-{number}@1.{number}" for number in range(COUNT)))
        times = []
        for _ in range(3):
            began = time.perf_counter()
            assert len(pools.subjects(root, "first")) == COUNT
            times.append(time.perf_counter() - began)
    seconds = median(times)
    return [Measured("10,000 subjects loaded", f"{seconds:.2f} s", f"< {SECONDS} s", seconds < SECONDS)]
