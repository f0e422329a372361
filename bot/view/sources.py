"""docs/sources.md: the declared kinds of subject and which of them were really tested (MEASUREMENT §4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from archive import purl
from archive.reasons import Validity
from archive.source_type import SourceType
from bot import words
from bot.results import CycleResult, measurements


@dataclass(frozen=True)
class SourceRow:
    """One source type."""

    name: str
    runs_means: str
    status: str
    snippet: bool
    """In use, and a pass proves a documented snippet and not a product."""


def source_rows(types: Mapping[str, SourceType], found: list[CycleResult]) -> list[SourceRow]:
    """All types with their computed status, those in use first. Versions of a project count once, and only projects
    with a valid attempt, which has a recording and a log; demonstrations and control agents never count."""
    tested: dict[str, set[tuple[str, str]]] = defaultdict(set)
    subjects = {
        (run.judged.source_type, run.judged.subject)
        for run in measurements(found)
        if run.judged.validity is Validity.VALID
    }
    for kind, subject in subjects:
        tested[kind].add((kind, purl.parse(subject).project))
    rows = sorted(types.values(), key=lambda one: (not tested[one.id], one.id))
    return [
        SourceRow(
            name=one.name,
            runs_means=one.runs_means,
            status=status(len(tested[one.id])),
            snippet=bool(tested[one.id]) and one.id in words.SNIPPET_TYPES,
        )
        for one in rows
    ]


def status(projects: int) -> str:
    """The fixed words (MEASUREMENT §15)."""
    return f"in use. {projects} projects tested" if projects else "declared, not started"
