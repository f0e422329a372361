"""Adding up what single answers used, without ever turning "not said" into 0."""

from __future__ import annotations

from archive.usage import UsageReading


class Tally:
    """Sums of the normal form. A number that one answer does not give is unknown for the whole."""

    def __init__(self) -> None:
        self.calls = 0
        self._silent = 0
        self._sums: list[tuple[int | None, ...]] = []

    def add(
        self,
        *,
        input_uncached: int | None,
        cache_read: int | None,
        cache_write: int | None,
        output: int | None,
        reasoning: int | None,
    ) -> None:
        """One answer. Where all its numbers are 0 or missing it said nothing of what it used, and is only counted."""
        self.calls += 1
        numbers = (input_uncached, cache_read, cache_write, output, reasoning)
        if any(numbers):
            self._sums.append(numbers)
        else:
            self._silent += 1

    def reading(self, source: str, *, complete: bool = True) -> UsageReading:
        """The sums; `complete` says whether the source has every answer."""
        if not self._sums:
            return UsageReading.unknown(self.calls)
        uncached, read, write, output, reasoning = (
            None if None in column else sum(column) for column in zip(*self._sums, strict=True)
        )
        if reasoning is not None and (output is None or reasoning > output):
            reasoning = None
        return UsageReading(
            input_uncached_tokens=uncached,
            cache_read_tokens=read,
            cache_write_tokens=write,
            output_tokens=output,
            reasoning_tokens=reasoning,
            calls=self.calls,
            source=source,
            complete=complete and not self._silent and uncached is not None and output is not None,
        )

    def total(self, source: str, calls: int | None, *, complete: bool = True) -> UsageReading:
        """The same where what was added are sums of the program's own, over `calls` answers (None: unknown)."""
        return self.reading(source, complete=complete).model_copy(update={"calls": calls})


def without(total: int | None, *parts: int | None) -> int | None:
    """`total` less its known parts; None where it is unknown or the parts are more than it."""
    if total is None:
        return None
    rest = total - sum(part or 0 for part in parts)
    return rest if rest >= 0 else None


def said(value: int | None) -> int | None:
    """A number of a program that writes 0 for "not told": 0 says nothing."""
    return value or None
