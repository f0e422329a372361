"""What masking and proof left behind: each file's manifests, and the certificate over all of them (MEASUREMENT §10)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from archive.certificate import Certificate
from archive.edits import Manifest
from archive.record import Evidence, Record
from archive.store import Store, file_digest

M = TypeVar("M", bound=BaseModel)
PICTURES = ("video", "screenshot")
"""Roles that no certificate speaks of: no view reads pixels."""
MOST_BYTES = 64 << 20
"""More than any manifest or certificate takes."""


def certified(record: Record, store: Store) -> Iterator[tuple[Path | None, str]]:
    """What is wrong with the certificate and the manifests of `record`: the file in the store, or None for the record
    itself, and the problem."""
    if record.certificate is None:
        return
    path, certificate, problem = _read(store, record.certificate, Certificate)
    if certificate is None:
        yield path, f"its certificate ({record.certificate}) {problem}"
        return
    seen = {file.digest for file in certificate.files}
    for item in record.evidence:
        if item.role not in PICTURES and item.digest not in seen:
            yield path, f"does not speak of the {item.role} of run {record.run}"
        yield from _chain(record, item, store, seen)


def _chain(record: Record, item: Evidence, store: Store, seen: set[str]) -> Iterator[tuple[Path | None, str]]:
    """Each manifest begins where the one before it ended, the first with what arrived, the last with what is served."""
    before, spans = item.arrived, 0
    for digest in item.manifests:
        path, manifest, problem = _read(store, digest, Manifest)
        if manifest is None:
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


def _read(store: Store, digest: str, model: type[M]) -> tuple[Path | None, M | None, str]:
    path = store.path(digest)
    if path is None:
        return None, None, "is not in the store"
    try:
        if path.stat().st_size > MOST_BYTES:
            return path, None, f"is larger than {MOST_BYTES} bytes"
        if file_digest(path) != digest:
            return path, None, "was changed"
        return path, model.model_validate_json(path.read_bytes()), ""
    except ValidationError:
        return path, None, f"is no {model.__name__.lower()}"
    except OSError as error:
        return path, None, error.strerror or "cannot be read"
