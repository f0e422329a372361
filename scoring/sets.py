"""The attempts of one agent on one project in one cycle, made into a set (MEASUREMENT §1, §8)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from archive.edition import Edition
from archive.reasons import Outcome, Validity
from scoring import spread as spreads
from scoring.attempted import Attempted
from scoring.spread import Spread


class MeasuredSet(NamedTuple):
    """What one agent reached on one project."""

    agent: str
    project: str
    """The subject's package URL."""
    scores: tuple[Fraction, ...]
    """Of the first three valid attempts by number; of fewer while the set is incomplete."""
    outcomes: tuple[Outcome, ...]
    """Of every valid attempt of the agent on the project, those made for a verdict too: all enter the pass rate."""
    attempts: tuple[Attempted, ...]
    """The attempts for the board by number, invalid and withheld ones too."""
    edition: Edition
    """Whose numbers this set is measured by."""

    @property
    def complete(self) -> bool:
        """Whether there are enough valid attempts; an incomplete set is shown, never scored."""
        return len(self.scores) == self.edition.board.set_size

    @property
    def middle(self) -> Fraction | None:
        """The set's score; None while incomplete."""
        return spreads.middle(self.scores) if self.complete else None

    @property
    def spread(self) -> Spread | None:
        """In percent of the middle; None while incomplete."""
        return spreads.spread(self.scores) if self.complete else None

    @property
    def unstable(self) -> bool:
        """Whether the spread sets it aside; never while incomplete."""
        value = self.spread
        return value is not None and spreads.unstable(value, self.edition)


def sets(attempts: Iterable[Attempted], edition: Edition) -> list[MeasuredSet]:
    """The sets of one cycle, by agent and project, of the agents that have an attempt for the board.

    Scores are those of attempts for the board; an attempt for another purpose counts in the pass rate alone, and makes
    an incomplete set where it is the only one. The order of `attempts` does not matter. Raises ValueError where they
    come from several cycles or were made under another edition than `edition`: scores of different rules do not make
    one set.
    """
    groups: dict[tuple[str, str], list[Attempted]] = defaultdict(list)
    on_board: set[str] = set()
    cycles: set[str] = set()
    for attempt in attempts:
        if attempt.purpose == "board":
            on_board.add(attempt.agent)
        if attempt.edition != edition.version:
            raise ValueError(f"run {attempt.run} was made under edition {attempt.edition}, not {edition.version}")
        groups[attempt.agent, attempt.subject].append(attempt)
        cycles.add(attempt.cycle)
    if len(cycles) > 1:
        raise ValueError(f"attempts of several cycles do not make one set: {', '.join(sorted(cycles))}")
    return [_measured(*key, groups[key], edition) for key in sorted(groups) if key[0] in on_board]


def _measured(agent: str, project: str, group: list[Attempted], edition: Edition) -> MeasuredSet:
    group.sort(key=lambda attempt: (attempt.purpose, attempt.attempt, attempt.run))
    valid = [attempt for attempt in group if attempt.validity is Validity.VALID]
    scores = [attempt.score for attempt in valid if attempt.purpose == "board" and attempt.score is not None]
    outcomes = tuple(attempt.outcome for attempt in valid if attempt.outcome is not None)
    own = tuple(attempt for attempt in group if attempt.purpose == "board")
    return MeasuredSet(agent, project, tuple(scores[: edition.board.set_size]), outcomes, own, edition)
