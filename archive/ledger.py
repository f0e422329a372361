"""The hash-chained list of everything a cycle made: one line a record, one writer, nothing ever changed.

Line 0 names cycle and plan, each further line one run and its record's digest, the last one of a closed cycle their
number. Every line holds the digest of the line before it, and nothing that could not be computed again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, ValidationError

from archive import atomic, merkle
from archive.canonical import canonical_line, digest
from archive.errors import DataError, DataErrors
from archive.model import Digest, Model, Slug, explain
from archive.plan import RunId


class Opened(Model):
    """First line."""

    kind: Literal["opened"]
    n: Literal[0]
    cycle: Slug
    plan: Digest


class Entry(Model):
    """One run."""

    kind: Literal["record"]
    n: Annotated[int, Field(ge=1)]
    prev: Digest
    run: RunId
    record: Digest


class Closed(Model):
    """Last line."""

    kind: Literal["closed"]
    n: Annotated[int, Field(ge=1)]
    prev: Digest
    records: Annotated[int, Field(ge=0)]
    root: Digest
    """Merkle root over all runs and their records, as `merkle_root` makes it."""


Line = Annotated[Opened | Entry | Closed, Field(discriminator="kind")]
_LINE: TypeAdapter[Opened | Entry | Closed] = TypeAdapter(Line)


def ledger_path(root: Path, cycle: str) -> Path:
    """Where the ledger of a cycle lies."""
    return root / "results/ledgers" / f"{cycle}.jsonl"


def merkle_root(entries: Mapping[str, str]) -> str:
    """Over a leaf for each run in its order: its id, a space, and the digest of its record."""
    return merkle.root([f"{run} {record}".encode() for run, record in entries.items()])


class Ledger:
    """A read and checked ledger, and the only way to write one. One process at a time may append."""

    def __init__(self, path: Path, lines: list[Opened | Entry | Closed], head: str) -> None:
        self.path, self.lines, self.head = path, lines, head
        self.entries = {line.run: line.record for line in lines if isinstance(line, Entry)}
        """Digest of the record of each run, in the order in which they were made."""

    @classmethod
    def open(cls, root: Path, cycle: str, plan: str) -> Ledger:
        """The ledger of `cycle`, begun here where there is none; a torn last line (power cut) is removed."""
        path = ledger_path(root, cycle)
        if path.exists():
            data = path.read_bytes()
            whole = data[: data.rfind(b"\n") + 1]
            if whole != data:
                atomic.write(path, whole)
        if not path.exists() or not path.stat().st_size:
            atomic.write(path, canonical_line(Opened(kind="opened", n=0, cycle=cycle, plan=plan)))
        return cls.read(root, cycle)

    @classmethod
    def read(cls, root: Path, cycle: str) -> Ledger:
        """The ledger of `cycle` with its chain checked; DataErrors name the first line that breaks it."""
        path = ledger_path(root, cycle)
        if not path.is_file():
            raise DataError(path, "", "no such ledger; nothing of this cycle was run")
        lines: list[Opened | Entry | Closed] = []
        seen: set[str] = set()
        entries: list[Entry] = []
        head = ""
        for number, raw in enumerate(path.read_bytes().splitlines(keepends=True)):
            problem = None
            try:
                line = _LINE.validate_json(raw)
            except ValidationError as error:
                raise DataErrors(
                    [DataError(path, e.field, e.problem, number + 1) for e in explain(error, path)]
                ) from None
            if canonical_line(json.loads(raw)) != raw:
                problem = "is not in canonical form"
            elif line.n != number or (number == 0) != isinstance(line, Opened):
                problem = f"line {number} is numbered {line.n}" if line.n != number else "must open the ledger, once"
            elif isinstance(line, Opened):
                if line.cycle != cycle:
                    problem = f"is the ledger of cycle {line.cycle}"
            elif line.prev != head:
                problem = "does not follow the line before it: one of the two was changed"
            elif isinstance(lines[-1], Closed):
                problem = "stands after the line that closed the ledger"
            elif isinstance(line, Entry) and line.run in seen:
                problem = f"names run {line.run} a second time"
            elif isinstance(line, Closed) and line.records != number - 1:
                problem = f"counts {line.records} records; there are {number - 1}"
            elif isinstance(line, Closed) and line.root != merkle_root({one.run: one.record for one in entries}):
                problem = "holds another Merkle root than that of the records before it"
            if problem:
                raise DataErrors([DataError(path, "", problem, number + 1)])
            lines.append(line)
            head = digest(raw)
            if isinstance(line, Entry):
                seen.add(line.run)
                entries.append(line)
        if not lines:
            raise DataErrors([DataError(path, "", "is empty")])
        return cls(path, lines, head)

    @property
    def plan(self) -> str:
        """Digest of the plan the cycle was opened with."""
        first = self.lines[0]
        assert isinstance(first, Opened)
        return first.plan

    @property
    def closed(self) -> bool:
        """Whether the cycle has ended."""
        return isinstance(self.lines[-1], Closed)

    def append(self, run: str, record: str) -> None:
        """Adds a run; a run that is there with the same digest already is left alone."""
        known = self.entries.get(run)
        if known == record:
            return
        if known or self.closed:
            why = f"run {run} stands there with another digest" if known else "the cycle is closed"
            raise DataError(self.path, "", why)
        self._add(Entry(kind="record", n=len(self.lines), prev=self.head, run=run, record=record))
        self.entries[run] = record

    def close(self) -> None:
        """Ends the ledger; a second call does nothing."""
        if not self.closed:
            root = merkle_root(self.entries)
            self._add(Closed(kind="closed", n=len(self.lines), prev=self.head, records=len(self.entries), root=root))

    def _add(self, line: Entry | Closed) -> None:
        raw = canonical_line(line)
        atomic.append(self.path, raw)
        self.lines.append(line)
        self.head = digest(raw)
