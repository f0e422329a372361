"""From sets to one number an agent, with every exclusion visible (MEASUREMENT §8)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from fractions import Fraction
from typing import NamedTuple

from archive.edition import Edition
from scoring.interval import wilson_95
from scoring.sets import MeasuredSet
from scoring.spread import middle


class Row(NamedTuple):
    """One agent on the board."""

    agent: str
    rank: int | None
    """1 is best; equal scores share one. None for a control and for an agent with nothing scorable."""
    board_score: Fraction | None
    """The middle of its scorable sets' middles, 0 to 100; None where there is none."""
    sets: int
    """All its sets, the excluded ones too."""
    unstable: tuple[str, ...]
    """Projects whose set is set aside for its spread."""
    under_review: tuple[str, ...]
    """Its projects that wait for a person."""
    incomplete: tuple[str, ...]
    """Projects with fewer valid attempts than a set has. A project can be in several of these three lists."""
    passes: int
    """Valid attempts that passed, fully or with mocks."""
    attempts: int
    """All valid attempts, time-outs and attempts of excluded sets too."""
    wilson_95: tuple[float, float] | None
    """Interval of the pass rate, 0 to 1, not rounded; None without a valid attempt."""
    control: bool
    """A built-in program: shown last, never ranked."""


def board(
    sets: Iterable[MeasuredSet], under_review: Collection[str], controls: Collection[str], edition: Edition
) -> list[Row]:
    """The rows of a cycle's board, best first; the order of `sets` does not matter.

    Ranked agents come first, then agents with nothing scorable, then controls; equals by name. `under_review` are
    projects, `controls` agents. Raises ValueError for a set that was measured by another edition.
    """
    by_agent: dict[str, list[MeasuredSet]] = defaultdict(list)
    for measured in sets:
        if measured.edition is not edition and measured.edition != edition:
            raise ValueError(f"the set of {measured.agent} on {measured.project} was measured by another edition")
        by_agent[measured.agent].append(measured)
    reviewed = frozenset(under_review)
    rows = [_row(agent, group, reviewed, agent in controls) for agent, group in by_agent.items()]
    rows.sort(key=lambda row: (row.control, row.board_score is None, -(row.board_score or 0), row.agent))
    return _ranked(rows)


def _row(agent: str, group: list[MeasuredSet], reviewed: frozenset[str], control: bool) -> Row:
    group.sort(key=lambda measured: measured.project)
    unstable = tuple(measured.project for measured in group if measured.unstable)
    waiting = tuple(measured.project for measured in group if measured.project in reviewed)
    aside = {*unstable, *waiting}
    scores = [measured.middle for measured in group if measured.project not in aside]
    scorable = [score for score in scores if score is not None]
    outcomes = [outcome for measured in group for outcome in measured.outcomes]
    passes = sum(outcome.passed for outcome in outcomes)
    return Row(
        agent=agent,
        rank=None,
        board_score=middle(scorable) if scorable else None,
        sets=len(group),
        unstable=unstable,
        under_review=waiting,
        incomplete=tuple(measured.project for measured in group if not measured.complete),
        passes=passes,
        attempts=len(outcomes),
        wilson_95=wilson_95(passes, len(outcomes)),
        control=control,
    )


def _ranked(rows: list[Row]) -> list[Row]:
    """`rows`, best first, with their ranks: 1, 1, 3 where two are equal."""
    ranked: list[Row] = []
    for place, row in enumerate(rows, 1):
        if row.control or row.board_score is None:
            ranked.append(row)
        elif ranked and ranked[-1].board_score == row.board_score:
            ranked.append(row._replace(rank=ranked[-1].rank))
        else:
            ranked.append(row._replace(rank=place))
    return ranked
