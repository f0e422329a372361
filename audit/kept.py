"""The records that lie on disk, held against the ledger of their cycle: nothing changed, added or taken away."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from archive import records
from archive.canonical import canonical, digest
from archive.errors import ArgusicError, DataError, DataErrors
from archive.ledger import Ledger, ledger_path
from archive.record import Record
from audit.finding import Finding, explained, place

_PLACE = re.compile(r"([0-9a-f]{2})/\1[0-9a-f]{30}\.json")


@dataclass
class Kept:
    """What was found of one cycle."""

    records: dict[str, Record] = field(default_factory=dict)
    """By run: readable, in its place, and what the ledger holds."""
    doubtful: set[str] = field(default_factory=set)
    """Runs whose record is there but cannot be relied on; each has a finding."""
    ledger: Ledger | None = None
    """None where it is missing or broken."""
    findings: list[Finding] = field(default_factory=list)


def kept(root: Path, cycle: str, check: str = "complete") -> Kept:
    """Every file below results/records/<cycle>, and every line of its ledger."""
    found = Kept()
    files = _files(root, cycle, check, found.findings)
    path = ledger_path(root, cycle)
    if files and not path.exists():
        found.findings.append(Finding(check, place(root, path), f"is missing, and there are {len(files)} records"))
    elif path.exists():
        try:
            found.ledger = Ledger.read(root, cycle)
        except ArgusicError as error:
            found.findings += explained(check, root, error)
    for run, path in files.items():
        record, findings = held(root, path, found.ledger, check)
        found.findings += findings
        if record is None or findings:
            found.doubtful.add(run)
        else:
            found.records[run] = record
    for run in found.ledger.entries if found.ledger else ():
        if run not in files:
            missing = place(root, records.record_path(root, cycle, run))
            found.findings.append(Finding(check, missing, f"run {run} is in the ledger, but its record is missing"))
    return found


def held(root: Path, path: Path, ledger: Ledger | None, check: str) -> tuple[Record | None, list[Finding]]:
    """The record at `path`, as far as it can be read, and what is wrong with its bytes; None knows no ledger."""
    name, run = place(root, path), path.stem
    found: list[Finding] = []
    try:
        data = path.read_bytes()
    except OSError as error:
        return None, [Finding(check, name, error.strerror or "cannot be read")]
    if ledger is not None:
        entry, here = ledger.entries.get(run), digest(data)
        if entry is None:
            found.append(Finding(check, name, f"run {run} is not in the ledger: the record was added beside it"))
        elif entry != here:
            problem = f"run {run} was changed or made again: it is {here}, the ledger holds {entry}"
            found.append(Finding(check, name, problem))
    try:
        record = records.read(path)
    except (DataError, DataErrors) as error:
        return None, found + explained(check, root, error)
    if canonical(record) != data:
        found.append(Finding(check, name, "is not in canonical form"))
    return record, found


def _files(root: Path, cycle: str, check: str, findings: list[Finding]) -> dict[str, Path]:
    """The files that have a record's place, by run; anything else there is a finding."""
    top, found = root / "results/records" / cycle, {}
    if top.is_symlink():
        findings.append(Finding(check, place(root, top), "a symbolic link has no place among records"))
    for folder, folders, names in os.walk(top):
        for name in sorted([*folders, *names]):
            path = Path(folder) / name
            inside = path.relative_to(top).as_posix()
            if path.is_symlink():
                findings.append(Finding(check, place(root, path), "a symbolic link has no place among records"))
            elif name in folders:
                continue
            elif _PLACE.fullmatch(inside) and path.is_file():
                found[path.stem] = path
            else:
                findings.append(Finding(check, place(root, path), "is not the place of a record"))
    return dict(sorted(found.items()))
