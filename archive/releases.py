"""When the evidence of an attempt that had a key of its own was let out of quarantine, and what allowed it.

A masked value may survive in an encoding that nobody thought of; a key that is gone for certain is the only proof that
holds against that. So the evidence waits for the confirmed deletion or the expiry of the key, however long that takes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from archive import atomic
from archive.canonical import canonical
from archive.model import Instant, Model, Slug
from archive.plan import RunId
from archive.pools import read_json
from archive.record import Record


class Release(Model):
    """results/releases/<cycle>/<run>.json: written once, when the evidence was moved to where it is served from."""

    schema_version: Literal[1]
    cycle: Slug
    run: RunId
    at: Instant
    because: Literal["deletion-confirmed", "expired"]


def held(record: Record) -> bool:
    """Whether the evidence could not be let out when the record was made: its key could still have been alive."""
    return bool(record.evidence) and record.key.kind == "own" and not record.key.deletion_confirmed


def waits(root: Path, record: Record) -> bool:
    """Whether the evidence is still in quarantine."""
    return held(record) and not release_path(root, record.cycle, record.run).is_file()


def release_path(root: Path, cycle: str, run: str) -> Path:
    """Where the release of a run lies."""
    return root / "results/releases" / cycle / run[:2] / f"{run}.json"


def released(root: Path, record: Record) -> Release | None:
    """The release of a run; None where there is none. Raises DataErrors where it cannot be read."""
    path = release_path(root, record.cycle, record.run)
    return read_json(Release, path) if path.is_file() else None


def save(root: Path, release: Release) -> None:
    """Writes a release; one that is there stays as it is."""
    path = release_path(root, release.cycle, release.run)
    if not path.is_file():
        atomic.write(path, canonical(release))
