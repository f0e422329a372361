"""Where an attempt lives while it is under way: a folder for the runner's user alone, locked by its process."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from archive import atomic, places, pools
from archive.canonical import canonical
from archive.model import Model
from archive.plan import JobId, RunId


class Begun(Model):
    """spool/<run>/attempt.json: enough to close the attempt when its process is gone."""

    schema_version: Literal[1]
    cycle: str
    job: JobId
    run: RunId
    started_at: int


@contextlib.contextmanager
def claimed(root: Path, begun: Begun) -> Iterator[Path]:
    """The new folder of an attempt, locked until the end of the block; it stays for the caller to remove."""
    folder = places.spool(root) / begun.run
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.mkdir(mode=0o700)
    with _locked(folder) as held:
        assert held
        atomic.write(folder / "attempt.json", canonical(begun), 0o600)
        yield folder


@contextlib.contextmanager
def abandoned(root: Path) -> Iterator[list[tuple[Path, Begun | None]]]:
    """Folders of attempts whose process is gone, locked until the end of the block. None: it had not begun yet."""
    found: list[tuple[Path, Begun | None]] = []
    with contextlib.ExitStack() as stack:
        for folder in sorted(places.spool(root).glob("*/")):
            if stack.enter_context(_locked(folder)):
                state = folder / "attempt.json"
                found.append((folder, pools.read_json(Begun, state) if state.is_file() else None))
        yield found


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
