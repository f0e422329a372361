"""The files of one run out of a store that may be anybody's: fetched into a folder of their own, checked on the way."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from types import TracebackType

from archive.backends import Backend, Objects, Parcel
from archive.errors import DataError
from archive.packing import PACKED, object_name
from archive.store import FolderStore


class Borrowed:
    """Files by digest, as paths; they are there until the next run is borrowed."""

    def __init__(self, backend: Backend) -> None:
        """Raises DataError where `backend` is a folder that is not there."""
        self.backend = backend
        local = backend.store if isinstance(backend, Objects) else None
        self._local = local if isinstance(local, FolderStore) else None
        if self._local and not self._local.folder.is_dir():
            raise DataError(self._local.folder, "", "there is no evidence here; give --from and where it lies")
        self._folder: Path | None = None

    def __enter__(self) -> Borrowed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.give_back()

    def path(self, parcel: Parcel, digest: str) -> Path | None:
        """A file with the plain bytes of `digest`; None where the store does not have it.

        A plain file of a folder is given as it lies, unchecked; all else is checked. Raises Damaged, MachineError.
        """
        if self._local:
            there = self._local.path(digest)
            if there is None or there.suffix != PACKED:
                return there
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="argusic-verify-"))
        target = self._folder / digest[7:]
        return target if target.is_file() or self.backend.fetch(parcel, digest, target) else None

    def name(self, digest: str) -> Path | str:
        """How a message names the object of `digest`: the file that holds it, or its place below the store."""
        there = self._local.path(digest) if self._local else None
        return there or f"{self.backend.where}/{object_name(digest)}"

    def told(self, path: Path) -> Path | str:
        """The name of a file that `path` gave out."""
        borrowed = self._folder is not None and path.is_relative_to(self._folder)
        return self.name(f"sha256:{path.name}") if borrowed else path

    def give_back(self) -> None:
        """Removes what was fetched."""
        self.backend.give_back()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None
