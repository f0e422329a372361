"""Where evidence can be kept and read from, and the one way in which each is spoken to: run by run."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from archive.errors import DataError
from archive.record import Record
from archive.store import FolderStore, Store

MOST_JSON_BYTES = 64 << 20
"""More than any manifest or certificate takes."""
KINDS = "a folder, an https:// address, s3://bucket/prefix?endpoint=https://… or github:owner/repository"


class Token(NamedTuple):
    """What GitHub knows somebody by."""

    value: str
    api: str = "https://api.github.com"
    """The only interface that is told it."""


class Parcel(NamedTuple):
    """What one run keeps in a store."""

    cycle: str
    run: str
    objects: dict[str, int]
    """Digest of each file, manifest and certificate to the number of bytes it has at most, in the record's order."""


class Backend(Protocol):
    """A store of runs."""

    where: str
    """As a person named it, without anything secret."""

    def has(self, parcel: Parcel) -> bool:
        """Whether all of a run is there. Raises MachineError where that cannot be told."""

    def put(self, parcel: Parcel, source: FolderStore) -> int:
        """Sends what of a run is not there yet, and reads it back; how many objects were sent.

        Raises DataError where `source` lacks one, Damaged where something came back otherwise, MachineError where
        the store does not take it. The next call goes on.
        """

    def fetch(self, parcel: Parcel, digest: str, target: Path) -> bool:
        """As `Store.fetch`."""

    def give_back(self) -> None:
        """Removes what is kept here of the run that was asked for last."""


class Objects:
    """A store of single objects, as a store of runs."""

    def __init__(self, where: str, store: Store) -> None:
        self.where, self.store = where, store

    def has(self, parcel: Parcel) -> bool:
        """As `Backend.has`."""
        return all(self.store.has(digest) for digest in parcel.objects)

    def put(self, parcel: Parcel, source: FolderStore) -> int:
        """As `Backend.put`."""
        missing = [digest for digest in parcel.objects if not self.store.has(digest)]
        for _, path in local(parcel, source, missing):
            self.store.put(path)
        return len(missing)

    def fetch(self, parcel: Parcel, digest: str, target: Path) -> bool:
        """As `Store.fetch`."""
        return self.store.fetch(digest, target, parcel.objects[digest])

    def give_back(self) -> None:
        """As `Backend.give_back`: nothing is."""


def parcel(record: Record) -> Parcel:
    """Everything that the evidence of `record` is made of."""
    objects = {item.digest: item.bytes for item in record.evidence}
    others = [digest for item in record.evidence for digest in item.manifests]
    for digest in [*others, *([record.certificate] if record.certificate else [])]:
        objects.setdefault(digest, MOST_JSON_BYTES)
    return Parcel(record.cycle, record.run, objects)


def local(parcel: Parcel, source: FolderStore, wanted: list[str]) -> Iterator[tuple[str, Path]]:
    """A file with the plain, checked bytes of each of `wanted`, there until the next one. Raises DataError, Damaged."""
    with tempfile.TemporaryDirectory(prefix="argusic-") as folder:
        for digest in wanted:
            path = Path(folder) / digest[7:]
            if not source.fetch(digest, path, parcel.objects[digest]):
                raise DataError(source.folder, "", f"{digest} of run {parcel.run} is not here")
            yield digest, path
            path.unlink()


def backend(text: str, token: Token | None = None) -> Backend:
    """The store that `text` names, as `KINDS` says; nothing is asked of it yet. `token` goes to the interface that it
    is for, and nowhere else. Raises DataError."""
    if text.startswith(("http://", "https://")):
        from archive.static import StaticStore
        from archive.web import shown

        return Objects(shown(text), StaticStore(text))
    if text.startswith("s3:"):
        from archive.s3 import S3Store

        s3 = S3Store.at(text)
        return Objects(s3.where, s3)
    if text.startswith("github:"):
        from archive.release_assets import ReleaseStore

        return ReleaseStore.at(text, token)
    if "://" in text:
        raise DataError(text, "", f"is no store; give {KINDS}")
    return Objects(text, FolderStore(Path(text)))
