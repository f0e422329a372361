"""Making the due attempts of a cycle, some at a time, until none is due."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import NamedTuple

from archive import places, pools, records
from archive.canonical import canonical, digest
from archive.errors import ArgusicError
from archive.ledger import Ledger
from archive.plan import Job
from archive.pools import plan_path
from archive.reasons import Reason
from archive.record import Record
from runner.attempt import Attempt
from runner.condition import FREE_BYTES, Condition
from runner.keys.lease import NoKey
from runner.recover import recover
from runner.spending import Spending
from runner.spool import remove
from runner.watch import Halt
from scoring.due import Result, due, result_of


class Progress(NamedTuple):
    """What a person or a program watching a cycle wants to know."""

    running: tuple[Job, ...]
    waiting: int
    done: int
    last: Record | None
    """The attempt that has just ended."""


class Finished(NamedTuple):
    """How a run of the cycle ended."""

    made: int
    """Attempts made now."""
    left: int
    """Attempts that are due and were not made."""
    halted: tuple[str, str] | None
    """Why no further attempt began: a reason, and that in words."""
    notes: list[str]
    """What a person should know besides."""


def run_cycle(
    condition: Condition, at_once: int, halt: Halt, tell: Callable[[Progress], None], only: str | None = None
) -> Finished:
    """Makes due attempts, at most `at_once` at a time, or the `only` job. Only one process may run a cycle.

    When `halt` is set the running attempts end, are recorded as invalid, and no new one begins. After trouble of ours
    that would spoil every further attempt none begins either, so that it cannot use a cycle up; running ones go on.
    """
    with only_one(condition.root, condition.cycle.id):
        ledger = Ledger.open(
            condition.root, condition.cycle.id, digest(plan_path(condition.root, condition.cycle.id).read_bytes())
        )
        notes = [f"left behind by a dead process, removed: {what}" for what in condition.sandbox.sweep()]
        if shutil.disk_usage(condition.root).free < FREE_BYTES:
            pinned = [pools.cycle(condition.root, cycle).image for cycle in pools.cycle_ids(condition.root)]
            removed = condition.sandbox.make_room([image for image in pinned if image])
            notes += [f"removed, because less than {FREE_BYTES >> 30} GiB are free: {what}" for what in removed]
        notes += recover(condition)
        spent = Spending(condition.cycle, condition.edition, condition.agents)
        results = _reconcile(condition, ledger, spent)
        before = len(results)
        running: dict[Future[Record], Job] = {}
        stopping: tuple[str, str] | None = None
        with ThreadPoolExecutor(at_once) as pool:
            while True:
                queue = [job for job in due(condition.plan.jobs, results, condition.edition) if job.id not in results]
                if only is not None:
                    queue = _chosen(queue, only, done=only in results)
                busy = {job.id for job in running.values()}
                waiting = [job for job in queue if job.id not in busy]
                while waiting and len(running) < at_once and halt.reason is None and stopping is None:
                    if refused := spent.refuses(waiting[0], running.values()):
                        # Those under way may leave enough: most spend less than they may.
                        stopping = None if running else refused
                        break
                    job = waiting.pop(0)
                    running[pool.submit(Attempt(condition, job, halt).make)] = job
                tell(Progress(tuple(running.values()), len(waiting), len(results), None))
                if not running:
                    halted = (halt.reason, halt.detail) if halt.reason else stopping
                    return Finished(len(results) - before, len(waiting), halted, notes)
                done, _ = wait(running, timeout=1.0, return_when=FIRST_COMPLETED)
                for future in done:
                    job = running.pop(future)
                    try:
                        last = future.result()
                        _keep(condition, ledger, last)
                        spent.add(last.key)
                    except NoKey as error:
                        stopping = stopping or ("key:not-made", str(error))
                        continue
                    except Exception as error:  # noqa: BLE001 - the others go on to their end and are kept
                        stopping = stopping or (
                            Reason.HARNESS_ERROR,
                            f"attempt {job.attempt} of {job.agent}: {error!r}",
                        )
                        notes.append(f"the next start closes the attempt of job {job.id}: {error!r}")
                        continue
                    results[last.job] = result_of(last)
                    # Each by itself: two that end together are two lines.
                    tell(Progress(tuple(running.values()), len(waiting), len(results), last))
                    if last.reason is not None and _spoils_the_next(last):
                        stopping = stopping or (last.reason, last.reason_detail or "")


def _spoils_the_next(record: Record) -> bool:
    """Whether what made this attempt invalid has nothing to do with its subject or agent: neither had begun."""
    own = (Reason.INFRA_SUBJECT_UNAVAILABLE, Reason.INFRA_CANCELLED, Reason.INFRA_DEMO_DEADLINE)
    return record.reason is Reason.INFRA_DISK or (record.times.agent_ms is None and record.reason not in own)


def _chosen(queue: list[Job], only: str, done: bool) -> list[Job]:
    found = [job for job in queue if job.id == only]
    if not found and not done:
        raise ArgusicError(f"job {only} is not due: its condition does not hold, or may hold only after other attempts")
    return found


def _keep(condition: Condition, ledger: Ledger, record: Record) -> None:
    """Saves a record, then lists it, then lets its spool go: a kill between two of these loses nothing."""
    records.save(condition.root, record)
    ledger.append(record.run, digest(canonical(record)))
    remove(places.spool(condition.root) / record.run)


def _reconcile(condition: Condition, ledger: Ledger, spent: Spending) -> dict[str, Result]:
    """Results so far, and what they spent; a record that was saved just before a crash is listed now."""
    results: dict[str, Result] = {}
    for record in records.each(condition.root, condition.cycle.id):
        ledger.append(record.run, digest(canonical(record)))
        results[record.job] = result_of(record)
        spent.add(record.key)
    return results


class only_one:
    """Only one process makes attempts of a cycle. Raises ArgusicError where another one does."""

    def __init__(self, root: Path, cycle: str) -> None:
        self._path = places.spool(root) / f"{cycle}.lock"
        self._cycle = cycle

    def __enter__(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._handle = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._handle)
            raise ArgusicError(f"cycle {self._cycle} is being run by another process; wait for it or end it") from None

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)
