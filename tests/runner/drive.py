"""Runs a scripted cycle in a process of its own: `python -m tests.runner.drive ROOT SCRIPT`."""

from __future__ import annotations

import sys
from pathlib import Path

from runner import attempt as attempt_module
from runner.commands import finish, measure
from runner.watch import Halt
from tests.runner.scripted import LocalSource, ShellAgent


def main() -> None:
    attempt_module.source = lambda _: LocalSource()  # type: ignore[assignment,return-value]
    attempt_module.adapter = lambda _: ShellAgent(sys.argv[2])  # type: ignore[assignment,return-value]
    finish(measure(Path(sys.argv[1]), "first", 2, None, Halt(), as_json=True))


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
