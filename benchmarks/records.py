"""Many records on disk, to board and verdicts; and loading them."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from archive import records
from archive.canonical import canonical
from archive.plan import job_id, run_id
from benchmarks.measure import Measured, process
from tests.support.make import declare, failed, make_record, passed

COUNT, SECONDS, MEMORY_MB = 100_000, 15, 1500
LOAD_COUNT, LOAD_SECONDS = 10_000, 3


def bench() -> list[Measured]:
    """A process of its own reads everything, so that its memory can be told."""
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        made = write(root)
        loaded = process([sys.executable, "-m", "benchmarks.records", "load", name])
        board = process([sys.executable, "-m", "benchmarks.records", "board", name])
    per = loaded.seconds / made * LOAD_COUNT
    return [
        Measured("10,000 records loaded", f"{per:.1f} s", f"< {LOAD_SECONDS} s", per < LOAD_SECONDS),
        Measured(
            f"{made:,} records to board and verdicts",
            f"{board.seconds:.1f} s",
            f"< {SECONDS} s",
            board.seconds < SECONDS,
        ),
        Measured("the same, memory", f"{board.peak_mb:.0f} MB", f"< {MEMORY_MB} MB", board.peak_mb < MEMORY_MB),
    ]


def write(root: Path) -> int:
    """Records of ten agents on many subjects, three attempts each, written quickly and without waiting for the disk."""
    agents = [f"agent-{letter}" for letter in "abcdefghij"]
    subjects = [f"pkg:pypi/package-{number}@1.0" for number in range(COUNT // 30)]
    declare(root, *subjects, agents=agents)
    templates = [make_record(**passed()), make_record(**failed())]
    texts = [json.loads(canonical(record)) for record in templates]
    made = 0
    for number, subject in enumerate(subjects):
        for agent in agents:
            for attempt in (1, 2, 3):
                job = job_id("first", "board", agent, subject, attempt)
                run = run_id("first", job)
                facts = texts[(number + attempt) % 7 == 0]
                facts |= {"job": job, "run": run, "agent": agent, "subject": subject, "attempt": attempt}
                path = records.record_path(root, "first", run)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(facts))
                made += 1
    return made


def main(what: str, root: Path) -> None:
    """The measured part."""
    began = time.perf_counter()
    if what == "load":
        print(sum(1 for _ in records.each(root)), time.perf_counter() - began)
        return
    from bot.results import results

    (result,) = results(root)
    print(len(result.rows), len(result.verdicts), time.perf_counter() - began)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
