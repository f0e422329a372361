"""What masking and proof left behind: each file's manifests, and the certificate over all of them (MEASUREMENT §10)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from archive.backends import Parcel
from archive.certificate import Certificate
from archive.edits import Manifest
from archive.packing import Damaged
from archive.record import Evidence, Record
from archive.store import file_digest
from audit.borrowed import Borrowed

M = TypeVar("M", bound=BaseModel)
PICTURES = ("video", "screenshot")
"""Roles that no certificate speaks of: no view reads pixels."""
MISSING = "is not in the store"
Place = Path | str | None
"""As in `audit.evidence`."""


def certified(
    record: Record, parcel: Parcel, store: Borrowed, gone: Collection[str] = ()
) -> Iterator[tuple[Place, str]]:
    """What is wrong with the certificate and the manifests of `record`: the file in the store, or None for the record
    itself, and the problem. Those of `gone` have a tombstone and may be missing."""
    if record.certificate is None:
        return
    path, certificate, problem = _read(store, parcel, record.certificate, Certificate)
    if certificate is None:
        if problem == MISSING and record.certificate in gone:
            return
        yield path, f"its certificate ({record.certificate}) {problem}"
        return
    seen = {file.digest for file in certificate.files}
    for item in record.evidence:
        if item.role not in PICTURES and item.digest not in seen:
            yield path, f"does not speak of the {item.role} of run {record.run}"
        yield from _chain(record, item, parcel, store, seen, gone)


def _chain(
    record: Record, item: Evidence, parcel: Parcel, store: Borrowed, seen: set[str], gone: Collection[str]
) -> Iterator[tuple[Place, str]]:
    """Each manifest begins where the one before it ended, the first with what arrived, the last with what is served."""
    before, spans = item.arrived, 0
    for digest in item.manifests:
        path, manifest, problem = _read(store, parcel, digest, Manifest)
        if manifest is None:
            if problem == MISSING and digest in gone:
                return
            yield path, f"a manifest of its {item.role} ({digest}) {problem}"
            return
        if digest not in seen:
            yield path, f"was not looked at for the certificate of run {record.run}"
        if manifest.before.mark != before:
            yield path, f"does not begin with what the {item.role} of run {record.run} was before"
        before, spans = manifest.after.mark, spans + len(manifest.edits)
    if item.manifests and before != item.digest:
        yield path, f"does not end with the {item.role} that run {record.run} serves"
    if item.role != "recording" and spans != sum(item.masked.values()):
        told = sum(item.masked.values())
        yield None, f"says that {told} spans of its {item.role} are masked; its manifests hold {spans}"


def _read(store: Borrowed, parcel: Parcel, digest: str, model: type[M]) -> tuple[Place, M | None, str]:
    try:
        path = store.path(parcel, digest)
        if path is None:
            return None, None, MISSING
        if path.stat().st_size > parcel.objects[digest]:
            return path, None, f"is larger than {parcel.objects[digest]} bytes"
        if file_digest(path) != digest:
            return path, None, "was changed"
        return path, model.model_validate_json(path.read_bytes()), ""
    except Damaged as error:
        return store.name(digest), None, f"was changed: {error}"
    except ValidationError:
        return path, None, f"is no {model.__name__.lower()}"
    except OSError as error:
        return store.name(digest), None, error.strerror or "cannot be read"
