"""What masking and proof cost, and what other ways of scrubbing leave readable in the same files."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from archive.edits import apply_to_bytes
from audit.cleanliness import scanner
from audit.cleanliness.check import look
from audit.cleanliness.known import Fragments
from audit.cleanliness.shapes import Shapes
from audit.cleanliness.views import File
from benchmarks.measure import Measured, median
from runner.checking import Checker
from runner.masking import Known, NotProven, credentials
from runner.masking.search import Engine, Finder, Form
from runner.masking.stages import staged_bytes
from tests.cleanliness.decoys import Decoys
from tests.masking.escape_table import ROWS, SECRETS

MEGABYTES = 5
SECONDS = 3.0
SCAN = {"hyperscan": 100.0, "ahocorasick": 20.0}
"""MB/s of the search for known values alone."""


def bench() -> list[Measured]:
    """All of it; prints what each scrubber left."""
    return [_whole(), *(_scan(engine) for engine in ("hyperscan", "ahocorasick")), _scrubbers()]  # type: ignore[arg-type]


def _text(size: int) -> bytes:
    lines = Decoys(1).cast(size).splitlines()[1:]
    return "".join(json.loads(line)[2] for line in lines).encode()


def _whole() -> Measured:
    """A terminal of ordinary output: both stages, then the checker as a process that was started before."""
    data, known = _text(MEGABYTES << 20)[: MEGABYTES << 20], Known(SECRETS.values())
    masked, checked = [], []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as name:
            checker = Checker(Path(name))
            time.sleep(2)
            began = time.perf_counter()
            served = staged_bytes(data, known, b"benchmark").served
            masked.append(time.perf_counter() - began)
            (Path(name) / "terminal.raw").write_bytes(served)
            began = time.perf_counter()
            doubts = checker.doubts(known.values)
            checked.append(time.perf_counter() - began)
            checker.end()
            assert not doubts, doubts
    total = median(masked) + median(checked)
    value = f"{median(masked):.1f} s + {median(checked):.1f} s"
    return Measured(f"{MEGABYTES} MB masked + checked and certified", value, f"< {SECONDS:.0f} s", total < SECONDS)


def _scan(engine: Engine) -> Measured:
    """The search for three values in every spelling, nothing else."""
    data = _text(20 << 20).lower()
    finder = Finder([Form(value.lower().encode(), 12, 8, False) for value in SECRETS.values()], engine)
    list(finder.find(data))
    began = time.perf_counter()
    list(finder.find(data))
    speed = len(data) / 1e6 / (time.perf_counter() - began)
    return Measured(
        f"known values looked for by {engine}", f"{speed:.0f} MB/s", f">= {SCAN[engine]:.0f}", speed >= SCAN[engine]
    )


def _scrubbers() -> Measured:
    """How many of the escape table's files still hold a readable value, as the checker reads them."""
    shapes, total = Shapes(), len(ROWS) * len(SECRETS)
    ways: dict[str, Callable[[bytes, str], bytes | None]] = {
        "argusic": _ours,
        "literal replace": lambda data, value: data.replace(value.encode(), b"*" * len(value)),
        "kingfisher": _kingfisher,
    }
    left = dict.fromkeys(ways, 0)
    for write in ROWS.values():
        for value in SECRETS.values():
            data = b"".join(piece for piece, _ in write(value))
            for name, scrub in ways.items():
                served = scrub(data, value)
                if served is not None:
                    left[name] += bool(look("a", File("a", served), Fragments([value]), shapes)[0])
    told = ", ".join(f"{name} {count}" for name, count in left.items())
    return Measured(f"files of {total} in which a value can be read", told, "argusic 0", left["argusic"] == 0)


def _ours(data: bytes, value: str) -> bytes | None:
    try:
        return apply_to_bytes(data, credentials(data, Known([value])))
    except NotProven:
        return None


def _kingfisher(data: bytes, _value: str) -> bytes:
    """Everything it finds, replaced where it stands."""
    words = [scanner.binary(), "scan", "--no-validate", "--no-update-check", "--no-dedup", "--format", "json", "-"]
    done = subprocess.run(words, input=data, capture_output=True, check=False)
    for line in done.stdout.splitlines():
        try:
            said = json.loads(line)
        except ValueError:
            continue
        for finding in said.get("findings", []) if isinstance(said, dict) else []:
            snippet = str(finding.get("finding", {}).get("snippet", "")).encode()
            if snippet:
                data = data.replace(snippet, b"*" * len(snippet))
    return data
