"""Everything that one run keeps, as one file: a tar of objects, by digest, that depends on nothing but their bytes.

The form is narrower than tar: plain files with the names of a folder store, each once, in order. What is read is
hostile: anything else is refused, and no member's name or size is believed beyond that.
"""

from __future__ import annotations

import re
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import NamedTuple

from archive.backends import Parcel, local
from archive.packing import BLOCK, PACKED, Damaged, object_name, pack, unpack, whole
from archive.store import FolderStore

UNIT = 512
"""Bytes: headers are one of these, members are filled up to a whole number of them, two empty ones end the file."""
_NAME = re.compile(rf"sha256/([0-9a-f]{{2}})/(\1[0-9a-f]{{62}})({re.escape(PACKED)})?")


class Member(NamedTuple):
    """Where an object lies in a bundle."""

    start: int
    size: int
    packed: bool


class _Slice:
    """Some bytes of an open file."""

    def __init__(self, file: object, size: int) -> None:
        self._file, self._left = file, size

    def read(self, size: int, /) -> bytes:
        data: bytes = self._file.read(min(size, self._left))  # type: ignore[attr-defined]
        self._left -= len(data)
        return data


def write(parcel: Parcel, source: FolderStore, target: Path) -> None:
    """Writes the bundle of `parcel` out of `source` to `target`. Raises DataError, Damaged as `local`."""
    with whole(target) as bundle, tempfile.TemporaryDirectory(prefix="argusic-") as folder:
        for digest, plain in local(parcel, source, sorted(parcel.objects)):
            packed = Path(folder) / "packed"
            ending = PACKED if pack(plain, packed) else ""
            path = packed if ending else plain
            info = tarfile.TarInfo(object_name(digest) + ending)
            info.size = path.stat().st_size
            bundle.write(info.tobuf(tarfile.USTAR_FORMAT, "ascii", "strict"))
            with path.open("rb") as read:
                shutil.copyfileobj(read, bundle, BLOCK)
            bundle.write(bytes(-info.size % UNIT))
            packed.unlink(missing_ok=True)
        bundle.write(bytes(2 * UNIT))


def members(path: Path) -> dict[str, Member]:
    """The objects of a bundle, unchecked, by digest. Raises Damaged where it is not of the form that `write` makes."""
    found: dict[str, Member] = {}
    size, place, last = path.stat().st_size, 0, ""
    with path.open("rb") as file:
        while (block := file.read(UNIT)) != bytes(UNIT):
            try:
                info = tarfile.TarInfo.frombuf(block, "ascii", "strict")
            except (tarfile.HeaderError, UnicodeDecodeError):
                raise Damaged(f"it is no bundle: there is no header at byte {place}") from None
            name = _NAME.fullmatch(info.name)
            if not name or info.type != tarfile.REGTYPE or name[2] <= last:
                raise Damaged(f"it is no bundle: what begins at byte {place} is no object, or not in order")
            start, last = place + UNIT, name[2]
            place = start + info.size + -info.size % UNIT
            if info.size < 0 or place > size:
                raise Damaged("it is no bundle: it is cut off")
            found[f"sha256:{last}"] = Member(start, info.size, name[3] is not None)
            file.seek(place)
        if file.read(UNIT + 1) != bytes(UNIT):
            raise Damaged("it is no bundle: it does not end where its last object does")
    return found


def take(path: Path, member: Member, digest: str, target: Path | None, most: int) -> None:
    """Writes the bytes of an object to `target`, only checks them without one. Raises Damaged as `unpack`."""
    with path.open("rb") as file:
        file.seek(member.start)
        part = _Slice(file, member.size)
        if target is None:
            unpack(part, None, digest, most, packed=member.packed)
            return
        with whole(target) as write:
            unpack(part, write, digest, most, packed=member.packed)
