"""Letting evidence out that waited for the end of its attempt's key (MEASUREMENT §10)."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from archive import backends, places, records, releases, reproductions
from archive.errors import DataError
from archive.record import Record
from archive.releases import Release
from archive.store import FolderStore

Because = Literal["deletion-confirmed", "expired"]
Gone = Callable[[Record], bool]
"""Whether the broker of a record's key confirms, now, that the key is gone."""


class Waited(NamedTuple):
    """One attempt whose evidence waited."""

    run: str
    because: Because | None
    """Why it is out now; None where it waits on."""


def release(root: Path, cycle: str, gone: Gone, now: float | None = None) -> Iterator[Waited]:
    """Lets the evidence of each waiting attempt of `cycle` out whose key has ended. A second time changes nothing, a
    second process at the same time waits for its turn, and what a killed one left half out is let out whole.

    Raises DataError where the evidence of a waiting attempt is not here: it lies on the runner that made the attempt.
    """
    again = (made.record for made in reproductions.each(root) if made.record.cycle == cycle)
    for record in (*records.each(root, cycle), *again):
        if not releases.held(record):
            continue
        waited = releases.waits(root, record)
        because = _because(record, gone, time.time() if now is None else now) if waited else None
        with _one_at_a_time(root):
            if because and releases.waits(root, record):
                _move(root, record)
                at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
                one = Release(schema_version=1, cycle=cycle, run=record.run, at=at, because=because)
                releases.save(root, one)
            if not releases.waits(root, record):
                shutil.rmtree(places.held(root) / record.run, ignore_errors=True)
        if waited:
            yield Waited(record.run, because)


@contextlib.contextmanager
def _one_at_a_time(root: Path) -> Iterator[None]:
    """A process that is killed lets go of it."""
    path = places.held(root).with_suffix(".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _because(record: Record, gone: Gone, now: float) -> Because | None:
    if gone(record):
        return "deletion-confirmed"
    ends = record.key.expires_at
    return "expired" if ends and ends < time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)) else None


def _move(root: Path, record: Record) -> None:
    held, store = FolderStore(places.held(root) / record.run), places.store(root)
    parcel = backends.parcel(record)
    for digest in parcel.objects:
        if not held.has(digest):
            problem = f"{digest} of run {record.run} is not here; it lies on the runner that made the attempt"
            raise DataError(held.folder, "", problem)
    for _, path in backends.local(parcel, held, list(parcel.objects)):
        store.put(path)
