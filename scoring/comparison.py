"""Two attempts at the same thing, side by side: what differs, and where they first went apart (MEASUREMENT §11)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from archive.edition import Edition
from archive.record import Record
from scoring.attempted import attempted

COUNTED = ("validity", "outcome", "score", "installed", "launched", "errors", "fixed", "depth")
"""Facts whose difference is another result. Time and words differ from one attempt to the next."""


class Fact(NamedTuple):
    """One fact of both attempts."""

    name: str
    before: str
    """n/a where it was not reached."""
    now: str

    @property
    def same(self) -> bool:
        """Whether it is the same in both."""
        return self.before == self.now


class Comparison(NamedTuple):
    """Two attempts."""

    facts: tuple[Fact, ...]
    """In the order in which an attempt comes to them."""

    @property
    def agrees(self) -> bool:
        """Whether the result is the same."""
        return all(fact.same for fact in self.facts if fact.name in COUNTED)

    @property
    def apart(self) -> str | None:
        """The first fact that is another one; None where the attempts never went apart."""
        return next((fact.name for fact in self.facts if not fact.same and fact.name not in ("minutes",)), None)


def compared(before: Record, now: Record, editions: Mapping[str, Edition]) -> Comparison:
    """`now` is `before` made again. Raises DataError where one of them cannot be judged."""
    pairs = zip(_facts(before, editions), _facts(now, editions), strict=True)
    return Comparison(tuple(Fact(name, old, new) for (name, old), (_, new) in pairs))


def _facts(record: Record, editions: Mapping[str, Edition]) -> Iterator[tuple[str, str]]:
    score = attempted(record, editions).score
    report = record.report
    minutes = None if record.times.agent_ms is None else f"{record.times.agent_ms / 60_000:.1f}"
    found: dict[str, object] = {
        "image": record.environment.image,
        "harness": record.environment.harness.digest[:19],
        "program": record.program.digest[:19] if record.program else None,
        "fetched": ", ".join(f"{file.name} {file.digest[:19]}" for file in record.fetched) or None,
        "installed": report and report.installed,
        "launched": report and report.launched,
        "errors": report and report.errors_encountered,
        "first error": report.errors[0].what if report and report.errors else None,
        "fixed": report and report.errors_fixed,
        "depth": report and report.test_depth,
        "ended by": record.ended_by,
        "minutes": minutes,
        "validity": f"{record.validity} ({record.reason})" if record.reason else record.validity,
        "outcome": record.outcome,
        "score": None if score is None else f"{float(score):g}",
    }
    for name, value in found.items():
        yield name, _written(value)


def _written(value: object) -> str:
    if value is None:
        return "n/a"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
