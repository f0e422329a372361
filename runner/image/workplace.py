"""Where an image is built: a folder with enough room, gone on every way out."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from archive.errors import MachineError

MEMORY = Path("/dev/shm")
"""Where unpacking takes a third of the time: a package manager waits for every file to be on the disk."""


@contextmanager
def workplace(megabytes: int) -> Iterator[Path]:
    """A new folder with so much room: where TMPDIR says, else in memory where it fits, else on the disk.

    Raises MachineError where none of them has the room. SIGTERM ends what is done in it as Ctrl-C does.
    """
    place = next((one for one in _candidates() if _fits(one, megabytes)), None)
    if place is None:
        tried = ", ".join(f"{one} ({_free(one)} MB free)" for one in _candidates())
        raise MachineError(
            f"no room to build in: {megabytes} MB are needed on a file system that takes programs and devices; tried "
            f"{tried}. Free some, or point TMPDIR to a larger one"
        )
    with _term_as_interrupt():
        folder = Path(tempfile.mkdtemp(prefix="argusic-image-", dir=place))
        try:
            # The system's own files are to be reachable for its own package manager's user.
            folder.chmod(0o755)
            yield folder
        finally:
            remove(folder)


def remove(folder: Path) -> None:
    """Removes `folder`. Raises MachineError, and removes nothing, where something is still mounted in it."""
    inside = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    mounted = [place for place in inside if Path(place).is_relative_to(folder)]
    if mounted:
        raise MachineError(f"{mounted[0]} is still mounted; unmount it, then remove {folder}")
    shutil.rmtree(folder)


def _candidates() -> list[Path]:
    if os.environ.get("TMPDIR"):
        return [Path(os.environ["TMPDIR"])]
    return [place for place in (MEMORY, Path(tempfile.gettempdir())) if place.is_dir()]


def _free(place: Path) -> int:
    return shutil.disk_usage(place).free // 1_000_000 if place.is_dir() else 0


def _fits(place: Path, megabytes: int) -> bool:
    if not place.is_dir() or _free(place) < megabytes:
        return False
    return not os.statvfs(place).f_flag & (os.ST_NOEXEC | os.ST_NODEV | os.ST_RDONLY)


@contextmanager
def _term_as_interrupt() -> Iterator[None]:
    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
