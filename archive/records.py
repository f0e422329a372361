"""results/records on disk: sharded, canonical, written once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from archive import atomic, reproductions
from archive.canonical import canonical
from archive.errors import DataError, DataErrors
from archive.model import explain
from archive.plan import run_id
from archive.record import Record


def record_path(root: Path, cycle: str, run: str) -> Path:
    """Two characters of the run id make a shard: GitHub lists at most 3,000 entries of a folder."""
    return root / "results/records" / cycle / run[:2] / f"{run}.json"


def save(root: Path, record: Record) -> Path:
    """Writes a new record. Raises DataError where another one has its place: records are never changed."""
    path = record_path(root, record.cycle, record.run)
    data = canonical(record)
    if path.exists():
        if path.read_bytes() == data:
            return path
        raise DataError(path, "", "a different record of this run exists; records are never changed")
    atomic.write(path, data)
    return path


def paths(root: Path, cycle: str | None = None) -> list[Path]:
    """The files of all records, or of one cycle's, in order of cycle and run."""
    folder = root / "results/records"
    cycles = [folder / cycle] if cycle else [Path(entry) for entry in _entries(folder)]
    shards = [shard for one in cycles for shard in _entries(one)]
    return [Path(file) for shard in shards for file in _entries(shard) if file.endswith(".json")]


def _entries(folder: Path | str) -> list[str]:
    """What is in a folder, in order; `pathlib` takes several times as long for 100,000 files."""
    try:
        with os.scandir(folder) as found:
            return sorted(entry.path for entry in found if not entry.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []


def read(path: Path) -> Record:
    """One record; DataErrors name its file and each wrong field, the file's own place included."""
    try:
        record = Record.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise DataErrors(explain(error, path)) from None
    except OSError as error:
        raise DataErrors([DataError(path, "", error.strerror or "cannot be read")]) from None
    if (record.run, record.run[:2], record.cycle) != (path.stem, path.parent.name, path.parent.parent.name):
        raise DataErrors([DataError(path, "run", f"{record.run} of cycle {record.cycle} does not belong in this file")])
    if record.run != run_id(record.cycle, record.job):
        raise DataErrors([DataError(path, "run", "is not the hash of cycle and job")])
    return record


def each(root: Path, cycle: str | None = None, problems: list[DataError] | None = None) -> Iterator[Record]:
    """Record after record, one in memory at a time.

    A bad one is added to `problems` and the others still come; without `problems` it raises.
    """
    for path in paths(root, cycle):
        try:
            yield read(path)
        except DataErrors as error:
            if problems is None:
                raise
            problems += error.errors


def find(root: Path, run: str) -> Record:
    """The record whose run id is `run` or begins with it (at least four characters); one that was made again, too."""
    if len(run) >= 4 and run.isalnum():
        matches = sorted((root / "results/records").glob(f"*/{run[:2]}/{run}*.json"))
        if len(matches) == 1:
            return read(matches[0])
        if matches:
            raise DataError(root / "results/records", "", f"{run!r} begins {len(matches)} run ids; write more of it")
        again = [made.record for made in reproductions.each(root) if made.record.run.startswith(run)]
        if len(again) == 1:
            return again[0]
    hint = "" if len(run) >= 4 else "; write at least four characters of its id"
    raise DataError(root / "results/records", "", f"there is no record of run {run!r}{hint}")
