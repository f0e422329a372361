"""Each cycle's records, judged: sets, board, projects under review and verdicts, through scoring alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from archive import pools
from archive.agent import Agent
from archive.canonical import digest
from archive.cycle import Cycle
from archive.edition import Edition
from archive.ledger import ledger_path
from archive.subject import Subject
from bot.measured import Run, measured
from scoring.attempted import Attempted
from scoring.board import Row, board
from scoring.review import under_review
from scoring.sets import MeasuredSet, sets
from scoring.verdict import Verdict, verdicts


@dataclass(frozen=True)
class Chain:
    """Where the ledger of a cycle stands."""

    head: str
    """Digest of its last line."""
    records: int
    closed: bool


@dataclass(frozen=True)
class CycleResult:
    """One cycle with at least one record."""

    cycle: Cycle
    edition: Edition
    agents: dict[str, Agent]
    """Every agent of the checkout."""
    pool: list[Subject]
    runs: list[Run]
    """By subject in the pool's order, agent in the cycle's order, purpose and number."""
    sets: list[MeasuredSet]
    """In the same order."""
    under_review: set[str]
    rows: list[Row]
    verdicts: dict[str, Verdict]
    """By subject, of those with a record."""
    chain: Chain | None
    """None where there is no ledger."""

    def agent_name(self, agent: str) -> str:
        """The neutral identity of an agent on pages."""
        return self.agents[agent].name if agent in self.agents else agent

    def attempt_name(self, one: Attempted) -> str:
        """How running text calls an attempt: numbers begin anew for each purpose, so it is said where there are two."""
        purpose = f" for the {one.purpose}" if len(self.cycle.purposes) > 1 else ""
        return f"attempt {one.attempt} of {self.agent_name(one.agent)}{purpose}"


def results(root: Path) -> list[CycleResult]:
    """The cycles that have a record, newest first, demonstrations last."""
    return results_of(root, measured(root))


def results_of(root: Path, runs: Mapping[str, list[Run]]) -> list[CycleResult]:
    """As `results`, from runs that were read already."""
    found = [result(root, cycle_id, own) for cycle_id, own in runs.items()]
    found.sort(key=lambda one: (one.cycle.starts, one.cycle.id), reverse=True)
    return sorted(found, key=lambda one: one.cycle.demonstration)


def result(root: Path, cycle_id: str, runs: list[Run]) -> CycleResult:
    """One cycle, from its runs in any order."""
    cycle, agents, pool = pools.cycle(root, cycle_id), pools.agents(root), pools.subjects(root, cycle_id)
    edition = pools.editions(root)[cycle.edition]
    subject_at = {subject.id: number for number, subject in enumerate(pool)}
    agent_at = {agent: number for number, agent in enumerate(cycle.agents)}

    def place(subject: str, agent: str) -> tuple[int, str, int, str]:
        return subject_at.get(subject, len(pool)), subject, agent_at.get(agent, len(agent_at)), agent

    runs = sorted(
        runs, key=lambda run: (*place(run.judged.subject, run.judged.agent), run.judged.purpose, run.judged.attempt)
    )
    measured_sets = sets((run.judged for run in runs), edition)
    measured_sets.sort(key=lambda one: place(one.project, one.agent))
    controls = {agent.id for agent in agents.values() if agent.control}
    reviewed = under_review(measured_sets, controls, edition)
    found = verdicts((run.judged for run in runs), cycle.standard_agent, edition)
    return CycleResult(
        cycle=cycle,
        edition=edition,
        agents=agents,
        pool=pool,
        runs=runs,
        sets=measured_sets,
        under_review=reviewed,
        rows=board(measured_sets, reviewed, controls, edition),
        verdicts={subject: found[subject] for subject in by_subject(runs)},
        chain=_chain(ledger_path(root, cycle_id)),
    )


def measurements(found: Iterable[CycleResult]) -> Iterator[Run]:
    """The runs that are public measurements: a demonstration is none, and a control agent is a floor, not one."""
    for one in found:
        if not one.cycle.demonstration:
            controls = {agent.id for agent in one.agents.values() if agent.control}
            yield from (run for run in one.runs if run.judged.agent not in controls)


def by_subject(runs: list[Run]) -> dict[str, list[Run]]:
    """`runs` by subject, both in the given order."""
    found: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        found[run.judged.subject].append(run)
    return dict(found)


def _chain(path: Path) -> Chain | None:
    """Read from its last line: whether the chain behind it holds is the audit's question, not a page's."""
    lines = path.read_bytes().splitlines(keepends=True) if path.is_file() else []
    if not lines:
        return None
    closed = b'"kind":"closed"' in lines[-1]
    return Chain(digest(lines[-1]), len(lines) - 1 - closed, closed)
