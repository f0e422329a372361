"""Which planned jobs are due, from the results so far: what an audit recomputes to prove that nothing was picked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from archive.edition import Edition
from archive.plan import Job
from archive.reasons import Outcome, Reason, Validity, reruns_left
from archive.record import Record


class Result(NamedTuple):
    """What decides about the jobs that follow an attempt."""

    validity: Validity
    reason: Reason | None
    outcome: Outcome | None


def result_of(record: Record) -> Result:
    """The deciding part of a record."""
    return Result(record.validity, record.reason, record.outcome)


def due(jobs: Iterable[Job], results: Mapping[str, Result], edition: Edition) -> list[Job]:
    """The jobs that must have a record by now, in the plan's order; `results` is by job id.

    A slot's first job is due always, or after a valid failure in the slot before; a further one only while every
    attempt of the slot so far was invalid or withheld and the policy table runs the last reason again (MEASUREMENT
    §8, §9). Attempts that are not made yet decide nothing, so a job behind one of them is not due yet.
    """
    jobs = list(jobs)
    slots: dict[tuple[str, str, str, int], list[Job]] = defaultdict(list)
    for job in jobs:
        slots[_slot(job)].append(job)
    wanted: set[str] = set()
    for key, chain in slots.items():
        chain.sort(key=lambda job: job.rerun)
        if chain[0].condition == "after-failure" and not _failed(slots.get((*key[:3], key[3] - 1), []), results):
            continue
        reasons: list[Reason] = []
        for job in chain:
            wanted.add(job.id)
            result = results.get(job.id)
            if result is None or result.reason is None:
                break
            reasons.append(result.reason)
            if not reruns_left(reasons, edition):
                break
    return [job for job in jobs if job.id in wanted]


def _slot(job: Job) -> tuple[str, str, str, int]:
    return job.purpose, job.agent, job.subject, job.slot


def _failed(chain: list[Job], results: Mapping[str, Result]) -> bool:
    """Whether the slot has its valid attempt and it did not pass."""
    found = [results[job.id] for job in chain if job.id in results]
    return any(result.outcome is not None and not result.outcome.passed for result in found)
