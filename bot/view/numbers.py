"""Every number, switch and gap of an edition by the name of its field, and what changed between two of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from archive.edition import Edition

Number = int | bool | None


class Change(NamedTuple):
    """A field that differs between two editions."""

    field: str
    before: str
    after: str


def numbers(edition: Edition) -> dict[str, Number]:
    """The scalar numbers, switches and nulls of `edition` by dotted field, in the order of the model."""
    return dict(_flat(edition.model_dump(), ""))


def changes(before: Edition, after: Edition) -> list[Change]:
    """The numbers in which two editions differ, in the order of the model."""
    old, new = numbers(before), numbers(after)
    both = (Change(field, _words(old.get(field)), _words(new.get(field))) for field in dict.fromkeys((*new, *old)))
    return [change for change in both if change.before != change.after]


def _flat(data: dict[str, Any], at: str) -> Iterator[tuple[str, Number]]:
    for name, value in data.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{at}{name}.")
        elif value is None or isinstance(value, bool | int):
            yield f"{at}{name}", value


def _words(value: Number) -> str:
    return "none" if value is None else ("yes" if value else "no") if isinstance(value, bool) else str(value)
