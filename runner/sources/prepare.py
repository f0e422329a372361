"""Lays a subject into the machine before the agent starts: the budget does not run yet."""

from __future__ import annotations

from archive.errors import MachineError
from runner.sandbox import Machine
from runner.sources import Brief
from runner.watch import Halt, run

PREPARE_SECONDS = 600


def prepare(machine: Machine, brief: Brief, halt: Halt) -> None:
    """Runs what the kind of subject asks for. `MachineError` where that fails: the agent never had its chance."""
    if not brief.prepare:
        return
    ended, said = run(machine.exec(list(brief.prepare)), seconds=PREPARE_SECONDS, most_bytes=1 << 20, halt=halt)
    if ended.exit != 0 and halt.reason is None:
        last = said.decode("ascii", "replace").strip().splitlines()[-1:] or [""]
        late = f"not within {PREPARE_SECONDS} seconds" if ended.by == "budget" else last[0][:300]
        raise MachineError(f"the subject could not be laid into the machine ({late})")
