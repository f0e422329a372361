"""What an attempt costs besides the agent: `control-nop` against a bare bubblewrap that runs `true`."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import orjson

from archive.record import Fetched, Record
from benchmarks.measure import Measured, median, process
from bot.plan import write_plan
from runner import attempt as attempt_module
from runner.attempt import Attempt
from runner.condition import Condition, condition
from runner.sandbox.bubblewrap import Bubblewrap
from runner.sandbox.bubblewrap_command import bwrap
from runner.sources import Brief
from runner.spool import remove
from runner.watch import Halt
from tests.support.make import declare

LIMIT_MS = 150
TURNS = 11


class AtHand:
    """A source that fetches nothing, so that no network is measured."""

    def fetch(self, *_: object) -> Brief:
        return Brief("pypi", "six", "1.17.0", b"", (Fetched(name="six", bytes=1, digest="sha256:" + "0" * 64),))


def before_proof(ready: Condition, record: Record) -> int:
    """Milliseconds until the attempt's evidence is masked and proven, which `evidence` measures by itself."""
    log = record.file("log")
    path = ready.store.path(log.digest) if log else None
    assert path, record
    steps = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    return next(int(step["at_ms"]) for step in steps if step["step"] == "mask")


def bench() -> list[Measured]:
    """The difference of the medians of runs made in turn."""
    bare, whole = [], []
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        root.chmod(0o755)
        declare(root, "pkg:pypi/six@1.17.0", agents=[], controls=["control-nop"], demonstration=True)
        write_plan(root, "first")
        ready = condition(root, "first", Bubblewrap(), None)
        attempt_module.source = lambda _: AtHand()  # type: ignore[assignment,return-value]
        agent = ready.agents["control-nop"].model_copy(update={"harness": "control-nop"})
        ready = ready._replace(agents={"control-nop": agent})
        for _ in range(TURNS):
            command = [str(bwrap()), "--ro-bind", "/", "/", "--unshare-all", "true"]
            bare.append(process(command).seconds * 1000)
            record = Attempt(ready, ready.plan.jobs[0], Halt()).make()
            whole.append(before_proof(ready, record))
            assert record.outcome == "fail", record
            remove(root / ".argusic/spool" / record.run)
    over = median(whole) - median(bare)
    who = " as root, with one more process" if not os.geteuid() else ""
    value = f"{over:.0f} ms over {median(bare):.0f} ms{who}"
    return [
        Measured(
            "attempt with control-nop, up to its proof, over `bwrap true`", value, f"< {LIMIT_MS} ms", over < LIMIT_MS
        )
    ]
