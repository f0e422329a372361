"""Leases a key as an attempt does, in a process of its own: `python -m tests.keys.one_attempt ROOT RUN BROKER`.

It says "ready" and begins when it is told to, so that whoever ends it can know its number before.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from runner.condition import runner_name
from runner.keys import broker, key_name
from runner.keys.lease import Lease
from runner.spool import Begun, claimed, remember


def main(root: Path, run: str, name: str) -> None:
    print("ready", flush=True)
    sys.stdin.readline()
    begun = Begun(schema_version=1, cycle="2026-12", job=run[:24], run=run, started_at=int(time.time()))
    with claimed(root, begun) as folder:
        lease = Lease.open(
            broker(name, os.environ), folder, key_name(runner_name(root), run), 3_000_000, 5400, time.time()
        )
        remember(folder, [lease.secret])
        print("open", flush=True)
        sys.stdin.readline()
        lease.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
