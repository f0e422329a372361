"""docs/sources.md: the declared kinds of subject and which of them were really tested (MEASUREMENT §4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from archive import purl
from archive.reasons import Validity
from archive.source_type import SourceType
from bot.results import CycleResult


@dataclass(frozen=True)
class SourceRow:
    """One source type."""

    name: str
    runs_means: str
    status: str


def source_rows(types: Mapping[str, SourceType], found: list[CycleResult]) -> list[SourceRow]:
    """All types with their computed status, those in use first. Versions of a project count once, and only projects
    with a valid attempt, which has a recording and a log; demonstrations never count."""
    tested: dict[str, set[tuple[str, str]]] = defaultdict(set)
    subjects = {
        (run.judged.source_type, run.judged.subject)
        for one in found
        if not one.cycle.demonstration
        for run in one.runs
        if run.judged.validity is Validity.VALID
    }
    for kind, subject in subjects:
        tested[kind].add((kind, purl.parse(subject).project))
    rows = sorted(types.values(), key=lambda one: (not tested[one.id], one.id))
    return [SourceRow(one.name, one.runs_means, status(len(tested[one.id]))) for one in rows]


def status(projects: int) -> str:
    """The fixed words (MEASUREMENT §15)."""
    return f"in use. {projects} projects tested" if projects else "declared, not started"
