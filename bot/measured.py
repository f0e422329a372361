"""What pages need of each record, as small values: a hundred thousand attempts fit in memory, their records do not."""

from __future__ import annotations

import gc
from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from archive import pools, purl, records, releases
from archive.cycle import Cycle
from archive.edition import Edition
from archive.edits import Kind
from archive.errors import DataError, DataErrors
from archive.reasons import Validity
from archive.record import Environment, Record
from archive.report import Report
from bot import words
from bot.error_lines import ErrorLine, error_lines
from bot.quote import shortened
from scoring.attempted import Attempted, attempted

COMMAND = 300
"""Characters of a verifying command that pages show; the record has all of it."""
RETURNED = 200
"""Characters of what it returned."""


class Machine(NamedTuple):
    """What is the same for all attempts of one kind of machine."""

    sandbox: str
    image: str | None
    system: str
    architecture: str
    network: str
    limits: tuple[tuple[str, int | None, str], ...]
    """Name, value and guarantee."""


class Run(NamedTuple):
    """One attempt as pages show it."""

    judged: Attempted
    job: str
    budget_minutes: int
    agent_ms: int | None
    """None where the agent was never started."""
    ended_by: str
    failed_at: str | None
    """Which step a valid attempt without a pass did not reach, or which limit ended it, in words."""
    errors: tuple[ErrorLine, ...]
    """That the agent says it met; the words of those that pages show, of a valid attempt without a pass."""
    claims: tuple[str, str, str] | None
    """seen, kind and replay of `Claims`."""
    verified: tuple[str, str] | Literal["not verified"] | None
    """The command that the agent says verified its output and what it returned, both shortened; None: no report."""
    install_seconds: int | None
    """As the agent claims."""
    log: str | None
    """Digest of the stored log."""
    recording: str | None
    """Digest of the stored recording."""
    masked: tuple[tuple[Kind, int], ...]
    """How many spans of each kind were masked in all files."""
    shared_key: bool
    waits: bool
    """Whether its evidence waits for the end of its key."""
    incidents: tuple[str, ...]
    machine: Machine
    final_state: str | None


def measured(root: Path) -> dict[str, list[Run]]:
    """The runs of each cycle that has a record, in order of their id.

    Reads one record at a time. Raises DataErrors for every record that is not what it must be, of a cycle that is not
    declared, made under another edition than its cycle's, or said to be valid without evidence (MEASUREMENT §7).
    """
    editions, cycles = pools.editions(root), {name: pools.cycle(root, name) for name in pools.cycle_ids(root)}
    problems: list[DataError] = []
    found: dict[str, list[Run]] = defaultdict(list)
    machines: dict[Machine, Machine] = {}
    collecting = gc.isenabled()
    # Nothing here makes a cycle of objects, and looking for one again and again is a tenth of the time.
    gc.disable()
    try:
        for record in records.each(root, problems=problems):
            try:
                found[record.cycle].append(_run(root, record, cycles, editions, machines))
            except DataError as error:
                problems.append(error)
    finally:
        if collecting:
            gc.enable()
    if problems:
        raise DataErrors(problems)
    return dict(found)


def _run(
    root: Path,
    record: Record,
    cycles: Mapping[str, Cycle],
    editions: Mapping[str, Edition],
    machines: dict[Machine, Machine],
) -> Run:
    cycle = cycles.get(record.cycle)
    if cycle is None or cycle.edition != record.edition:
        problem = "is not declared in pools/cycles" if cycle is None else f"is judged by edition {cycle.edition}"
        place = records.record_path(root, record.cycle, record.run)
        raise DataError(place, "edition" if cycle else "cycle", f"the record's cycle {record.cycle} {problem}")
    files = {item.role: item.digest for item in record.evidence}
    if record.validity is Validity.VALID and not {"recording", "log"} <= files.keys():
        place = records.record_path(root, record.cycle, record.run)
        raise DataError(place, "evidence", "a valid attempt has a recording and a log; without them it is invalid")
    if trouble := _trouble(record.subject):
        raise DataError(records.record_path(root, record.cycle, record.run), "subject", trouble)
    machine = _machine(record.environment)
    claims, failed_at = record.claims, _failed_at(record)
    return Run(
        judged=attempted(record, editions),
        job=record.job,
        budget_minutes=record.budget_minutes,
        agent_ms=record.times.agent_ms,
        ended_by=record.ended_by,
        failed_at=failed_at,
        errors=error_lines(record.report, words=failed_at is not None, moments=record.error_ms),
        claims=(claims.seen, claims.kind, claims.replay) if claims else None,
        verified=_verified(record.report),
        install_seconds=record.report.install_seconds if record.report else None,
        log=files.get("log"),
        recording=files.get("recording"),
        masked=_masked(record),
        shared_key=record.key.kind == "shared",
        waits=releases.waits(root, record),
        incidents=tuple(incident.kind for incident in record.incidents),
        machine=machines.setdefault(machine, machine),
        final_state=record.report.final_state if record.report else None,
    )


@cache
def _trouble(subject: str) -> str:
    """What keeps a subject from being one that is pinned; nothing where it is fine."""
    try:
        purl.parse(subject)
    except ValueError as error:
        return str(error)
    return ""


def _verified(report: Report | None) -> tuple[str, str] | Literal["not verified"] | None:
    how = report.verified_how if report else None
    if how is None or isinstance(how, str):
        return how
    return shortened(how.command, COMMAND), shortened(how.returned, RETURNED)


def _machine(found: Environment) -> Machine:
    limits = tuple((name, limit.value, limit.guarantee) for name, limit in sorted(found.limits.items()))
    return Machine(found.sandbox, found.image, found.system, found.architecture, found.network, limits)


def _failed_at(record: Record) -> str | None:
    """The order is that of the rubric: what was not installed cannot have started (MEASUREMENT §7)."""
    if record.validity is not Validity.VALID or (record.outcome and record.outcome.passed):
        return None
    if record.ended_by in words.CUT_OFF:
        return words.CUT_OFF[record.ended_by]
    if record.report is None:
        return "no readable report"
    if not record.report.installed:
        return "did not install"
    return "did not start" if not record.report.launched else "not verified"


def _masked(record: Record) -> tuple[tuple[Kind, int], ...]:
    """Spans by kind; the recording is made from the terminal and would count them twice."""
    counts: Counter[Kind] = Counter()
    for item in record.evidence:
        if item.role != "recording":
            counts.update(item.masked)
    return tuple(sorted(counts.items()))
