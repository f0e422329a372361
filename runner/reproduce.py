"""An attempt made once more: same subject, pin, image, agent, edition and budget (MEASUREMENT §11)."""

from __future__ import annotations

from pathlib import Path

from archive import places, records, reproductions
from archive.canonical import canonical, digest
from archive.errors import ArgusicError, DataError
from archive.plan import Job, job_id
from archive.record import Record
from archive.reproductions import Reproduction
from runner.attempt import Attempt
from runner.condition import condition
from runner.cycle import only_one
from runner.recover import forget_reproductions
from runner.sandbox.choose import Chosen, Kind, choose
from runner.spool import remove
from runner.watch import Halt


def sandbox_of(root: Path, record: Record) -> Chosen:
    """The same kind of machine, from the same image. Raises MachineError where this runner has none."""
    return choose(Kind(record.environment.sandbox), root, record.environment.image)


def reproduce(root: Path, record: Record, chosen: Chosen, extra_ca: Path | None, halt: Halt) -> Reproduction:
    """Makes the attempt of `record` once more, keeps it beside it, and changes nothing of what is counted.

    Raises DataError where its cycle, subject or agent is not what it was, ArgusicError where it was itself one that
    was made again, where another process is at work on its cycle, or where it was stopped: then nothing of it is kept.
    """
    if record.purpose == "rerun":
        raise ArgusicError(f"run {record.run[:8]} is itself one that was made again; reproduce the one that it is of")
    ready = condition(root, record.cycle, chosen.sandbox, extra_ca, again=record.agent)
    place = records.record_path(root, record.cycle, record.run)
    if record.subject not in ready.subjects:
        raise DataError(place, "subject", f"is not in the pool of cycle {record.cycle} any more")
    if ready.agent_digests.get(record.agent) != record.agent_digest:
        raise DataError(place, "agent_digest", f"pools/agents/{record.agent}.toml is not what it was then")
    if record.edition != ready.edition.version:
        raise DataError(place, "edition", f"the cycle says {ready.edition.version} now")
    with only_one(root, record.cycle):
        ready.sandbox.sweep()
        forget_reproductions(ready)
        number = len(reproductions.of(root, record.run)) + 1
        made = Attempt(ready, _job(record, number), halt, again=record.run).make()
        spool = places.spool(root) / made.run
        if halt.reason is not None:
            remove(spool)
            raise ArgusicError(f"stopped ({halt.reason}): nothing of the reproduction is kept")
        found = Reproduction(
            schema_version=1, of=record.run, of_record=digest(canonical(record)), number=number, record=made
        )
        reproductions.save(root, found)
        remove(spool)
        return found


def _job(record: Record, number: int) -> Job:
    """The same work, outside of every plan."""
    subject = f"{record.subject} as run {record.run}"
    return Job(
        id=job_id(record.cycle, "rerun", record.agent, subject, number),
        purpose="rerun",
        agent=record.agent,
        subject=record.subject,
        source_type=record.source_type,
        tier=record.tier,
        budget_minutes=record.budget_minutes,
        slot=1,
        rerun=0,
        attempt=number,
        condition="always",
        of=None,
    )
