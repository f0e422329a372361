"""Board and verdicts of a cycle, derived once more from its records alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from archive import pools
from archive.record import Record
from scoring.attempted import attempted
from scoring.board import Row, board
from scoring.review import under_review
from scoring.rounding import exact
from scoring.sets import sets
from scoring.verdict import verdicts


def derived(root: Path, cycle: str, made: Iterable[Record]) -> list[str]:
    """Board and verdicts of a cycle in words, a line each, under the edition of the cycle alone.

    Raises DataError where the outcome in a record is not the one that its report gives.
    """
    declared, editions = pools.cycle(root, cycle), pools.editions(root)
    edition = editions[declared.edition]
    controls = {agent.id for agent in pools.agents(root).values() if agent.control}
    attempts = [attempted(record, editions) for record in made if record.edition == edition.version]
    measured = sets(attempts, edition)
    rows = board(measured, under_review(measured, controls, edition), controls, edition)
    found = verdicts(attempts, declared.standard_agent, edition)
    told = [f"verdict: {subject}: {one.words or 'this edition has none'}" for subject, one in found.items()]
    return [*map(_row, rows), *told]


def _row(row: Row) -> str:
    score = "no score" if row.board_score is None else exact(row.board_score)
    rank = f"rank {row.rank}" if row.rank else "control" if row.control else "not ranked"
    return f"board: {row.agent}: {score} ({rank}), {row.passes} of {row.attempts} valid attempts passed"
