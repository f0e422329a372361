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

    AGENT_CRASHED = "agent:crashed"
    AGENT_REPORT_CONTRADICTORY = "agent:report-contradictory"
    EVIDENCE_INCOMPLETE = "evidence:incomplete"
    EVIDENCE_NOT_PROVEN_CLEAN = "evidence:not-proven-clean"
    HARNESS_AGENT_NOT_STARTED = "harness:agent-not-started"
    HARNESS_ERROR = "harness:error"
    HARNESS_REPORT_LOST = "harness:report-lost"
    INFRA_CANCELLED = "infra:cancelled"
    INFRA_DEMO_DEADLINE = "infra:demo-deadline"
    INFRA_DISK = "infra:disk"
    INFRA_MACHINE = "infra:machine"
    INFRA_NETWORK = "infra:network"
    INFRA_RUNNER_LOST = "infra:runner-lost"
    INFRA_SUBJECT_UNAVAILABLE = "infra:subject-unavailable"
    KEY_REFUSED = "key:refused"
    KEY_UNFUNDED = "key:unfunded"
    PROVIDER_ERROR = "provider:error"
    PROVIDER_RATE_LIMITED = "provider:rate-limited"
    PROVIDER_REQUEST_REFUSED = "provider:request-refused"
    PROVIDER_STREAM_CUT = "provider:stream-cut"
    PROVIDER_UNREACHABLE = "provider:unreachable"


class Limit(StrEnum):
    """A limit that the agent itself reached in its talk with its model: an outcome, never a reason."""

    KEY_CAP = "key:cap-reached"
    MODEL_CONTEXT = "model:context-full"


class Policy(NamedTuple):
    """What follows from a reason or a limit."""

    counts: bool
    """Whether the attempt enters sets, pass rates and verdicts."""
    reruns: int | None
    """How often an attempt that ended for this reason is run again; None where the edition of the rules says it."""
    means: str
    """The reason in words, for pages and messages."""


POLICIES: dict[Reason, Policy] = {
    Reason.AGENT_CRASHED: Policy(False, 2, "the agent's program broke off with an error of its own"),
    Reason.AGENT_REPORT_CONTRADICTORY: Policy(False, None, "the report claims more fixes than errors"),
    Reason.EVIDENCE_INCOMPLETE: Policy(False, 2, "log or recording is not complete"),
    Reason.EVIDENCE_NOT_PROVEN_CLEAN: Policy(False, 2, "the evidence could not be proven free of credentials"),
    Reason.HARNESS_AGENT_NOT_STARTED: Policy(
        False, 2, "the agent's program did not start, or left nothing that can be read"
    ),
    Reason.HARNESS_ERROR: Policy(False, 2, "our own program failed"),
    Reason.HARNESS_REPORT_LOST: Policy(False, 2, "our own program lost the report"),
    Reason.INFRA_CANCELLED: Policy(False, 3, "a person stopped the run"),
    Reason.INFRA_DEMO_DEADLINE: Policy(False, 3, "the demonstration's own deadline ended it"),
    Reason.INFRA_DISK: Policy(False, 3, "the runner's disk was full"),
    Reason.INFRA_MACHINE: Policy(False, 3, "the disposable machine could not be made or was lost"),
    Reason.INFRA_NETWORK: Policy(False, 3, "the subject could not be fetched over the network"),
    Reason.INFRA_RUNNER_LOST: Policy(False, 3, "the runner ended before the attempt did"),
    Reason.INFRA_SUBJECT_UNAVAILABLE: Policy(False, 1, "its source does not serve the pinned version in a usable form"),
    Reason.KEY_REFUSED: Policy(False, 2, "the model's provider refused the attempt's key"),
    Reason.KEY_UNFUNDED: Policy(False, 3, "there was no money behind the attempt's key, below its own cap"),
    Reason.PROVIDER_ERROR: Policy(False, 3, "the model's provider answered with an error of its own"),
    Reason.PROVIDER_RATE_LIMITED: Policy(False, 3, "the model's provider allowed no more requests for the moment"),
    Reason.PROVIDER_REQUEST_REFUSED: Policy(False, 1, "the model's provider refused the form of the request"),
    Reason.PROVIDER_STREAM_CUT: Policy(False, 3, "the model's answers were cut off on their way"),
    Reason.PROVIDER_UNREACHABLE: Policy(False, 3, "the model's provider could not be reached"),
}

LIMITS: dict[Limit, Policy] = {
    Limit.KEY_CAP: Policy(True, 0, "the attempt's key had spent all that it may spend"),
    Limit.MODEL_CONTEXT: Policy(True, 0, "the agent's session was longer than its model can read"),
}
"""An attempt that ends at one of these is complete and counts like one that a limit of the machine ends: a valid fail
with 0 on every line, its report not read, since the agent came to no end of its own (MEASUREMENT §5, §9)."""

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
