"""Evidence by the digest of its bytes: a folder, the embedded backend of the content-addressed store."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from pathlib import Path
from typing import Protocol

from archive import atomic


class Store(Protocol):
    """Where evidence is kept for good."""

    def put(self, source: Path) -> str:
        """Keeps the bytes of `source`; its digest. Putting equal bytes twice keeps them once."""

    def path(self, digest: str) -> Path | None:
        """A file with the bytes of `digest`, unchecked; None where the store does not have it."""


class FolderStore:
    """One file an object: <folder>/sha256/<xx>/<64 digits>."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, source: Path) -> str:
        """As `Store.put`; copied whole or not at all, durable on return."""
        digest = file_digest(source)
        target = self._place(digest)
        if target.is_file() and target.stat().st_size == source.stat().st_size and file_digest(target) == digest:
            return digest
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_name(f".{secrets.token_hex(8)}.part")
        try:
            with source.open("rb") as read, temporary.open("xb") as write:
                while block := read.read(1 << 20):
                    write.write(block)
                write.flush()
                os.fsync(write.fileno())
            temporary.rename(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        atomic.sync_folder(target.parent)
        return digest

    def path(self, digest: str) -> Path | None:
        """As `Store.path`."""
        place = self._place(digest)
        return place if place.is_file() else None

    def _place(self, digest: str) -> Path:
        if not re.fullmatch(r"sha256:[0-9a-f]{64}", digest):
            raise ValueError(f"{digest!r} is no digest")
        return self.folder / "sha256" / digest[7:9] / digest[7:]


def file_digest(path: Path) -> str:
    """`sha256:` and the digest of a file's bytes, read in constant memory."""
    with path.open("rb") as file:
        return "sha256:" + hashlib.file_digest(file, "sha256").hexdigest()
