"""The files of one attempt, held against its record: there, unchanged, whole, and saying the same as the record."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from archive.backends import parcel
from archive.edition import Edition
from archive.packing import Damaged
from archive.reasons import Reason, Validity
from archive.record import Record
from archive.report import MAX_BYTES, ReportRefused, read_report
from archive.store import file_digest
from audit.borrowed import Borrowed
from audit.certified import certified
from audit.finding import Checked
from audit.log import log
from audit.recording import Differs, recording
from scoring.attempted import report_that_counts
from scoring.moments import error_moments
from scoring.rubric import Contradictory, judge_report

COMPLETE = ("recording", "terminal", "timing", "log")
"""Roles without which an attempt is invalid (MEASUREMENT §7)."""
Place = Path | str | None
"""A file, where an object lies in a store, or nowhere but in the record."""


def evidence(
    record: Record,
    store: Borrowed,
    checked: Checked,
    unchanged: dict[str, Path] | None = None,
    gone: Collection[str] = (),
) -> Iterator[tuple[Place, str]]:
    """What is wrong with the files of `record`: the file or its place in the store, or None for the record itself, and
    the problem.

    A valid attempt must have all of `COMPLETE`, and they must agree. Another one may lack files, or have ended while
    one was written; those that it lists are there, unchanged. Files whose bytes are right are added to `unchanged` by
    role. Those of `gone` have a tombstone: they may be missing, and nothing else. Reads in constant memory.
    """
    whole = {} if unchanged is None else unchanged
    listed: set[str] = set()
    wanted = parcel(record)
    for item in record.evidence:
        if item.role in listed:
            yield None, f"lists two files as {item.role}"
            continue
        listed.add(item.role)
        try:
            path = store.path(wanted, item.digest)
            if path is None and item.digest in gone:
                checked["files taken down"] += 1
                continue
            if path is None:
                yield None, f"its {item.role} ({item.digest}) is not in the store"
                continue
            problem = _changed(path, item.bytes, item.digest)
        except Damaged as error:
            path, problem = None, str(error)
        if path is None or problem:
            name = path or store.name(item.digest)
            yield name, f"is not the {item.role} of run {record.run} any more: {problem}"
            continue
        whole[item.role] = path
        checked["evidence files"] += 1
        checked["evidence bytes"] += item.bytes
    if record.validity is Validity.VALID:
        for role in COMPLETE:
            if role not in listed:
                yield None, f"is valid without its {role}; without complete log and recording it is invalid"
        yield from _agree(whole)
        yield from _moments(record, whole)
    yield from certified(record, wanted, store, gone)
    yield from _report(record, whole.get("report"), "report" in listed)


def judged(record: Record, edition: Edition) -> Iterator[str]:
    """What in validity and outcome does not follow from the report and from who ended the attempt."""
    report = record.report
    if record.validity is not Validity.VALID:
        if record.reason is Reason.AGENT_REPORT_CONTRADICTORY and (report is None or not report.contradictory):
            yield f"reason is {record.reason}, but its report does not claim more fixes than errors"
        return
    if record.ended_by == "harness":
        yield "is valid, but it was ended by the harness"
    try:
        right = judge_report(edition, report_that_counts(record), record.ended_by == "budget").outcome
    except Contradictory as error:
        yield f"is valid, but {error}"
        return
    if right is not record.outcome:
        yield f"outcome is {record.outcome}; from its report, and its end by the {record.ended_by}, follows {right}"


def _changed(path: Path, size: int, digest: str) -> str | None:
    try:
        there = path.stat().st_size
        if there != size:
            return f"it has {there} bytes, the record says {size}"
        found = file_digest(path)
    except OSError as error:
        return error.strerror or "it cannot be read"
    return None if found == digest else f"its digest is {found}, the record says {digest}"


def _agree(files: dict[str, Path]) -> Iterator[tuple[Place, str]]:
    try:
        if {"recording", "terminal", "timing"} <= files.keys():
            recording(files["recording"], files["terminal"], files["timing"])
    except Differs as error:
        yield error.path, error.problem
    try:
        if "log" in files:
            log(files["log"])
    except Differs as error:
        yield error.path, error.problem


def _moments(record: Record, files: dict[str, Path]) -> Iterator[tuple[Place, str]]:
    if record.report and record.report.errors and {"terminal", "timing"} <= files.keys():
        wanted = [error.what for error in record.report.errors]
        if error_moments(files["terminal"].read_bytes(), files["timing"].read_bytes(), wanted) != record.error_ms:
            yield None, "says of an error that the recording shows it at another moment than it does"


def _report(record: Record, path: Path | None, listed: bool) -> Iterator[tuple[Place, str]]:
    """The report in the record is the one that the agent wrote, read once more."""
    state = record.report_state
    if not listed:
        if state == "read":
            yield None, "holds a report, but no report is among its evidence"
        return
    if state == "missing":
        yield None, "says that there was no report, but one is among its evidence"
    if path is None or state not in ("read", "refused"):
        return
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)
    try:
        found = read_report(data)
    except ReportRefused as error:
        if state == "read":
            yield path, f"cannot be read ({error}), but the record of run {record.run} holds a report"
        return
    if state == "refused":
        yield path, f"can be read, but the record of run {record.run} says that it was refused"
    elif found != record.report:
        yield path, f"is another report than the record of run {record.run} holds"
