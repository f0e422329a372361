"""A folder as a tar that depends on its content alone: order, owners and times are normalised."""

from __future__ import annotations

import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from archive.errors import MachineError

Hardlinks = dict[tuple[int, int], str]


def write_layer(tree: Path, out: IO[bytes], epoch: int, since: float) -> None:
    """Writes what is in `tree` to `out` as a tar.

    Entries come in order of their names; owners are numbers; access lists and other extended attributes are left
    out, apart from the capabilities of programs. A folder, and whatever was written at `since` or later, has the time
    `epoch`; a file that a package brought keeps its own, because compiled Python refers to it.
    """
    names: Hardlinks = {}
    root = os.fsencode(tree)
    with tarfile.open(fileobj=out, mode="w|", format=tarfile.PAX_FORMAT, errors="surrogateescape") as tar:
        for path in _walk(root):
            entry = _entry(path, _text(path[len(root) + 1 :]), names)
            if entry.isdir() or entry.mtime >= since:
                entry.mtime = epoch
            if entry.isreg():
                with open(path, "rb") as file:
                    tar.addfile(entry, file)
            else:
                tar.addfile(entry)


def _walk(root: bytes) -> Iterator[bytes]:
    """Everything below `root`, a folder before what is in it, names in order of their bytes; links are not followed."""
    waiting = [root]
    while waiting:
        path = waiting.pop()
        if path != root:
            yield path
        if stat.S_ISDIR(os.lstat(path).st_mode):
            waiting += sorted((entry.path for entry in os.scandir(path)), reverse=True)


def _text(name: bytes) -> str:
    """A name as `tarfile` takes it, whatever the encoding of this computer is."""
    return name.decode("utf-8", "surrogateescape")


def _entry(path: bytes, name: str, names: Hardlinks) -> tarfile.TarInfo:
    found = os.lstat(path)
    entry = tarfile.TarInfo(name)
    entry.mode = stat.S_IMODE(found.st_mode)
    entry.uid, entry.gid = found.st_uid, found.st_gid
    entry.mtime = int(found.st_mtime)
    kind = stat.S_IFMT(found.st_mode)
    if kind == stat.S_IFREG:
        first = names.setdefault((found.st_dev, found.st_ino), name)
        if first != name:
            entry.type, entry.linkname = tarfile.LNKTYPE, first
        else:
            entry.size = found.st_size
            _capabilities(entry, path)
    elif kind == stat.S_IFDIR:
        entry.type = tarfile.DIRTYPE
    elif kind == stat.S_IFLNK:
        entry.type, entry.linkname = tarfile.SYMTYPE, _text(os.readlink(path))  # noqa: PTH115 - a Path is another text
    elif kind in (stat.S_IFCHR, stat.S_IFBLK):
        entry.type = tarfile.CHRTYPE if kind == stat.S_IFCHR else tarfile.BLKTYPE
        entry.devmajor, entry.devminor = os.major(found.st_rdev), os.minor(found.st_rdev)
    elif kind == stat.S_IFIFO:
        entry.type = tarfile.FIFOTYPE
    else:
        raise MachineError(
            f"{os.fsdecode(path)}: a socket cannot be kept in an image; what listens there must end first"
        )
    return entry


def _capabilities(entry: tarfile.TarInfo, path: bytes) -> None:
    try:
        value = os.getxattr(path, "security.capability")
    except OSError:
        return
    # tarfile encodes what it cannot say in UTF-8 byte for byte, and engines read it so.
    entry.pax_headers = {"SCHILY.xattr.security.capability": _text(value)}
