"""Environment quality control: a project on which every agent fails says nothing about agents (MEASUREMENT §8)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from archive.edition import Edition
from scoring.sets import MeasuredSet


def under_review(sets: Iterable[MeasuredSet], controls: Collection[str], edition: Edition) -> set[str]:
    """The projects that every ranked agent with a valid attempt there failed, each in all its valid attempts.

    A time-out is a failure. It takes as many such agents as the edition says (two); agents in `controls` count
    neither way. Empty under an edition that did not have the exclusion. A person's decision about a project comes
    after this and stands above it.
    """
    needed = edition.board.under_review_agents
    if needed is None:
        return set()
    failed: dict[str, list[bool]] = defaultdict(list)
    for measured in sets:
        if measured.outcomes and measured.agent not in controls:
            failed[measured.project].append(not any(outcome.passed for outcome in measured.outcomes))
    return {project for project, agents in failed.items() if len(agents) >= needed and all(agents)}
