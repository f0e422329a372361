"""Where an attempt lives while it is under way: a folder for the runner's user alone, locked by its process."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from archive import atomic, places, pools
from archive.canonical import canonical
from archive.errors import DataError, DataErrors
from archive.model import Model
from archive.plan import JobId, RunId

KNOWN = "known.json"
"""The secret values that the attempt's machine was given, until everything is masked."""
RECORD = "record.json"
"""The finished record, on its way to results."""
RESERVE = "reserve"
RESERVE_BYTES = 256 << 10
"""Room that an attempt keeps for its record, for the case that the disk is full when it is made."""
UNREADABLE = "unreadable"


class Begun(Model):
    """spool/<run>/attempt.json: enough to close the attempt when its process is gone."""

    schema_version: Literal[1]
    cycle: str
    job: JobId
    run: RunId
    started_at: int
    again: RunId | None = None
    """The run that is made once more; null for an attempt of a plan."""


@contextlib.contextmanager
def claimed(root: Path, begun: Begun) -> Iterator[Path]:
    """The new folder of an attempt, locked until the end of the block; it stays for the caller to remove."""
    folder = places.spool(root) / begun.run
    with contextlib.ExitStack() as stack:
        with _one_at_a_time(root):
            folder.mkdir(mode=0o700)
            stack.enter_context(_locked(folder))
            with (folder / RESERVE).open("wb") as reserve:
                os.posix_fallocate(reserve.fileno(), 0, RESERVE_BYTES)
            atomic.write(folder / "attempt.json", canonical(begun), 0o600)
        yield folder


@contextlib.contextmanager
def abandoned(root: Path) -> Iterator[list[tuple[Path, Begun | None]]]:
    """Folders of attempts whose process is gone, locked until the end of the block. None: nothing can be read there."""
    found: list[tuple[Path, Begun | None]] = []
    with contextlib.ExitStack() as stack:
        with _one_at_a_time(root):
            for folder in sorted(places.spool(root).glob("*/")):
                if folder.name != UNREADABLE and stack.enter_context(_locked(folder)):
                    found.append((folder, _begun(folder)))
        yield found


def under_way(root: Path) -> set[str]:
    """Runs whose folder is locked: their attempts have not ended, or are being closed after a crash."""
    found = set()
    with _one_at_a_time(root):
        for folder in places.spool(root).glob("*/"):
            try:
                handle = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC)
            except OSError:
                continue  # It ended just now; nothing is made in a folder that is being removed.
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                found.add(folder.name)
            finally:
                os.close(handle)
    return found


def set_aside(root: Path, folder: Path) -> Path:
    """Moves a folder that cannot be closed out of the way, for a person to look at; its new place."""
    target = places.spool(root) / UNREADABLE / f"{folder.name}-{secrets.token_hex(4)}"
    target.parent.mkdir(exist_ok=True, mode=0o700)
    return folder.rename(target)


def _begun(folder: Path) -> Begun | None:
    try:
        return pools.read_json(Begun, folder / "attempt.json")
    except (OSError, DataErrors):
        return None


@contextlib.contextmanager
def _one_at_a_time(root: Path) -> Iterator[None]:
    """Between making a folder and locking it nobody else may look."""
    places.spool(root).mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = os.open(places.spool(root) / "spool.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def finish(folder: Path, record: bytes) -> None:
    """Keeps the finished record in the spool; on a full disk in the room that was reserved for it."""
    try:
        atomic.write(folder / RECORD, record, 0o600)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        (folder / RESERVE).unlink(missing_ok=True)
        atomic.write(folder / RECORD, record, 0o600)


def remember(folder: Path, values: Iterable[str]) -> None:
    """Keeps the secret values of an attempt beside what it records, for whoever has to mask it after a crash."""
    atomic.write(folder / KNOWN, json.dumps(list(values)).encode(), 0o600)


def recalled(folder: Path) -> tuple[str, ...]:
    """The values of `remember`; none where it was not reached, so that no machine had one.

    Raises DataError where they cannot be read: nothing of such an attempt may be stored.
    """
    path = folder / KNOWN
    try:
        values = json.loads(path.read_bytes())
    except FileNotFoundError:
        return ()
    except (OSError, ValueError) as error:
        raise DataError(path, "", f"the values to mask cannot be read: {error}") from None
    return tuple(values)


def remove(folder: Path) -> None:
    """Removes an attempt's folder."""
    shutil.rmtree(folder, ignore_errors=True)


def commitment_key(root: Path, run: str) -> bytes:
    """Key of the run's commitments: without it nobody can try out what was masked. Kept for an auditor."""
    path = places.private(root) / "commitments" / run
    if not path.is_file():
        atomic.write(path, secrets.token_hex(32).encode(), 0o600)
    return bytes.fromhex(path.read_text())


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[bool]:
    handle = os.open(folder / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(handle)
