"""No cherry-picking, provably: the committed plan says what may be made, the records say what was due, and each due
attempt has exactly one record, the one that the ledger holds (ARCHITECTURE, invariant 1)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from archive import pools
from archive.canonical import canonical, digest
from archive.cycle import Cycle
from archive.errors import ArgusicError
from archive.ledger import ledger_path
from archive.plan import Job, Plan, run_id
from archive.record import Record
from archive.records import record_path
from audit.finding import Checked, Finding, explained, place
from audit.kept import Kept, kept
from audit.planned import planned
from scoring.due import due, result_of


def complete(
    root: Path, cycle: str | None = None, *, unfinished: bool = False, checked: Checked | None = None
) -> list[Finding]:
    """Everything that keeps the results of `cycle`, or of all cycles, from being whole.

    `unfinished` takes attempts that are not made yet for granted while the ledger is open. Raises DataError where
    there is no such cycle.
    """
    checked = Checked() if checked is None else checked
    if cycle is not None:
        pools.cycle_path(root, cycle)
        return compared(root, cycle, kept(root, cycle), unfinished=unfinished, checked=checked)
    found = []
    for name in pools.cycle_ids(root):
        found += compared(root, name, kept(root, name), unfinished=unfinished, checked=checked)
    return found + list(_strays(root))


def compared(root: Path, name: str, there: Kept, *, unfinished: bool, checked: Checked) -> list[Finding]:
    """As `complete`, for one cycle whose files were read already."""
    path = pools.plan_path(root, name)
    checked["cycles"] += 1
    checked["records"] += len(there.records) + len(there.doubtful)
    checked["ledger lines"] += len(there.ledger.lines) if there.ledger else 0
    if not path.is_file():
        if there.records or there.doubtful or ledger_path(root, name).exists():
            there.findings.append(Finding("complete", place(root, path), "is missing, and attempts were made"))
        return there.findings
    try:
        cycle, plan = pools.cycle(root, name), pools.read_json(Plan, path)
    except ArgusicError as error:
        return there.findings + explained("complete", root, error)
    found = there.findings + _form(root, path, plan, name, there) + planned(root, cycle, plan)
    checked["planned jobs"] += len(plan.jobs)
    return found + list(_made(root, cycle, plan, there, unfinished, checked))


def _form(root: Path, path: Path, plan: Plan, cycle: str, there: Kept) -> list[Finding]:
    data, name = path.read_bytes(), place(root, path)
    found = []
    if data != canonical(plan):
        found.append(Finding("complete", name, "is not in canonical form"))
    if plan.cycle != cycle:
        found.append(Finding("complete", name, f"is the plan of cycle {plan.cycle}"))
    if there.ledger and there.ledger.plan != digest(data):
        problem = f"is not the plan that the cycle was opened with: it is {digest(data)}, the ledger says"
        found.append(Finding("complete", name, f"{problem} {there.ledger.plan}"))
    return found


def _made(root: Path, cycle: Cycle, plan: Plan, there: Kept, unfinished: bool, checked: Checked) -> Iterator[Finding]:
    """Due jobs against records. Where one record of an agent on a subject cannot be relied on, what follows from it
    is not known, and nothing more is said about that agent on that subject."""
    jobs = {run_id(cycle.id, job.id): job for job in plan.jobs}
    unknown = {_group(jobs[run]) for run in there.doubtful if run in jobs}
    results = {record.job: result_of(record) for record in there.records.values()}
    wanted = {job.id for job in due(plan.jobs, results, pools.editions(root)[cycle.edition])}
    checked["due jobs"] += len(wanted)
    ended = there.ledger is not None and there.ledger.closed
    for run, record in there.records.items():
        name, job = place(root, record_path(root, cycle.id, run)), jobs.get(run)
        if job is None:
            yield Finding("complete", name, f"run {run} is surplus: no job of the plan stands for it")
            continue
        if job.id not in wanted and _group(job) not in unknown:
            yield Finding("complete", name, f"run {run} is surplus: {_told(job)} was not due")
        for problem in _contradictions(record, job, cycle, plan):
            yield Finding("complete", name, f"run {run}: {problem}")
    for run, job in jobs.items():
        if job.id not in wanted or run in there.records or _group(job) in unknown:
            continue
        if there.ledger is not None and run in there.ledger.entries:
            continue  # named already: the ledger holds it and the file is gone
        if ended or not unfinished:
            what = "is missing" if ended else "is not made yet"
            yield Finding("complete", place(root, record_path(root, cycle.id, run)), f"run {run} {what}: {_told(job)}")


def _contradictions(record: Record, job: Job, cycle: Cycle, plan: Plan) -> Iterator[str]:
    """What a record says that its job, its cycle or its plan does not."""
    facts = ("purpose", "agent", "subject", "source_type", "attempt", "tier", "budget_minutes")
    pairs = [(fact, getattr(record, fact), getattr(job, fact)) for fact in facts]
    pairs.append(("edition", record.edition, cycle.edition))
    pairs.append(("agent_digest", record.agent_digest, plan.pins.agents.get(record.agent)))
    pairs.append(("environment.harness.digest", record.environment.harness.digest, plan.pins.harness.digest))
    for fact, said, right in pairs:
        if said != right:
            yield f"{fact} is {said}; the plan says {right}"
    if record.environment.sandbox not in cycle.sandboxes:
        yield f"made in {record.environment.sandbox}; the cycle accepts {', '.join(cycle.sandboxes)}"
    if record.day < cycle.starts and not cycle.demonstration:
        yield f"made on {record.day}; the cycle starts on {cycle.starts}"


def _strays(root: Path) -> Iterator[Finding]:
    """Results of no cycle at all."""
    known = set(pools.cycle_ids(root))
    for folder, name in (("records", "name"), ("ledgers", "stem")):
        for path in sorted((root / "results" / folder).glob("*")):
            if getattr(path, name) not in known or (folder == "ledgers" and path.suffix != ".jsonl"):
                yield Finding("complete", place(root, path), "belongs to no cycle of pools/cycles")


def _group(job: Job) -> tuple[str, str, str]:
    return job.purpose, job.agent, job.subject


def _told(job: Job) -> str:
    return f"attempt {job.attempt} of {job.agent} on {job.subject} for the {job.purpose} (job {job.id})"
