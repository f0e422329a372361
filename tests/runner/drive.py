"""Runs a scripted cycle in a process of its own: `python -m tests.runner.drive ROOT SCRIPT [SANDBOX [STEP=TROUBLE]]`.

The trouble happens when the first attempt writes down that the step begins: a signal's name for this process, `engine`
(which answers no more), or `disk` (the runner's disk, a small one, is full).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
from functools import partial
from pathlib import Path

from archive.record import Record
from runner import attempt as attempt_module
from runner import condition as condition_module
from runner import cycle as cycle_module
from runner.attempt import Attempt
from runner.commands import finish, measure
from runner.journal import Journal
from runner.sandbox.choose import Chosen, Kind, choose
from runner.sources import Brief
from runner.watch import Halt
from tests.runner.scripted import LocalSource, ShellAgent

SECRET = "sk-test-7d1f0c9e5b3a2846-crash"
"""A value that every attempt's machine is said to have been given."""


class Broken(LocalSource):
    """A source with a defect."""

    def fetch(self, *_: object) -> Brief:
        raise ZeroDivisionError("a defect")


def break_one_save() -> None:
    """The first record that is to be saved is not: a defect of ours."""
    real, tried = cycle_module.records.save, []

    def save(root: Path, record: Record) -> Path:
        tried.append(record)
        if len(tried) == 1:
            raise ZeroDivisionError("a defect")
        return real(root, record)

    cycle_module.records.save = save


def trouble_at(step: str, trouble: str, root: Path, chosen: Chosen) -> None:
    """Arranges for trouble at a step of the first attempt."""
    real, happened = Journal.step, []

    def happens(journal: Journal, name: str, **facts: object) -> None:
        real(journal, name, **facts)  # type: ignore[arg-type]
        if name != step or happened:
            return
        happened.append(name)
        if trouble == "disk":
            fill(root)
        elif trouble == "engine":
            for client in (chosen.sandbox.engine, chosen.sandbox.remover):  # type: ignore[attr-defined]
                client._url = lambda *_, **__: "http://127.0.0.1:9/"
        else:
            os.kill(os.getpid(), signal.Signals[trouble])

    Journal.step = happens  # type: ignore[method-assign]


def fill(root: Path) -> None:
    """Leaves no byte free where the data lies: a small disk, and no other."""
    assert shutil.disk_usage(root).total < 1 << 30
    with open(root / "fill", "wb", 0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"x" * (1 << 16))


def main() -> None:
    cycle_module.Attempt = partial(Attempt, secret_values=(SECRET,))  # type: ignore[misc,assignment]
    attempt_module.source = lambda _: Broken() if "fetch fails" in sys.argv[2] else LocalSource()  # type: ignore[assignment,return-value]
    attempt_module.adapter = lambda _: ShellAgent(sys.argv[2])  # type: ignore[assignment,return-value]
    if "save fails" in sys.argv[2]:
        break_one_save()
    root = Path(sys.argv[1])
    kind = Kind(sys.argv[3] if len(sys.argv) > 3 else "bubblewrap")
    chosen = choose(kind, root)
    if len(sys.argv) > 4:
        condition_module.FREE_BYTES = attempt_module.FREE_BYTES = 1 << 20
        trouble_at(*sys.argv[4].split("="), root, chosen)
    finish(measure(root, "first", chosen, 2, None, Halt(), as_json=True))


if __name__ == "__main__":
    import typer

    from archive.errors import ArgusicError

    try:
        main()
    except typer.Exit as error:
        sys.exit(error.exit_code)
    except ArgusicError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
