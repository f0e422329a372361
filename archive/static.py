"""A store that somebody serves over HTTP as plain files: the layout of a folder store, read only."""

from __future__ import annotations

from pathlib import Path

from archive.errors import DataError
from archive.packing import PACKED, WORTH_BYTES, object_name, unpack, whole
from archive.web import Refused, request, shown

ABSENT = (404, 410)


class StaticStore:
    """<base>/sha256/<xx>/<64 digits>[.zst]."""

    def __init__(self, base: str) -> None:
        self.base = base.rstrip("/")

    def put(self, source: Path) -> str:
        """Refused: this store is written where it lies. Raises DataError."""
        raise DataError(shown(self.base), "", "can only be read from; push to the folder that it serves")

    def has(self, digest: str) -> bool:
        """As `Store.has`."""
        for ending in ("", PACKED):
            try:
                with request(f"{self.base}/{object_name(digest)}{ending}", method="HEAD", most=0):
                    return True
            except Refused as error:
                if error.status not in ABSENT:
                    raise
        return False

    def fetch(self, digest: str, target: Path, most: int) -> bool:
        """As `Store.fetch`."""
        likely = ("", PACKED) if most < WORTH_BYTES else (PACKED, "")
        for ending in likely:
            try:
                # Zstandard makes no object larger than it was, and frames are a few bytes.
                with request(f"{self.base}/{object_name(digest)}{ending}", most=most + 4096) as answer:
                    with whole(target) as write:
                        unpack(answer, write, digest, most, packed=bool(ending))
                return True
            except Refused as error:
                if error.status not in ABSENT:
                    raise
        return False
