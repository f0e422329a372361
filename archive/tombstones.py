"""What is left of evidence that the law took down: which bytes, when, why. Nothing else excuses a missing file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import StringConstraints

from archive import atomic
from archive.canonical import canonical
from archive.errors import DataError
from archive.model import Day, Digest, Model
from archive.pools import read_json


class Tombstone(Model):
    """results/tombstones/<64 digits>.json: written once, in the place of one file of evidence."""

    schema_version: Literal[1]
    digest: Digest
    day: Day
    """On which it was taken down."""
    reason: Annotated[str, StringConstraints(min_length=1, max_length=500)]
    """For everybody to read."""


def tombstone_path(root: Path, digest: str) -> Path:
    """Where the tombstone of `digest` lies."""
    return root / "results/tombstones" / f"{digest[7:]}.json"


def find(root: Path, digest: str) -> Tombstone | None:
    """The tombstone of `digest`; None where there is none. Raises DataErrors where it does not say what it must."""
    path = tombstone_path(root, digest)
    if not path.is_file():
        return None
    found = read_json(Tombstone, path)
    if found.digest != digest:
        raise DataError(path, "digest", f"{found.digest} does not belong in this file")
    return found


def of(root: Path, digests: Iterable[str]) -> dict[str, Tombstone]:
    """Those of `digests` that have one. Raises as `find`."""
    return {digest: stone for digest in digests if (stone := find(root, digest))}


def save(root: Path, stone: Tombstone) -> None:
    """Writes a tombstone. Raises DataError where another one has its place."""
    path = tombstone_path(root, stone.digest)
    if path.is_file() and path.read_bytes() != canonical(stone):
        raise DataError(path, "", "another tombstone of these bytes exists; tombstones are never changed")
    atomic.write_if_new(path, canonical(stone))
