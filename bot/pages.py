"""The generated pages of a checkout: compared with what they must be, and written."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from archive import atomic
from archive.errors import DataError
from bot.render import HEADER

GENERATED = "docs/cycles"
"""A folder in which every page is generated."""


class Difference(NamedTuple):
    """A page that is not what it must be."""

    path: str
    problem: str


def check_folder(root: Path) -> None:
    """Raises DataError where docs/ cannot hold a page, before anything is changed."""
    place = root / "docs"
    if place.exists() and not place.is_dir():
        raise DataError(place, "", "is no folder; pages are written into a folder of this name, so move it away")


def compare(root: Path, pages: dict[str, bytes]) -> list[Difference]:
    """How docs/ differs from `pages`: missing, different, and generated pages that there is no more reason for."""
    found = []
    for path, data in pages.items():
        place = root / path
        if not place.is_file():
            found.append(Difference(path, "missing"))
        elif place.read_bytes() != data:
            found.append(Difference(path, "differs"))
    return found + [Difference(path, "left over") for path in leftover(root, pages)]


def write(root: Path, pages: dict[str, bytes]) -> list[Difference]:
    """Makes docs/ what `pages` say; what was changed. Pages that people write are not touched."""
    found = compare(root, pages)
    for path, problem in found:
        try:
            if problem == "left over":
                (root / path).unlink()
            else:
                atomic.write(root / path, pages[path])
        except (FileExistsError, IsADirectoryError, NotADirectoryError):
            raise DataError(root / path, "", "something else stands where this page belongs; move it away") from None
    return found


def leftover(root: Path, pages: dict[str, bytes]) -> list[str]:
    """Generated pages in docs/ that are none of `pages`."""
    found = []
    for place in sorted((root / "docs").rglob("*.md")):
        path = place.relative_to(root).as_posix()
        if path not in pages and place.is_file():
            with place.open("rb") as file:
                if file.readline() == HEADER.encode():
                    found.append(path)
    return found
