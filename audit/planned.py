"""Whether a plan is the one that its pool, its agents and its edition make: no job left out, none favoured."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from archive import pools
from archive.canonical import digest
from archive.cycle import Cycle
from archive.edition import Edition
from archive.errors import ArgusicError
from archive.plan import Job, Plan, job_id
from archive.reasons import MAX_RERUNS
from archive.subject import Subject
from audit.finding import Finding, explained, place

Key = tuple[str, str, str]
"""Purpose, agent and subject."""


class _Wanted(NamedTuple):
    """What every job of one agent on one subject must say."""

    subject: Subject
    budget_minutes: int | None
    slots: int


def planned(root: Path, cycle: Cycle, plan: Plan) -> list[Finding]:
    """What in plan.json does not follow from the files that it pins."""
    name = place(root, pools.plan_path(root, cycle.id))
    try:
        edition, subjects = pools.editions(root)[cycle.edition], pools.subjects(root, cycle.id)
    except ArgusicError as error:
        return explained("complete", root, error)
    problems = [*_pins(root, cycle, subjects, plan), *_jobs(cycle, edition, subjects, plan)]
    return [Finding("complete", file or name, problem) for file, problem in problems]


def _pins(root: Path, cycle: Cycle, subjects: list[Subject], plan: Plan) -> Iterator[tuple[str, str]]:
    folder = f"pools/cycles/{cycle.id}"
    pins = plan.pins
    files: dict[str, str | None] = {
        f"{folder}/cycle.toml": pins.cycle,
        f"{folder}/public.toml": pins.pool,
        f"pools/editions/{cycle.edition}.toml": pins.edition,
    }
    files |= {f"pools/agents/{agent}.toml": pins.agents.get(agent) for agent in cycle.agents}
    kinds = sorted({subject.source_type for subject in subjects})
    files |= {f"pools/sources/{kind}.toml": pins.sources.get(kind) for kind in kinds}
    for file, pinned in files.items():
        now = digest((root / file).read_bytes())
        if pinned is None:
            yield "", f"does not pin {file}"
        elif pinned != now:
            yield file, f"is not the file that the plan pins: it is {now}, the plan says {pinned}"
    for kind, pinned_names, wanted in (("agent", pins.agents, cycle.agents), ("source", pins.sources, kinds)):
        for extra in sorted(set(pinned_names) - set(wanted)):
            yield "", f"pins {kind} {extra}, which takes no part in the cycle"


def _jobs(cycle: Cycle, edition: Edition, subjects: list[Subject], plan: Plan) -> Iterator[tuple[str, str]]:
    wanted = _wanted(cycle, edition, subjects)
    groups: dict[Key, list[Job]] = defaultdict(list)
    for job in plan.jobs:
        groups[job.purpose, job.agent, job.subject].append(job)
    for key in sorted(wanted.keys() | groups.keys()):
        problems: Iterator[str] = iter(())
        if key not in wanted:
            problems = iter([f"{len(groups[key])} jobs that neither pool nor agents ask for"])
        elif key not in groups:
            problems = iter(["no job, although pool and agents ask for them"])
        else:
            problems = _group(cycle.id, key, wanted[key], groups[key])
        for problem in problems:
            yield "", f"{key[0]}, {key[1]} on {key[2]}: {problem}"


def _wanted(cycle: Cycle, edition: Edition, subjects: list[Subject]) -> dict[Key, _Wanted]:
    found: dict[Key, _Wanted] = {}
    for purpose in cycle.purposes:
        slots = edition.board.set_size
        if purpose == "verdict":
            slots = edition.verdict.standard_attempts if edition.verdict else 0
        for agent in cycle.agents if purpose == "board" else (cycle.standard_agent,):
            for subject in subjects if slots else ():
                key = (purpose, agent, subject.id)
                found[key] = _Wanted(subject, edition.budget_minutes(subject.tier), slots)
    return found


def _group(cycle: str, key: Key, wanted: _Wanted, jobs: list[Job]) -> Iterator[str]:
    """All jobs of one agent on one subject: each slot once with all its reruns, numbered without a gap."""
    by_place = {(job.slot, job.rerun): job for job in jobs}
    places = {(slot, rerun) for slot in range(1, wanted.slots + 1) for rerun in range(MAX_RERUNS + 1)}
    if set(by_place) != places or len(jobs) != len(places):
        yield f"needs {wanted.slots} slots with a first attempt and {MAX_RERUNS} reruns each, once"
        return
    if sorted(job.attempt for job in jobs) != list(range(1, len(jobs) + 1)):
        yield f"attempts are not numbered from 1 to {len(jobs)}, each once"
    for (slot, rerun), job in sorted(by_place.items()):
        before = by_place.get((slot, rerun - 1) if rerun else (slot - 1, 0))
        if before and before.attempt >= job.attempt:
            yield f"job {job.id}: attempt {job.attempt} is numbered before attempt {before.attempt}, which it follows"
        if job.id != job_id(cycle, *key, job.attempt):
            yield f"job {job.id}: the id is not the hash of what it stands for"
        facts = (job.source_type, job.tier, job.budget_minutes)
        right = (wanted.subject.source_type, wanted.subject.tier, wanted.budget_minutes)
        if facts != right:
            yield f"job {job.id}: says {_told(facts)}; pool and edition say {_told(right)}"
        of = before.id if before else None
        condition = "after-invalid" if rerun else "always"
        if key[0] == "verdict" and slot > 1 and not rerun:
            condition = "after-failure"
        if (job.condition, job.of) != (condition, of if condition != "always" else None):
            yield f"job {job.id}: is to be made {job.condition} {job.of or ''}; the rules make it {condition}"


def _told(facts: tuple[str, str, int | None]) -> str:
    return f"{facts[0]}, tier {facts[1]}, {facts[2] or 'no'} minutes"
