"""docs/changes.md: every edition of the rules and since when it is really in force (MEASUREMENT §12)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from archive.edition import Edition
from bot.results import CycleResult, measurements
from bot.view.numbers import Change, changes
from scoring.effective import effective


@dataclass(frozen=True)
class EditionChange:
    """One edition."""

    version: str
    written: str
    effective: str
    """A day, or that there is none."""
    stated: str
    """The day that the published methodology states, where it does."""
    says: str
    """How the day was found, and where the document says something else."""
    changed: str
    numbers: list[Change]
    """Against the edition before."""
    first: bool


def edition_changes(editions: Mapping[str, Edition], found: list[CycleResult]) -> list[EditionChange]:
    """All editions, newest first. Demonstrations and control agents are no measurement: they put none in force."""
    days = effective(run.judged for run in measurements(found))
    ordered = list(editions.values())
    listed = [
        EditionChange(
            version=edition.version,
            written=edition.written,
            effective=days.get(edition.version, "no run here yet"),
            stated=edition.stated_effective or "none",
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
    document = f"The published methodology states {stated or 'no day'}"
    if edition.decided:
        document += f"; the rule was decided on {edition.decided}"
    if day is None:
        return f"No run here yet. {document}."
    if stated == day:
        return (
            f"{day} is the day of the first run measured under it, and the day that the published methodology states."
        )
    return f"{day} is the day of the first run measured under it. {document}. Where the two differ the records win."
