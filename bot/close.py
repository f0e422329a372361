"""Whether a cycle can end: everything that was due has its record, and nothing else has (MEASUREMENT §2)."""

from __future__ import annotations

from pathlib import Path

from archive import pools, records
from archive.canonical import digest
from archive.edition import Edition
from archive.errors import DataError, DataErrors, Unfinished
from archive.ledger import Ledger, ledger_path
from archive.pins import check_pins
from archive.plan import Plan
from archive.store import file_digest
from bot.measured import Run
from scoring.due import Result, due


def close(root: Path, cycle_id: str, runs: list[Run]) -> Plan:
    """Ends the ledger of a cycle whose runs are `runs`; a closed one stays as it is.

    Raises `Unfinished` while due jobs have no record, DataError(s) where pools/ is no more what the plan pins, or where
    plan, records and ledger do not agree.
    """
    plan = planned(root, cycle_id)
    check_pins(root, plan)
    _finished(plan, runs, pools.editions(root)[pools.cycle(root, cycle_id).edition])
    _released(cycle_id, runs)
    path, plan_digest = ledger_path(root, cycle_id), digest(pools.plan_path(root, cycle_id).read_bytes())
    if not path.is_file():
        raise DataError(path, "", "no such ledger; a cycle is closed by the ledger of its runs")
    ledger = Ledger.open(root, cycle_id, plan_digest)
    if ledger.plan != plan_digest:
        raise DataError(path, "plan", "the cycle was opened with another plan than the one that is committed now")
    _agrees(root, path, plan, ledger, runs)
    ledger.close()
    return plan


def planned(root: Path, cycle_id: str) -> Plan:
    """The plan of a cycle. Raises DataError where there is none, or none with a job."""
    pools.cycle_path(root, cycle_id)
    plan, path = pools.plan(root, cycle_id), pools.plan_path(root, cycle_id)
    if path.is_dir():
        raise DataError(path, "", "is a folder; a plan is a file, so move the folder away")
    if plan is None:
        raise DataError(path, "", f"cycle {cycle_id} has no plan; run: argusic cycle plan {cycle_id}")
    if not plan.jobs:
        raise DataError(path, "jobs", "plans no attempt, so there is nothing to close")
    return plan


def _finished(plan: Plan, runs: list[Run], edition: Edition) -> None:
    results = {run.job: Result(run.judged.validity, run.judged.reason, run.judged.outcome) for run in runs}
    missing = [job for job in due(plan.jobs, results, edition) if job.id not in results]
    if missing:
        first, many = missing[0], "attempt has" if len(missing) == 1 else "attempts have"
        where = f"attempt {first.attempt} of {first.agent} on {first.subject}"
        raise Unfinished(f"cycle {plan.cycle}: {len(missing)} due {many} no record; the first is {where}")


def _released(cycle_id: str, runs: list[Run]) -> None:
    waiting = [run.judged.run for run in runs if run.waits]
    if waiting:
        many = "attempt waits" if len(waiting) == 1 else "attempts wait"
        raise Unfinished(
            f"cycle {cycle_id}: the evidence of {len(waiting)} {many} for the end of its key; the first is run "
            f"{waiting[0]}; run: argusic evidence release {cycle_id}"
        )


def _agrees(root: Path, path: Path, plan: Plan, ledger: Ledger, runs: list[Run]) -> None:
    jobs, known = {job.id for job in plan.jobs}, {run.judged.run for run in runs}
    problems = [
        DataError(records.record_path(root, plan.cycle, run.judged.run), "job", "is not in the plan")
        for run in runs
        if run.job not in jobs
    ]
    for run in sorted(known | ledger.entries.keys()):
        place = records.record_path(root, plan.cycle, run)
        if run not in known:
            problems.append(DataError(place, "", "stands in the ledger and is not there"))
        elif run not in ledger.entries:
            problems.append(DataError(path, "", f"has no line for run {run}"))
        elif file_digest(place) != ledger.entries[run]:
            problems.append(DataError(place, "", "is not the record that stands in the ledger"))
    if problems:
        raise DataErrors(problems)
