"""One thing that a check found, and the words it is told in."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

from archive.errors import ArgusicError, DataError, DataErrors

Checked = Counter[str]
"""What was looked at, in words, with its number: "records" to 12. In the order of looking."""


class Finding(NamedTuple):
    """Something that is not as it must be."""

    check: str
    """Which check found it, such as "complete"."""
    file: str
    """Relative to the root where it lies under it."""
    problem: str

    def __str__(self) -> str:
        return printable(f"{self.check}: {self.file}: {self.problem}")


def printable(text: str) -> str:
    """`text` on one line of a terminal: file names and records can hold line breaks, escape codes and stray bytes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def place(root: Path, path: Path) -> str:
    """How a finding names `path`."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def explained(check: str, root: Path, error: ArgusicError) -> list[Finding]:
    """What a reader of the archive refused, as findings."""
    errors = error.errors if isinstance(error, DataErrors) else [error]
    found = []
    for one in errors:
        if isinstance(one, DataError):
            where = place(root, one.file) + (f":{one.line}" if one.line else "")
            found.append(Finding(check, where, f"{one.field}: {one.problem}" if one.field else one.problem))
        else:
            found.append(Finding(check, ".", str(one)))
    return found
