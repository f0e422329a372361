"""Known credential values, wiped from a stream wherever its reads were cut (MEASUREMENT §10).

Only exact values that the harness itself handed into the machine are looked for here. Each is replaced by as many
asterisks, so sizes and timing stay true.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

SHORTEST = 8
"""A shorter value is refused: replacing it everywhere would destroy the evidence."""


class Masker:
    """Masks one stream; `feed` in any pieces and `flush` give the same bytes as one piece would."""

    def __init__(self, values: Iterable[str]) -> None:
        self._values = sorted({value.encode() for value in values}, key=lambda value: (-len(value), value))
        for value in self._values:
            if len(value) < SHORTEST:
                raise ValueError(f"a value of {len(value)} bytes is too short to be masked safely")
        self._pattern = re.compile(b"|".join(map(re.escape, self._values))) if self._values else None
        self._held = b""
        self.count = 0
        """How many values were masked."""

    def feed(self, data: bytes) -> bytes:
        """The masked bytes that are certain by now; what may begin a value is held back."""
        if self._pattern is None:
            return data
        data = self._held + data
        keep = self._first_open(data)
        masked = self._mask(data[:keep])
        self._held = data[keep:]
        return masked

    def flush(self) -> bytes:
        """What was held back, masked, at the end of the stream."""
        rest, self._held = self._held, b""
        return self._mask(rest)

    def whole(self, data: bytes) -> bytes:
        """`data`, a complete file, masked."""
        return self.feed(data) + self.flush()

    def survivors(self, data: bytes) -> int:
        """How many known values can be read in `data`: as they stand, or with white space and escapes taken out."""
        plain = re.sub(rb"\x1b\[[0-?]*[ -/]*[@-~]", b"", data)
        views = (data, plain, re.sub(rb"\s", b"", plain))
        return sum(any(value in view for view in views) for value in self._values)

    def _mask(self, data: bytes) -> bytes:
        if self._pattern is None or not data:
            return data
        masked, found = self._pattern.subn(lambda match: b"*" * len(match.group()), data)
        self.count += found
        return masked

    def _first_open(self, data: bytes) -> int:
        """Where the part begins that more bytes could still turn into a value, or into a longer one."""
        assert self._pattern is not None
        first = max(0, len(data) - len(self._values[0]) + 1)
        start = next((place for place in range(first, len(data)) if self._could_grow(data[place:])), len(data))
        for match in self._pattern.finditer(data):
            if match.start() < start < match.end():
                return match.start()
        return start

    def _could_grow(self, tail: bytes) -> bool:
        return any(len(value) > len(tail) and value.startswith(tail) for value in self._values)
