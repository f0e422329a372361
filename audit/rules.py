"""The numbers agree: what pages state, what editions say, what workflows allow and what records were made with
(ARCHITECTURE, invariant 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from archive import pools, records
from archive.canonical import canonical_line
from archive.cycle import Cycle
from archive.edition import Edition
from archive.errors import ArgusicError, DataError
from archive.plan import Plan, run_id
from archive.reasons import Outcome
from archive.record import Record
from audit.finding import Checked, Finding, explained, place
from audit.methodology import methodology
from audit.workflows import workflows

GRACE_MS = 60_000
"""How long after the end of its budget an attempt may take to be ended, on a machine that is busy."""


def rules(root: Path, cycle: str | None = None, *, checked: Checked | None = None) -> list[Finding]:
    """Everything that two places state differently; of `cycle` alone, or of all cycles.

    Raises DataError where there is no such cycle.
    """
    checked = Checked() if checked is None else checked
    if cycle is not None:
        pools.cycle_path(root, cycle)
    try:
        editions = pools.editions(root)
    except ArgusicError as error:
        return explained("rules", root, error)
    newest = list(editions.values())[-1]
    largest = max(minutes for name in ("standard", "heavy", "gpu") if (minutes := newest.budget_minutes(name)))
    found = methodology(root, newest, checked) + workflows(root, largest, checked)
    for name in [cycle] if cycle else pools.cycle_ids(root):
        found += _cycle(root, name, editions, checked)
    return found


def _cycle(root: Path, name: str, editions: Mapping[str, Edition], checked: Checked) -> list[Finding]:
    checked["cycles"] += 1
    problems: list[DataError] = []
    try:
        cycle, plan = pools.cycle(root, name), _plan(root, name)
        found = [Finding("rules", place(root, path), problem) for path, problem in _instructions(root, cycle, plan)]
        made = list(records.each(root, name, problems))
    except ArgusicError as error:
        return explained("rules", root, error)
    for problem in problems:
        found += explained("rules", root, problem)
    checked["records"] += len(made)
    jobs = {run_id(name, job.id): (job.tier, job.budget_minutes) for job in plan.jobs} if plan else {}
    for record in made:
        path = place(root, records.record_path(root, name, record.run))
        for said in (*_numbers(record, cycle, editions, jobs), *_duration(record)):
            found.append(Finding("rules", path, f"run {record.run}: {said}"))
    started = [record for record in made if record.times.agent_ms is not None]
    for what, of, group in (("limits", _limits, started), ("harness", _harness, made)):
        for record, said in _odd(what, of, group):
            found.append(Finding("rules", place(root, records.record_path(root, name, record.run)), said))
    return found


def _plan(root: Path, cycle: str) -> Plan | None:
    path = pools.plan_path(root, cycle)
    return pools.read_json(Plan, path) if path.is_file() else None


def _instructions(root: Path, cycle: Cycle, plan: Plan | None) -> Iterator[tuple[Path, str]]:
    """Everyone in a cycle reads the same instructions (MEASUREMENT §1, §2)."""
    agents = pools.agents(root)
    versions = sorted({agents[agent].instructions for agent in cycle.agents})
    if len(versions) > 1:
        yield pools.cycle_path(root, cycle.id), f"its agents read different instructions: versions {versions}"
    if plan and sorted(plan.pins.instructions) != [str(version) for version in versions]:
        pinned = ", ".join(sorted(plan.pins.instructions)) or "none"
        yield pools.plan_path(root, cycle.id), f"pins instructions {pinned}; the agents read versions {versions}"


def _numbers(
    record: Record, cycle: Cycle, editions: Mapping[str, Edition], jobs: Mapping[str, tuple[str, int]]
) -> Iterator[str]:
    if record.edition != cycle.edition:
        yield f"made under edition {record.edition}; the cycle is one of edition {cycle.edition}"
    edition = editions.get(record.edition)
    if edition is None:
        yield f"edition {record.edition} does not exist"
    elif edition.budget_minutes(record.tier) != record.budget_minutes:
        right = edition.budget_minutes(record.tier) or "no such budget"
        yield f"{record.tier} budget {record.budget_minutes} minutes; edition {record.edition} says {right}"
    for name, limit in sorted(record.environment.limits.items()):
        # As the runner refuses it before it begins (MEASUREMENT §5).
        if limit.guarantee == "absent" and not cycle.demonstration:
            yield f"{name.replace('_', ' ')}: absent from its machine; only a demonstration may use such a machine"
    cap = edition.key_cap_micro_usd if edition else None
    if record.key.kind == "own" and cap is not None and record.key.cap_micro_usd != cap:
        stated = "no cap" if record.key.cap_micro_usd is None else f"a cap of {record.key.cap_micro_usd}"
        yield f"its own key had {stated}; edition {record.edition} says {cap}, in millionths of a US dollar"
    planned = jobs.get(record.run)
    if planned and planned != (record.tier, record.budget_minutes):
        yield f"{record.tier}, {record.budget_minutes} minutes; the plan says {planned[0]}, {planned[1]} minutes"


def _duration(record: Record) -> Iterator[str]:
    budget, took = record.budget_minutes * 60_000, record.times.agent_ms
    if record.outcome is Outcome.TIMEOUT and record.ended_by == "budget" and (took is None or took < budget):
        yield f"timed out after {took} ms, before the end of its budget ({budget} ms)"
    if took is not None and took > budget + GRACE_MS:
        yield f"worked for {took} ms; its budget is {budget} ms, and {GRACE_MS} ms more to be ended"


def _limits(record: Record) -> str:
    """Compared by value: how well a limit is held depends on the kind of machine."""
    return canonical_line({name: limit.value for name, limit in record.environment.limits.items()}).decode().strip()


def _harness(record: Record) -> str:
    return record.environment.harness.digest


def _odd(what: str, of: Callable[[Record], str], group: list[Record]) -> Iterator[tuple[Record, str]]:
    """The records of a cycle that differ from most others in what must be the same for all."""
    usual = Counter(map(of, group)).most_common(1)
    for record in group:
        if of(record) != usual[0][0]:
            said = f"run {record.run}: {what} {of(record)}; {usual[0][1]} records of the cycle have {usual[0][0]}"
            yield record, said
