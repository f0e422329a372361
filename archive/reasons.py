"""Why an attempt does not count, and what follows: the one policy table (MEASUREMENT §7, §8, §9)."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from archive.edition import Edition


class Validity(StrEnum):
    """First question about an attempt: did our instrument work?"""

    VALID = "valid"
    INVALID = "invalid"
    WITHHELD = "withheld"


class Outcome(StrEnum):
    """Second question, of valid attempts only: what did the agent reach?"""

    PASS_FULL = "pass_full"
    PASS_MOCK = "pass_mock"
    FAIL = "fail"
    TIMEOUT = "timeout"

    @property
    def passed(self) -> bool:
        return self in (Outcome.PASS_FULL, Outcome.PASS_MOCK)


class Reason(StrEnum):
    """Why an attempt is invalid or withheld. The part before the colon names whose instrument failed."""

    AGENT_REPORT_CONTRADICTORY = "agent:report-contradictory"
    EVIDENCE_INCOMPLETE = "evidence:incomplete"
    EVIDENCE_NOT_PROVEN_CLEAN = "evidence:not-proven-clean"
    HARNESS_ERROR = "harness:error"
    HARNESS_REPORT_LOST = "harness:report-lost"
    INFRA_CANCELLED = "infra:cancelled"
    INFRA_DEMO_DEADLINE = "infra:demo-deadline"
    INFRA_DISK = "infra:disk"
    INFRA_MACHINE = "infra:machine"
    INFRA_NETWORK = "infra:network"
    INFRA_RUNNER_LOST = "infra:runner-lost"
    INFRA_SUBJECT_UNAVAILABLE = "infra:subject-unavailable"


class Policy(NamedTuple):
    """What follows from a reason."""

    counts: bool
    """Whether the attempt enters sets, pass rates and verdicts."""
    reruns: int | None
    """How often an attempt that ended for this reason is run again; None where the edition of the rules says it."""
    means: str
    """The reason in words, for pages and messages."""


POLICIES: dict[Reason, Policy] = {
    Reason.AGENT_REPORT_CONTRADICTORY: Policy(False, None, "the report claims more fixes than errors"),
    Reason.EVIDENCE_INCOMPLETE: Policy(False, 2, "log or recording is not complete"),
    Reason.EVIDENCE_NOT_PROVEN_CLEAN: Policy(False, 2, "the evidence could not be proven free of credentials"),
    Reason.HARNESS_ERROR: Policy(False, 2, "our own program failed"),
    Reason.HARNESS_REPORT_LOST: Policy(False, 2, "our own program lost the report"),
    Reason.INFRA_CANCELLED: Policy(False, 3, "a person stopped the run"),
    Reason.INFRA_DEMO_DEADLINE: Policy(False, 3, "the demonstration's own deadline ended it"),
    Reason.INFRA_DISK: Policy(False, 3, "the runner's disk was full"),
    Reason.INFRA_MACHINE: Policy(False, 3, "the disposable machine could not be made or was lost"),
    Reason.INFRA_NETWORK: Policy(False, 3, "the subject could not be fetched over the network"),
    Reason.INFRA_RUNNER_LOST: Policy(False, 3, "the runner ended before the attempt did"),
    Reason.INFRA_SUBJECT_UNAVAILABLE: Policy(False, 1, "its source does not serve the pinned version in a usable form"),
}

MAX_RERUNS = max(policy.reruns or 0 for policy in POLICIES.values())
"""Reruns that a plan makes room for in each slot; no edition allows more for its own reason."""


def reruns(reason: Reason, edition: Edition) -> int:
    """How often an attempt that ended for `reason` is run again under `edition`."""
    allowed = POLICIES[reason].reruns
    return edition.contradictory_reruns if allowed is None else allowed


def reruns_left(reasons: list[Reason], edition: Edition) -> int:
    """How often the slot may be run again after attempts that ended for `reasons`, the last one last.

    Counted for each reason by itself: one contradictory report is run again once, whatever happened before it.
    """
    if not reasons:
        return 0
    last = reasons[-1]
    return max(0, reruns(last, edition) - (reasons.count(last) - 1))
