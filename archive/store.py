"""Evidence by the digest of its bytes: a folder, the embedded backend of the content-addressed store."""

from __future__ import annotations

import hashlib
import secrets
from pathlib import Path
from typing import Protocol

from archive import atomic
from archive.packing import BLOCK, PACKED, Damaged, object_name, pack, unpack, whole

MOST_BYTES = 16 << 30
"""More than any one file of evidence takes: the limit where no record says how large it is."""


class Store(Protocol):
    """Where evidence is kept for good, object by object."""

    def put(self, source: Path) -> str:
        """Keeps the bytes of `source`; its digest. Putting equal bytes twice keeps them once."""

    def has(self, digest: str) -> bool:
        """Whether an object of that name is there, unchecked."""

    def fetch(self, digest: str, target: Path, most: int) -> bool:
        """Writes the bytes of `digest`, at most `most`, to `target`; False where the store does not have them.

        Raises Damaged where it has others, MachineError or OSError where it cannot be read. Then nothing is written.
        """


class FolderStore:
    """One file an object, plain or in zstandard: <folder>/sha256/<xx>/<64 digits>[.zst], of its plain bytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, source: Path) -> str:
        """As `Store.put`; kept whole or not at all, durable on return. A damaged object is replaced."""
        digest = file_digest(source)
        plain, packed = self._places(digest)
        there = self.path(digest)
        if there and self._is_whole(there, digest, source.stat().st_size):
            return digest
        plain.parent.mkdir(parents=True, exist_ok=True)
        temporary = plain.with_name(f".{secrets.token_hex(8)}.part")
        try:
            if pack(source, temporary):
                temporary.rename(packed)
                plain.unlink(missing_ok=True)
            else:
                with source.open("rb") as read, whole(plain) as write:
                    while block := read.read(BLOCK):
                        write.write(block)
                packed.unlink(missing_ok=True)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        atomic.sync_folder(plain.parent)
        return digest

    def has(self, digest: str) -> bool:
        """As `Store.has`."""
        return self.path(digest) is not None

    def path(self, digest: str) -> Path | None:
        """The file that holds `digest`, as it lies and unchecked; None where there is none."""
        return next((place for place in self._places(digest) if place.is_file()), None)

    def remove(self, digest: str) -> bool:
        """Takes `digest` away for good; whether it was there."""
        found = [place for place in self._places(digest) if place.is_file()]
        for place in found:
            place.unlink()
            atomic.sync_folder(place.parent)
        return bool(found)

    def fetch(self, digest: str, target: Path, most: int = MOST_BYTES) -> bool:
        """As `Store.fetch`."""
        path = self.path(digest)
        if path is None:
            return False
        with path.open("rb") as source, whole(target) as write:
            unpack(source, write, digest, most, packed=path.suffix == PACKED)
        return True

    def read(self, digest: str, most: int = 64 << 20) -> bytes:
        """The bytes of a small object. Raises Damaged as `fetch`, FileNotFoundError where it is not there."""
        path = self.path(digest)
        if path is None:
            raise FileNotFoundError(f"{digest} is not in {self.folder}")
        parts = _Parts()
        with path.open("rb") as source:
            unpack(source, parts, digest, most, packed=path.suffix == PACKED)
        return b"".join(parts)

    def _places(self, digest: str) -> tuple[Path, Path]:
        place = self.folder / object_name(digest)
        return place, place.with_name(place.name + PACKED)

    def _is_whole(self, path: Path, digest: str, size: int) -> bool:
        try:
            with path.open("rb") as source:
                return unpack(source, None, digest, size, packed=path.suffix == PACKED) == size
        except Damaged:
            return False


class _Parts(list[bytes]):
    """Blocks in memory."""

    def write(self, block: bytes) -> int:
        self.append(block)
        return len(block)


def file_digest(path: Path) -> str:
    """`sha256:` and the digest of a file's bytes, read in constant memory."""
    with path.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
