"""What is said about a project, and who has to try it next (MEASUREMENT §9)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from archive.edition import Edition
from archive.reasons import Outcome, Validity
from scoring.attempted import Attempted

Words = Literal["runs", "runs with mocks", "could not verify", "not yet verified"]
Who = Literal["standard", "stronger"]

_PASSES: tuple[tuple[Outcome, Words], ...] = (
    (Outcome.PASS_FULL, "runs"),
    (Outcome.PASS_MOCK, "runs with mocks"),
)
"""Best first."""


class Tried(NamedTuple):
    """One attempt at a project, as its verdict sees it."""

    agent: Who
    outcome: Outcome | None
    """Not looked at unless valid."""
    validity: Validity
    run: str | None = None


class Verdict(NamedTuple):
    """Where a project stands."""

    words: Words | None
    """None where the edition had no verdict yet."""
    next: Who | None
    """Whose attempt comes next; None where the question is settled."""
    verified_by: str | None
    """The run that reached the verdict; None unless it passed."""


def verdict(attempts: Sequence[Tried], edition: Edition) -> Verdict:
    """The verdict on a project from all its attempts, in order of their number.

    It is the best outcome that any valid attempt reached, a stronger agent's included, so a further attempt never
    lowers it. Without a pass: not yet verified until the standard agent has failed as often as `edition` says, and,
    where the edition has a stronger agent in its chain (0.4 to 1.2), until that one has failed too. Order decides
    only which of several equal passes `verified_by` names: the standard agent's first one.
    """
    if edition.verdict is None:
        return Verdict(None, None, None)
    valid = [attempt for attempt in attempts if attempt.validity is Validity.VALID]
    for outcome, words in _PASSES:
        reached = [attempt for attempt in valid if attempt.outcome is outcome]
        if reached:
            return Verdict(words, None, min(reached, key=lambda attempt: attempt.agent != "standard").run)
    tries = sum(attempt.agent == "standard" for attempt in valid)
    if tries < edition.verdict.standard_attempts:
        return Verdict("not yet verified", "standard", None)
    if edition.verdict.stronger_in_chain and tries == len(valid):
        return Verdict("not yet verified", "stronger", None)
    return Verdict("could not verify", None, None)


def verdicts(attempts: Iterable[Attempted], standard_agent: str, edition: Edition) -> dict[str, Verdict]:
    """The verdict on each subject that `attempts`, those of one cycle in any order, were made on, by package URL.

    A valid pass counts whoever made it and whatever for: it proves that the project runs. Failures count of the
    standard agent, whatever they were made for, and of any other agent where its attempt was made for the verdict (it
    is the stronger one then): a failure on the board alone proves nothing about the project.
    Raises ValueError for an attempt made under another edition than `edition`.
    """
    groups: dict[str, list[Attempted]] = defaultdict(list)
    for attempt in attempts:
        if attempt.edition != edition.version:
            raise ValueError(f"run {attempt.run} was made under edition {attempt.edition}, not {edition.version}")
        group = groups[attempt.subject]
        if counts(attempt, standard_agent):
            group.append(attempt)
    found: dict[str, Verdict] = {}
    for subject in sorted(groups):
        ordered = sorted(groups[subject], key=lambda one: (one.attempt, one.purpose, one.agent, one.run))
        tried = [
            Tried("standard" if one.agent == standard_agent else "stronger", one.outcome, one.validity, one.run)
            for one in ordered
        ]
        found[subject] = verdict(tried, edition)
    return found


def counts(attempt: Attempted, standard_agent: str) -> bool:
    """Whether the verdict looks at `attempt`, should it be valid."""
    asked = attempt.agent == standard_agent or attempt.purpose == "verdict"
    return asked or (attempt.outcome is not None and attempt.outcome.passed)
