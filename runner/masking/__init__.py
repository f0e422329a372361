"""stand-in until the masker lands"""

from __future__ import annotations

from collections.abc import Iterable

from archive.edits import Edit


class NotProven(Exception):
    """x"""


class Known:
    def __init__(self, values: Iterable[str]) -> None:
        self.values = tuple(values)


def credentials(data: bytes, known: Known) -> tuple[Edit, ...]:
    import re

    pattern = b"|".join(re.escape(v.encode()) for v in known.values)
    found = re.finditer(pattern, data) if known.values else ()
    return tuple(Edit(event=None, offset=m.start(), length=len(m[0]), kind="credential") for m in found)


def keys(data: bytes) -> tuple[Edit, ...]:
    return ()
