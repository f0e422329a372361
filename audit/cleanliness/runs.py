"""Runs of characters of one kind, found as fast as memory is read."""

from __future__ import annotations

from functools import cache


class Runs:
    """All runs of at least `least` bytes of a class, written as in a regular expression and without its brackets."""

    def __init__(self, kind: str, least: int) -> None:
        import hyperscan

        self._database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        # The byte behind a run is part of the pattern, else each byte of a long run would be the end of one.
        pattern = f"[{kind}]{{{least},}}[^{kind}]".encode()
        self._database.compile([pattern], flags=hyperscan.HS_FLAG_SOM_LEFTMOST | hyperscan.HS_FLAG_DOTALL)

    def inside(self, data: bytes) -> list[bytes]:
        """The runs in `data`; a zero byte is in none."""
        spans: list[tuple[int, int]] = []
        self._database.scan(data + b"\0", match_event_handler=lambda _, start, end, *__: spans.append((start, end - 1)))
        return [data[start:end] for start, end in spans]


class Anywhere:
    """Whether anything that fits one of `patterns` is in a text: what a slower search need not look for, mostly."""

    def __init__(self, *patterns: bytes) -> None:
        import hyperscan

        self._database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        self._database.compile(list(patterns), flags=hyperscan.HS_FLAG_SINGLEMATCH)

    def inside(self, data: bytes) -> bool:
        found: list[int] = []
        self._database.scan(data, match_event_handler=lambda *_: found.append(1))
        return bool(found)


@cache
def anywhere(*patterns: bytes) -> Anywhere:
    """The same as `Anywhere`, made once."""
    return Anywhere(*patterns)


@cache
def runs(kind: str, least: int) -> Runs:
    """The same as `Runs`, made once: to make one takes longer than to look through a small file."""
    return Runs(kind, least)
