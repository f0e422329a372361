"""All attempts that a cycle may make, with the condition of each: committed before anything runs."""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from pydantic import Field

from archive.model import Digest, Model, Slug
from archive.subject import Tier

JobId = Annotated[str, Field(pattern=r"^[0-9a-f]{24}$")]
JobPurpose = Literal["board", "verdict", "rerun"]
"""What a cycle asks, and "rerun": an attempt of it is made once more, outside of every plan and score."""
RunId = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


class Job(Model):
    """One possible attempt.

    A slot is one place in a set (or one step of a verdict). Its first job is due always, or after the failure of the
    slot before it; each further job of the slot only after an invalid attempt that the policy table runs again.
    """

    id: JobId
    """Opaque: a hash of what it stands for."""
    purpose: JobPurpose
    agent: Slug
    subject: str
    """Package URL of the subject."""
    source_type: Slug
    tier: Tier
    budget_minutes: Annotated[int, Field(gt=0)]
    slot: Annotated[int, Field(ge=1)]
    rerun: Annotated[int, Field(ge=0)]
    """0 for the slot's first job, then 1, 2, …"""
    attempt: Annotated[int, Field(ge=1)]
    """Number of the attempt among all of this agent on this subject for this purpose; unique and growing."""
    condition: Literal["always", "after-failure", "after-invalid"]
    of: JobId | None
    """The job whose result decides; null where the condition is "always"."""


class Harness(Model):
    """The measuring program itself."""

    commit: str | None
    """Commit of the repository it came from; null where it is no checkout."""
    digest: Digest
    """Digest over the files of the rooms that take part in an attempt."""


class Pins(Model):
    """Digests of everything that decides what the cycle measures and how."""

    cycle: Digest
    edition: Digest
    pool: Digest
    agents: dict[str, Digest]
    sources: dict[str, Digest]
    instructions: dict[str, Digest]
    harness: Harness


class Plan(Model):
    """pools/cycles/<id>/plan.json."""

    schema_version: Literal[1]
    cycle: Slug
    pins: Pins
    jobs: tuple[Job, ...]


def job_id(cycle: str, purpose: str, agent: str, subject: str, attempt: int) -> str:
    """The opaque id of a job."""
    return hashlib.sha256("\n".join((cycle, purpose, agent, subject, str(attempt))).encode()).hexdigest()[:24]


def run_id(cycle: str, job: str) -> str:
    """The id of the attempt that carries out `job`, and of its record."""
    return hashlib.sha256(f"{cycle}\n{job}".encode()).hexdigest()[:32]
