"""The two stages of one file, with the manifest of each (MEASUREMENT §10)."""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from archive.canonical import digest
from archive.edits import Edit, Fingerprint, Kind, Manifest, Stage, apply_to_bytes
from runner.masking import Known, credentials, keys

WINDOW = 32 << 20
OVERLAP = 1 << 20
"""A longer file is searched in windows, each with so many bytes of the one before: more than any secret takes."""
Finder = Callable[[bytes], tuple[Edit, ...]]


class Staged(NamedTuple):
    """One file on its way to be served."""

    stage1: bytes
    """Credentials wiped: what is archived for good."""
    served: bytes
    """Key bodies masked too."""
    manifests: tuple[Manifest, ...]
    """Of each stage that changed something, in order."""

    @property
    def masked(self) -> dict[Kind, int]:
        """How many spans of each kind were masked."""
        return dict(sorted(Counter(edit.kind for manifest in self.manifests for edit in manifest.edits).items()))


def staged(data: bytes, known: Known, key: bytes) -> Staged:
    """Both stages of a file that is no asciicast; `key` makes the commitments.

    Raises NotProven where something is in it whose bytes cannot be told for certain.
    """
    wiped = _windows(data, lambda part: credentials(part, known))
    stage1 = apply_to_bytes(data, wiped)
    covered = _windows(stage1, keys)
    served = apply_to_bytes(stage1, covered)
    hidden, archived = commitment(key, data), commitment(key, stage1)
    manifests = []
    if wiped:
        after = archived if covered else digest(stage1)
        manifests.append(_manifest("credentials", wiped, len(data), hidden, after))
    if covered:
        manifests.append(_manifest("presentation", covered, len(data), archived, digest(served)))
    return Staged(stage1, served, tuple(manifests))


def commitment(key: bytes, data: bytes) -> str:
    """A fingerprint that nobody without `key` can try values against: a digest of bytes that hide a short value could
    be met by trying all of them."""
    return f"hmac-sha256:{hmac.digest(key, data, 'sha256').hex()}"


def _manifest(stage: Stage, edits: tuple[Edit, ...], size: int, before: str, after: str) -> Manifest:
    return Manifest(
        schema_version=1,
        stage=stage,
        form="bytes",
        before=Fingerprint(bytes=size, mark=before),
        after=Fingerprint(bytes=size, mark=after),
        edits=edits,
    )


def _windows(data: bytes, find: Finder) -> tuple[Edit, ...]:
    """What `find` finds, in windows of a size that fits in memory."""
    if len(data) <= WINDOW:
        return find(data)
    found: list[Edit] = []
    for start in range(0, len(data), WINDOW - OVERLAP):
        found += (
            edit.model_copy(update={"offset": edit.offset + start}) for edit in find(data[start : start + WINDOW])
        )
        if start + WINDOW >= len(data):
            break
    return _joined(found)


def _joined(edits: list[Edit]) -> tuple[Edit, ...]:
    """In order; where two windows found parts of one thing, as one edit of the first one's kind."""
    joined: list[Edit] = []
    for edit in sorted(edits, key=lambda one: (one.offset, -one.length)):
        last = joined[-1] if joined else None
        if last is None or edit.offset >= last.offset + last.length:
            joined.append(edit)
        elif edit.offset + edit.length > last.offset + last.length:
            joined[-1] = last.model_copy(update={"length": edit.offset + edit.length - last.offset})
    return tuple(joined)
