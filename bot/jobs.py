"""All possible jobs of a cycle as the canonical text of its plan (MEASUREMENT §8, §9).

Jobs are written as text: a big pool has 100,000 of them, and an encoder that builds each as an object takes ten times
as long.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from archive.cycle import Cycle, Purpose
from archive.edition import Edition
from archive.errors import DataError
from archive.model import line_of
from archive.plan import job_id
from archive.reasons import MAX_RERUNS
from archive.subject import Subject


def jobs_text(root: Path, cycle: Cycle, edition: Edition, subjects: list[Subject]) -> str:
    """The jobs as they stand between the brackets of plan.json; "" for none."""
    return ",\n".join(_jobs(list(_chains(root, cycle, edition, subjects))))


class _Chain(NamedTuple):
    """All possible attempts of one agent on one subject for one purpose."""

    purpose: Purpose
    slots: int
    ids: list[str]
    """Job ids by attempt number, the first one at 0."""
    who: str
    """Canonical text of the agent's field, and of the other fields that all jobs of the chain share."""
    budget: str
    what: str


def _chains(root: Path, cycle: Cycle, edition: Edition, subjects: list[Subject]) -> Iterator[_Chain]:
    budgets = _budgets(root, cycle, edition, subjects)
    slots: dict[Purpose, int] = {purpose: _slots(root, cycle, edition, purpose) for purpose in cycle.purposes}
    for subject in subjects:
        shared = {"source_type": subject.source_type, "subject": subject.id, "tier": subject.tier}
        what = ",\n".join(f'      "{name}": {_text(value)}' for name, value in shared.items())
        budget = f'      "budget_minutes": {budgets[subject.tier]},\n'
        for purpose, count in slots.items():
            for agent in cycle.agents if purpose == "board" else [cycle.standard_agent]:
                numbers = range(1, count * (MAX_RERUNS + 1) + 1)
                ids = [job_id(cycle.id, purpose, agent, subject.id, number) for number in numbers]
                yield _Chain(purpose, count, ids, f'      "agent": {_text(agent)},\n', budget, what)


def _jobs(chains: list[_Chain]) -> Iterator[str]:
    """Canonical text of each job. First every slot's first job, slot by slot over all subjects and agents, then the
    reruns in the same order: cut short anywhere, the attempts made are spread evenly and nobody was picked."""
    for rerun in range(MAX_RERUNS + 1):
        for slot in range(1, max(chain.slots for chain in chains) + 1):
            for chain in chains:
                if slot <= chain.slots:
                    yield _job(chain, slot, rerun)


def _job(chain: _Chain, slot: int, rerun: int) -> str:
    condition, of, attempt = "always", "null", slot + rerun * chain.slots
    if rerun:
        condition, of = "after-invalid", f'"{chain.ids[attempt - chain.slots - 1]}"'
    elif chain.purpose == "verdict" and slot > 1:
        condition, of = "after-failure", f'"{chain.ids[attempt - 2]}"'
    return (
        f'    {{\n{chain.who}      "attempt": {attempt},\n{chain.budget}      "condition": "{condition}",\n'
        f'      "id": "{chain.ids[attempt - 1]}",\n      "of": {of},\n      "purpose": "{chain.purpose}",\n'
        f'      "rerun": {rerun},\n      "slot": {slot},\n{chain.what}\n    }}'
    )


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _budgets(root: Path, cycle: Cycle, edition: Edition, subjects: list[Subject]) -> dict[str, int]:
    budgets: dict[str, int] = {}
    for number, subject in enumerate(subjects):
        minutes = edition.budget_minutes(subject.tier)
        if minutes is None:
            place, field = root / "pools/cycles" / cycle.id / "public.toml", f"subject.{number}.tier"
            problem = f"{subject.id}: edition {edition.version} has no budget for tier {subject.tier!r}"
            raise DataError(place, field, problem, line_of(place.read_text("utf-8"), field))
        budgets[subject.tier] = minutes
    return budgets


def _slots(root: Path, cycle: Cycle, edition: Edition, purpose: Purpose) -> int:
    if purpose == "board":
        return edition.board.set_size
    if edition.verdict is None:
        place = root / "pools/cycles" / cycle.id / "cycle.toml"
        raise DataError(place, "purposes", f"edition {edition.version} has no verdict")
    return edition.verdict.standard_attempts
