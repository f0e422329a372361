"""How an object lies in a store: as it is, or in zstandard where that helps; and how its bytes come out, checked.

What comes out of a store is hostile until its digest is right: it is written in constant memory, never larger than
what is expected, and a window of more than 8 MiB is refused.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

import zstandard

from archive.errors import ArgusicError

LEVEL = 3
WORTH_BYTES = 4096
"""Smaller objects stay as they are."""
MOST_WINDOW = 8 << 20
PACKED = ".zst"
BLOCK = 1 << 20


class Readable(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; none at the end."""


class Writable(Protocol):
    """What bytes are written to."""

    def write(self, data: bytes, /) -> int:
        """Takes all of `data`."""


class Damaged(ArgusicError):
    """A store gave other bytes than those that were asked for; the message says what is wrong with them."""


def object_name(digest: str) -> str:
    """Where the object of `digest` lies below the top of a store: sha256/<xx>/<64 digits>. Raises ValueError."""
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", digest):
        raise ValueError(f"{digest!r} is no digest")
    return f"sha256/{digest[7:9]}/{digest[7:]}"


def pack(source: Path, target: Path) -> bool:
    """Writes `source` to `target` in zstandard; False, and no file, where that does not save a tenth."""
    size = source.stat().st_size
    if size < WORTH_BYTES:
        return False
    with source.open("rb") as read, target.open("xb") as write:
        zstandard.ZstdCompressor(level=LEVEL, write_checksum=False).copy_stream(read, write, size=size)
        write.flush()
        os.fsync(write.fileno())
    if target.stat().st_size * 10 > size * 9:
        target.unlink()
        return False
    return True


def unpack(source: Readable, target: Writable | None, digest: str, most: int, *, packed: bool) -> int:
    """Writes the bytes of an object to `target`, nowhere without one; how many they are.

    Raises Damaged where they are more than `most`, are not in zstandard, or are not those of `digest`.
    """
    plain: Readable = source
    if packed:
        # The largest window is the limit of memory that a frame may ask for.
        plain = zstandard.ZstdDecompressor(max_window_size=MOST_WINDOW).stream_reader(source)  # type: ignore[arg-type]
    seen, size = hashlib.sha256(), 0
    try:
        while block := plain.read(min(BLOCK, most + 1 - size)):
            size += len(block)
            if size > most:
                raise Damaged(f"it is larger than {most} bytes")
            seen.update(block)
            if target is not None:
                target.write(block)
    except zstandard.ZstdError:
        raise Damaged("it is not whole zstandard data") from None
    if seen.hexdigest() != digest[7:]:
        raise Damaged(f"its digest is sha256:{seen.hexdigest()}")
    return size


@contextmanager
def whole(target: Path) -> Iterator[BinaryIO]:
    """A file to write that is at `target` once everything went well, and nowhere otherwise."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
