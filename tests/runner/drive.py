"""Runs a scripted cycle in a process of its own: `python -m tests.runner.drive ROOT SCRIPT`."""

from __future__ import annotations

import sys
from pathlib import Path

from archive.record import Record
from runner import attempt as attempt_module
from runner import cycle as cycle_module
from runner.commands import finish, measure
from runner.sandbox.choose import Kind, choose
from runner.sources import Brief
from runner.watch import Halt
from tests.runner.scripted import LocalSource, ShellAgent


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


def main() -> None:
    attempt_module.source = lambda _: Broken() if "fetch fails" in sys.argv[2] else LocalSource()  # type: ignore[assignment,return-value]
    attempt_module.adapter = lambda _: ShellAgent(sys.argv[2])  # type: ignore[assignment,return-value]
    if "save fails" in sys.argv[2]:
        break_one_save()
    root = Path(sys.argv[1])
    kind = Kind(sys.argv[3] if len(sys.argv) > 3 else "bubblewrap")
    finish(measure(root, "first", choose(kind, root), 2, None, Halt(), as_json=True))


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
