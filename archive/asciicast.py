"""Recordings in asciicast v2 and v3: read strictly, repaired where nothing is guessed, written as v2 (MEASUREMENT §10).

A player shows less than the file holds: other headers, unknown events, comments. What is not shown is not kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from archive.edits import Edit, covered
from archive.errors import DataError

COLUMNS, ROWS = 80, 24
"""Of a recording that gives no size."""
_LARGEST = 10_000
_LATEST = Decimal(10**9)
_SIZE = re.compile(r"([1-9]\d{0,3})x([1-9]\d{0,3})")
_ENV = ("SHELL", "TERM")
_ENV_VALUE = re.compile(r"[\w./+-]{1,64}")
_KEPT = ("m", "o", "r")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MAGIC = re.compile(rb"\s*\{[^\n]*\"version\"\s*:\s*[0-9]")


class Event(NamedTuple):
    """One event."""

    at_us: int
    """Microseconds from the beginning."""
    code: str
    """o (output), m (marker) or r (the terminal's size, "COLUMNSxROWS")."""
    text: str


class Asciicast(NamedTuple):
    """A recording, and what reading it left out or repaired."""

    header: dict[str, Any]
    """version (2), width, height, timestamp where there is one, env with SHELL and TERM."""
    events: tuple[Event, ...]
    dropped: dict[str, int]
    """How often what was left out or repaired; input events among it."""


def is_asciicast(data: bytes) -> bool:
    """Whether a file begins as a recording does."""
    return _MAGIC.match(data[:4096]) is not None


def read(data: bytes, file: Path | str = "recording") -> Asciicast:
    """A recording of version 2 or 3.

    Repaired and counted: a torn last line, bytes that are no UTF-8, times that go backwards, sizes of zero, events that
    are unknown or input, comments. Raises DataError that names the line for all else that is no recording.
    """
    dropped: dict[str, int] = {}

    def drop(what: str) -> None:
        dropped[what] = dropped.get(what, 0) + 1

    text = data.decode("utf-8", "replace")
    if "\ufffd" in text and b"\xef\xbf\xbd" not in data:
        drop("bytes that are no UTF-8")
    lines = text.split("\n")
    header, relative = _header(lines[0], file, drop)
    events: list[Event] = []
    now = Decimal(0)
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        if line.startswith("#") and relative:
            drop("comment")
            continue
        try:
            at, code, shown = _event(line)
        except ValueError as problem:
            if number == len(lines):
                drop("torn last line")
                break
            raise DataError(file, "", str(problem), number) from None
        if relative:
            at += now
        if at < now:
            drop("time that goes backwards")
        now = max(now, at)
        if now > _LATEST:
            raise DataError(file, "", "a time of more than thirty years", number)
        size = _SIZE.fullmatch(shown) if code == "r" else True
        if code not in _KEPT or not size:
            drop({"i": "input", "r": "size of zero"}.get(code, "unknown event"))
            continue
        events.append(Event(int(now * 1_000_000), code, _SURROGATE.sub("\ufffd", shown)))
    return Asciicast(header, tuple(events), dropped)


def write(cast: Asciicast) -> bytes:
    """As asciicast v2; reading and writing that again changes nothing."""
    lines = [orjson.dumps(cast.header) + b"\n"]
    lines += [
        b'[%d.%06d, "%s", %s]\n' % (*divmod(at, 1_000_000), code.encode(), orjson.dumps(text))
        for at, code, text in cast.events
    ]
    return b"".join(lines)


def apply(cast: Asciicast, edits: Iterable[Edit]) -> Asciicast:
    """The next stage of a recording; offsets count characters of an event. Raises ValueError for one outside."""
    events = list(cast.events)
    for number, own in groupby(edits, lambda edit: edit.event):
        if number is None or number >= len(events):
            raise ValueError(f"an edit names event {number}, the recording has {len(events)}")
        at, code, text = events[number]
        parts, end = [], 0
        for edit in own:
            parts += [text[end : edit.offset], covered(text[edit.offset : edit.offset + edit.length], edit.kind)]
            end = edit.offset + edit.length
        if end > len(text):
            raise ValueError(f"an edit ends at character {end} of event {number}, which has {len(text)}")
        events[number] = Event(at, code, "".join(parts) + text[end:])
    return cast._replace(events=tuple(events))


def apply_to_asciicast(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The next stage of a recording's file."""
    return write(apply(read(data), edits))


def _header(line: str, file: Path | str, drop: Any) -> tuple[dict[str, Any], bool]:
    """The header that is kept, and whether times are relative."""
    try:
        given = _loads(line)
    except ValueError:
        given = None
    if not isinstance(given, dict) or given.get("version") not in (2, 3):
        raise DataError(file, "version", "no recording of asciicast version 2 or 3", 1)
    relative = given["version"] == 3
    term = given.get("term") if relative else {"cols": given.get("width"), "rows": given.get("height")}
    if not isinstance(term, dict):
        raise DataError(file, "term", "a recording of version 3 says its size there", 1)
    header: dict[str, Any] = {"version": 2}
    for name, given_name, usual in (("width", "cols", COLUMNS), ("height", "rows", ROWS)):
        size = term.get(given_name)
        if not isinstance(size, int) or isinstance(size, bool) or size < 0 or size > _LARGEST:
            raise DataError(file, name, "a number of cells", 1)
        if size == 0:
            drop("size of zero")
        header[name] = size or usual
    stamp = given.get("timestamp")
    if isinstance(stamp, int | Decimal) and not isinstance(stamp, bool) and 0 <= stamp < 10**11:
        header["timestamp"] = int(stamp)
    env = dict(given["env"]) if isinstance(given.get("env"), dict) else {}
    if relative and isinstance(term.get("type"), str):
        env["TERM"] = term["type"]
    kept = {name: env[name] for name in _ENV if isinstance(env.get(name), str) and _ENV_VALUE.fullmatch(env[name])}
    if kept:
        header["env"] = kept
    return header, relative


def _event(line: str) -> tuple[Decimal, str, str]:
    try:
        given = _loads(line)
    except (ValueError, RecursionError):
        raise ValueError("neither an event nor anything else of a recording") from None
    if not isinstance(given, list) or len(given) != 3:
        raise ValueError("an event is a list of time, code and text")
    at, code, text = given
    if isinstance(at, bool) or not isinstance(at, int | Decimal) or at < 0:
        raise ValueError("an event begins with its time in seconds")
    if not isinstance(code, str) or not isinstance(text, str):
        raise ValueError("code and text of an event are strings")
    return Decimal(at), code, text


def _loads(line: str) -> Any:
    def refuse(word: str) -> None:
        raise ValueError(f"{word} is no number")

    return json.loads(line, parse_float=Decimal, parse_constant=refuse)
