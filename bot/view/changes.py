"""docs/changes.md: every edition of the rules and since when it is really in force (MEASUREMENT §12)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from archive.edition import Edition
from bot.results import CycleResult
from bot.view.numbers import Change, changes
from scoring.effective import effective


@dataclass(frozen=True)
class EditionChange:
    """One edition."""

    version: str
    written: str
    effective: str
    """A day, or "not yet"."""
    says: str
    """How the day was found, and where the document says something else."""
    changed: str
    numbers: list[Change]
    """Against the edition before."""
    first: bool


def edition_changes(editions: Mapping[str, Edition], found: list[CycleResult]) -> list[EditionChange]:
    """All editions, newest first. A demonstration is no public measurement and puts no edition in force."""
    days = effective(run.judged for one in found if not one.cycle.demonstration for run in one.runs)
    ordered = list(editions.values())
    listed = [
        EditionChange(
            version=edition.version,
            written=edition.written,
            effective=days.get(edition.version, "not yet"),
            says=_says(edition, days.get(edition.version)),
            changed=edition.changed,
            numbers=changes(before, edition) if before else [],
            first=before is None,
        )
        for before, edition in zip([None, *ordered], ordered, strict=False)
    ]
    return listed[::-1]


def _says(edition: Edition, day: str | None) -> str:
    stated = edition.stated_effective
    document = f"The document states {stated}" if stated else "The document states no day"
    if edition.decided:
        document += f"; the rule was decided on {edition.decided}"
    if day is None:
        return f"No run in this repository was measured under it yet. {document}."
    if stated == day:
        return f"{day} is the day of the first run measured under it, and the day that the document states."
    return f"{day} is the day of the first run measured under it. {document}. Where the two differ the records win."
