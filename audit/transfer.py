"""Evidence from one store to another: sent to where it is served from, fetched from there, checked on both ways."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from archive import places, records, releases, tombstones
from archive.backends import Backend, Objects, Parcel, parcel
from archive.errors import DataError
from archive.packing import Damaged
from archive.record import Record
from archive.store import FolderStore
from archive.tombstones import Tombstone


class Moved(NamedTuple):
    """What came of one run."""

    run: str
    state: Literal["moved", "there", "waits", "missing"]
    """`there`: nothing was left to do; `waits`: its key may still be alive; `missing`: the other store lacks some."""
    objects: int
    """How many were moved."""


def push(root: Path, cycle: str, target: Backend) -> Iterator[Moved]:
    """Sends the evidence of each run of `cycle` that may be read to `target`; a second time nothing is sent.

    Raises DataError where the checkout lacks some, Damaged where some is not what it was, MachineError where `target`
    does not take it. What was sent stays, and the next call goes on.
    """
    source = places.store(root)
    there = target.store if isinstance(target, Objects) else None
    if isinstance(there, FolderStore) and there.folder.resolve() == source.folder.resolve():
        raise DataError(source.folder, "", "is the checkout's own store; give another one to send to")
    for record in records.each(root, cycle):
        if releases.waits(root, record):
            yield Moved(record.run, "waits", 0)
            continue
        wanted = _left(root, record)
        sent = target.put(wanted, source) if wanted.objects else 0
        yield Moved(record.run, "moved" if sent else "there", sent)


def fetch(root: Path, cycle: str, run: str | None, source: Backend) -> Iterator[Moved]:
    """Brings what the checkout lacks of one run, or of all runs of `cycle`, from `source` into its own store.

    Raises Damaged where `source` has other bytes, MachineError where it cannot be read.
    """
    own = places.store(root)
    for record in records.each(root, cycle):
        if run is not None and record.run != run:
            continue
        if releases.waits(root, record):
            yield Moved(record.run, "waits", 0)
            continue
        wanted, count, whole = _left(root, record), 0, True
        with tempfile.TemporaryDirectory(prefix="argusic-") as folder:
            for digest in wanted.objects:
                if own.has(digest):
                    continue
                path = Path(folder) / digest[7:]
                try:
                    there = source.fetch(wanted, digest, path)
                except Damaged as error:
                    raise Damaged(f"{source.where}: {digest} of run {record.run}: {error}") from None
                if there:
                    own.put(path)
                    path.unlink()
                    count += 1
                whole = whole and there
        source.give_back()
        yield Moved(record.run, ("moved" if count else "there") if whole else "missing", count)


def take_down(root: Path, digest: str, day: str, reason: str) -> bool:
    """Leaves a tombstone for one file of evidence and removes it here; whether it was here.

    Raises DataError where no record names it, where `reason` is no sentence, or where it was taken down before with
    another one. A cut call is finished by the next one. Other stores are cleared by whoever holds them.
    """
    if not 1 <= len(reason.strip()) <= 500:
        raise DataError(
            "reason", "", f"has {len(reason.strip())} characters; give 1 to 500 that say why, for everybody"
        )
    if not any(digest in parcel(record).objects for record in records.each(root)):
        raise DataError(root / "results/records", "", f"no record names evidence {digest!r}; give sha256:…")
    before = tombstones.find(root, digest)
    if before is None or before.reason != reason:
        tombstones.save(root, Tombstone(schema_version=1, digest=digest, day=day, reason=reason))
    return places.store(root).remove(digest)


def _left(root: Path, record: Record) -> Parcel:
    """Without what was taken down."""
    whole = parcel(record)
    gone = tombstones.of(root, whole.objects)
    return whole._replace(objects={digest: most for digest, most in whole.objects.items() if digest not in gone})
