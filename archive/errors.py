"""Errors a person can act on: what is wrong, where, and what would be right."""

from __future__ import annotations

from pathlib import Path


def printable(text: str) -> str:
    """`text` for a terminal: what could steer one, line breaks apart, is shown and not sent."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


class ArgusicError(Exception):
    """Base of every expected error; the command prints its message and exits with `exit_code`."""

    exit_code = 2


class DataError(ArgusicError):
    """A file of pools or results that does not say what it must.

    `file` and `field` name the place; `line` is the 1-based line of the key where it can be found.
    """

    def __init__(self, file: Path | str, field: str, problem: str, line: int | None = None) -> None:
        self.file, self.field, self.problem, self.line = Path(file), field, problem, line
        place = f"{file}:{line}" if line else str(file)
        super().__init__(f"{place}: {field}: {problem}" if field else f"{place}: {problem}")


class DataErrors(ArgusicError):
    """Several `DataError`s found in one pass; all of them are shown."""

    def __init__(self, errors: list[DataError]) -> None:
        self.errors = errors
        super().__init__("\n".join(str(error) for error in errors))


class MachineError(ArgusicError):
    """This computer cannot do what was asked (no sandbox, no disk, no network)."""

    exit_code = 4


class Unfinished(ArgusicError):
    """Work remains that a later run of the same command goes on with."""

    exit_code = 5
