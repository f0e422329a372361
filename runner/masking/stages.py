"""A file on its way from what arrived to what is served: two stages, a manifest for each (MEASUREMENT §10)."""

from __future__ import annotations

import hashlib
import hmac
from typing import NamedTuple

from archive import asciicast
from archive.edits import Edit, Fingerprint, Form, Manifest, Stage, apply_to_bytes
from runner.masking.banner import WINDOW_BYTES, banner
from runner.masking.cast import Finding, edits_of_cast
from runner.masking.keys import keys
from runner.masking.look import credentials
from runner.masking.spelling import Known
from runner.masking.windows import in_windows


class Tool(NamedTuple):
    """The program whose banner the beginning of a file may show."""

    name: str
    version: str


class Staged(NamedTuple):
    """One file, both stages done."""

    archived: bytes
    """Stage 1: private, without credentials."""
    served: bytes
    credentials: Manifest
    presentation: Manifest


def staged(data: bytes, known: Known, key: bytes, name: str, tool: Tool | None = None) -> Staged:
    """Both stages of a file of any form; `key` makes the commitments to what hides something.

    Raises NotProven, and DataError for a recording that cannot be read.
    """
    if asciicast.is_asciicast(data):
        return _staged_cast(data, known, key, name, tool)
    return staged_bytes(data, known, key, tool)


def staged_bytes(data: bytes, known: Known, key: bytes, tool: Tool | None = None) -> Staged:
    """As `staged`, for what is no recording, whatever it looks like: a terminal can print one."""
    first = in_windows(data, lambda part: credentials(part, known))
    archived = apply_to_bytes(data, first)
    second = _presentation(archived, tool)
    return _told("bytes", data, first, archived, second, apply_to_bytes(archived, second), key)


def _staged_cast(data: bytes, known: Known, key: bytes, name: str, tool: Tool | None) -> Staged:
    cast = asciicast.read(data, name)
    columns, rows = cast.header["width"], cast.header["height"]
    look: Finding = lambda text: credentials(text, known, columns, rows)  # noqa: E731
    first = edits_of_cast(cast, look)
    stage = asciicast.apply(cast, first)
    second = edits_of_cast(stage, keys)
    if tool is not None:
        second = merged(second, edits_of_cast(_output(stage), lambda text: _banner_of(text, tool)))
    served = asciicast.apply(stage, second)
    return _told("asciicast", data, first, asciicast.write(stage), second, asciicast.write(served), key)


def _output(cast: asciicast.Asciicast) -> asciicast.Asciicast:
    """The same events, those that are no output empty."""
    events = tuple(event if event.code == "o" else event._replace(code="o", text="") for event in cast.events)
    return cast._replace(events=events)


def _presentation(data: bytes, tool: Tool | None) -> tuple[Edit, ...]:
    found = in_windows(data, keys)
    return merged(found, _banner_of(data, tool)) if tool is not None else found


def _banner_of(data: bytes, tool: Tool) -> tuple[Edit, ...]:
    edit = banner(data[: 2 * WINDOW_BYTES], *tool)
    return () if edit is None else (edit,)


def merged(first: tuple[Edit, ...], second: tuple[Edit, ...]) -> tuple[Edit, ...]:
    """Both in order; of the second those that lie over none of the first."""
    free = tuple(
        edit
        for edit in second
        if not any(
            edit.event == other.event
            and edit.offset < other.offset + other.length
            and other.offset < edit.offset + edit.length
            for other in first
        )
    )
    return tuple(sorted((*first, *free), key=lambda edit: (edit.event or 0, edit.offset)))


def _told(
    form: Form,
    data: bytes,
    first: tuple[Edit, ...],
    archived: bytes,
    second: tuple[Edit, ...],
    served: bytes,
    key: bytes,
) -> Staged:
    def manifest(stage: Stage, before: Fingerprint, after: Fingerprint, edits: tuple[Edit, ...]) -> Manifest:
        return Manifest(schema_version=1, stage=stage, form=form, before=before, after=after, edits=edits)

    middle = committed(archived, key)
    return Staged(
        archived,
        served,
        manifest("credentials", committed(data, key), middle, first),
        manifest("presentation", middle, shown(served), second),
    )


def committed(data: bytes, key: bytes) -> Fingerprint:
    """Of bytes that hide something, or will: nobody without the key can try values against it."""
    return Fingerprint(bytes=len(data), mark=f"hmac-sha256:{hmac.digest(key, data, 'sha256').hex()}")


def shown(data: bytes) -> Fingerprint:
    """Of a served copy."""
    return Fingerprint(bytes=len(data), mark=f"sha256:{hashlib.sha256(data).hexdigest()}")
