"""Whether the methodology page states the numbers of the newest edition, each of them, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from archive.edition import Edition
from audit.finding import Checked, Finding

PAGE = "docs/methodology.md"
_HEADING = re.compile(r"^#+ +All numbers of edition (\S+) *$", re.MULTILINE)
_ROW = re.compile(r"^\| *`([^`|]+)` *\| *(.*?) *\|$")


def methodology(root: Path, newest: Edition, checked: Checked) -> list[Finding]:
    """What the table "All numbers of edition X" says otherwise than `newest`."""
    path = root / PAGE
    if not path.is_file():
        return [Finding("rules", PAGE, "is missing; argusic pages build writes it")]
    return [Finding("rules", PAGE, problem) for problem in _problems(path.read_bytes(), newest, checked)]


def numbers(edition: Edition) -> dict[str, Any]:
    """Every number, boolean and null of an edition by its dotted field; words and days are no numbers."""
    found: dict[str, Any] = {}

    def walk(value: Any, path: str) -> None:
        if isinstance(value, dict):
            for key, item in value.items():
                walk(item, f"{path}.{key}" if path else key)
        elif value is None or isinstance(value, bool | int):
            found[path] = value

    walk(edition.model_dump(mode="json"), "")
    return found


def _problems(data: bytes, newest: Edition, checked: Checked) -> Iterator[str]:
    text = data.decode("utf-8", "replace")
    headings = list(_HEADING.finditer(text))
    if len(headings) != 1:
        yield f'has {len(headings)} sections "All numbers of edition …"; it must have one'
        return
    if headings[0][1] != newest.version:
        yield f"states the numbers of edition {headings[0][1]}; the newest one is {newest.version}"
        return
    section = re.split(r"^#", text[headings[0].end() :], maxsplit=1, flags=re.MULTILINE)[0]
    right, stated = numbers(newest), set[str]()
    for found in filter(None, map(_ROW.match, section.splitlines())):
        field, written = found[1], found[2]
        checked["methodology numbers"] += 1
        if field in stated:
            yield f"states {field} twice"
        stated.add(field)
        if field not in right:
            yield f"states {field}, which is no number of edition {newest.version}"
        elif written != json.dumps(right[field]):
            yield f"states {field} as {written}; edition {newest.version} says {json.dumps(right[field])}"
    for field in [field for field in right if field not in stated]:
        yield f"does not state {field} ({json.dumps(right[field])})"
