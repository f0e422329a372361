"""Writing without half-written files: temporary file, fsync, rename, fsync of the folder."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Puts `data` at `path` whole or not at all; makes the folder. Raises OSError (disk full, no permission)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.part")
    try:
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def write_if_new(path: Path, data: bytes) -> bool:
    """As `write`, but leaves an equal file untouched; True where something was written."""
    if path.is_file() and path.read_bytes() == data:
        return False
    write(path, data)
    return True


def append(path: Path, data: bytes) -> None:
    """Adds `data` at the end of `path`, whole or not at all, and waits until it is on disk. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        before = os.fstat(handle).st_size
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(handle, rest) :]
            os.fsync(handle)
        except BaseException:
            os.ftruncate(handle, before)
            raise
    finally:
        os.close(handle)


def sync_folder(path: Path) -> None:
    """Makes a rename in `path` durable."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
