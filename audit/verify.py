"""Anyone can check it: records against ledger and plan, every file of evidence against its digest, and every number
and page derived once more (ARCHITECTURE, invariant 7)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from archive import pools, tombstones
from archive.backends import Objects, Token, backend, parcel
from archive.canonical import digest
from archive.edition import Edition
from archive.errors import ArgusicError, DataError
from archive.ledger import Ledger
from archive.places import store as embedded
from archive.record import Record
from archive.records import record_path
from archive.releases import waits
from archive.tombstones import Tombstone
from audit.borrowed import Borrowed
from audit.complete import compared
from audit.derived import derived
from audit.evidence import evidence, judged
from audit.finding import Checked, Finding, explained, place
from audit.kept import held, kept
from audit.pages import pages
from audit.rules import rules
from audit.stamped import stamped


def verify(
    root: Path,
    target: str,
    source: str | None = None,
    *,
    checked: Checked | None = None,
    confirmed: list[str] | None = None,
    token: Token | None = None,
    authority: str | None = None,
) -> list[Finding]:
    """`target` is a cycle, or a run by its id or the beginning of it. `source` names a store of evidence, anybody's;
    without one it is the checkout's own. `token` is for GitHub, `authority`
    the PEM text of certificates for time stamps. What was confirmed is added to
    `confirmed` in words, a line each: only what had no finding.

    Raises DataError where there is neither such a cycle nor such a run, or where several runs begin so, MachineError
    where the store cannot be reached.
    """
    checked = Checked() if checked is None else checked
    words: list[str] = [] if confirmed is None else confirmed
    own = embedded(root)
    with Borrowed(backend(source, token) if source is not None else Objects(str(own.folder), own)) as store:
        cycle, run = named(root, target)
        if run is None:
            return _cycle(root, cycle, store, checked, words, authority)
        return _run(root, cycle, run, store, checked, words)


def _run(root: Path, cycle: str, run: str, store: Borrowed, checked: Checked, words: list[str]) -> list[Finding]:
    found, ledger = [], None
    try:
        ledger = Ledger.read(root, cycle)
        checked["ledger lines"] += len(ledger.lines)
    except ArgusicError as error:
        found += explained("verify", root, error)
    plan, path = pools.plan_path(root, cycle), record_path(root, cycle, run)
    if not plan.is_file():
        found.append(Finding("verify", place(root, plan), "is missing"))
    elif ledger and digest(plan.read_bytes()) != ledger.plan:
        found.append(Finding("verify", place(root, plan), "is not the plan that the cycle was opened with"))
    if not path.is_file():
        problem = f"run {run} is in the ledger, but its record is missing"
        return [*found, Finding("verify", place(root, path), problem)]
    record, problems = held(root, path, ledger, "verify")
    checked["records"] += 1
    if record:
        unchanged: dict[str, Path] = {}
        problems += _record(root, record, pools.editions(root), store, checked, unchanged)
        words += _confirmed(root, record, ledger, problems, store, unchanged)
    return found + problems


def _confirmed(
    root: Path,
    record: Record,
    ledger: Ledger | None,
    problems: list[Finding],
    store: Borrowed,
    unchanged: Mapping[str, Path],
) -> Iterator[str]:
    """The record where the ledger has it so, its files one by one, and the outcome where nothing speaks against it."""
    path = record_path(root, record.cycle, record.run)
    doubted = {problem.file for problem in problems}
    if ledger and place(root, path) not in doubted:
        yield f"record: {digest(path.read_bytes())}"
    # Of two files of one role, which is a finding, only the first was read.
    first = {item.role: item for item in reversed(record.evidence)}
    for item in (item for item in record.evidence if item is first[item.role]):
        if item.role in unchanged and _name(root, store, unchanged[item.role]) not in doubted:
            yield f"{item.role}: {item.bytes} bytes, {item.digest}"
        elif item.role not in unchanged and not problems and (stone := tombstones.find(root, item.digest)):
            yield f"{item.role}: taken down on {stone.day} ({stone.reason}), {item.digest}"
    if not problems:
        yield f"outcome: {record.outcome}" if record.outcome else f"{record.validity}: {record.reason}"


def _cycle(
    root: Path, cycle: str, store: Borrowed, checked: Checked, words: list[str], authority: str | None
) -> list[Finding]:
    made = kept(root, cycle)
    found = compared(root, cycle, made, unfinished=False, checked=checked)
    try:
        editions = pools.editions(root)
        for record in made.records.values():
            found += _record(root, record, editions, store, checked)
            store.give_back()
        told = derived(root, cycle, made.records.values())
        stamps = list[str]()
        found += stamped(root, cycle, made.ledger, authority, checked, stamps)
        if not found and made.ledger:
            words += [f"ledger: {'closed' if made.ledger.closed else 'open'}, head {made.ledger.head}", *stamps, *told]
    except ArgusicError as error:
        found += explained("verify", root, error)
    return found + rules(root, cycle) + pages(root, checked=checked)


def _record(
    root: Path,
    record: Record,
    editions: Mapping[str, Edition],
    store: Borrowed,
    checked: Checked,
    unchanged: dict[str, Path] | None = None,
) -> Iterator[Finding]:
    """Evidence and judgement of a record whose own bytes are right."""
    name = place(root, record_path(root, record.cycle, record.run))
    if waits(root, record):
        checked["runs whose evidence waits"] += 1
    else:
        gone: dict[str, Tombstone] = {}
        try:
            gone = tombstones.of(root, parcel(record).objects)
        except ArgusicError as error:
            yield from explained("verify", root, error)
        for path, problem in evidence(record, store, checked, unchanged, gone):
            told = problem if path else f"run {record.run}: {problem}"
            yield Finding("verify", _name(root, store, path) if path else name, told)
    edition = editions.get(record.edition)
    if edition is None:
        yield Finding("verify", name, f"run {record.run}: edition {record.edition} does not exist")
        return
    checked["derived outcomes"] += 1
    for problem in judged(record, edition):
        yield Finding("verify", name, f"run {record.run}: {problem}")


def _name(root: Path, store: Borrowed, path: Path | str) -> str:
    told = store.told(path) if isinstance(path, Path) else path
    return place(root, told) if isinstance(told, Path) else told


def named(root: Path, target: str) -> tuple[str, str | None]:
    """Cycle and run that `target` names, of a record or of a ledger line whose record is gone; no run where it is a
    cycle. Raises DataError where it is neither, or begins several runs."""
    if target in pools.cycle_ids(root):
        return target, None
    found: set[tuple[str, str]] = set()
    if re.fullmatch(r"[0-9a-f]{4,32}", target):
        for path in (root / "results/records").glob(f"*/{target[:2]}/{target}*.json"):
            found.add((path.parent.parent.name, path.stem))
        for path in (root / "results/ledgers").glob("*.jsonl"):
            runs = re.findall(f'"run":"({target}[0-9a-f]*)"', path.read_text("utf-8", "replace"))
            found |= {(path.stem, run) for run in runs}
    if len(found) == 1:
        return found.pop()
    known = ", ".join(pools.cycle_ids(root)) or "none"
    problem = f"{target!r} is neither a run nor a cycle; the cycles are: {known}"
    raise DataError(root, "", f"{len(found)} runs begin with {target!r}; write more of it" if found else problem)
