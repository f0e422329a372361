"""results/reproductions on disk: attempts made once more, apart from all that is counted (MEASUREMENT §11)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from archive import atomic
from archive.canonical import canonical
from archive.errors import DataError
from archive.model import Digest, Model
from archive.plan import RunId, run_id
from archive.pools import read_json
from archive.record import Record


class Reproduction(Model):
    """results/reproductions/<xx>/<run>/<number>.json: one attempt made again, with its own record."""

    schema_version: Literal[1]
    of: RunId
    """The run that was made again."""
    of_record: Digest
    """Of its record as it was then."""
    number: Annotated[int, Field(ge=1)]
    record: Record

    @model_validator(mode="after")
    def _again(self) -> Reproduction:
        if self.record.purpose != "rerun":
            raise ValueError('record.purpose: must be "rerun"')
        if self.record.run != run_id(self.record.cycle, self.record.job):
            raise ValueError("record.run: is not the hash of cycle and job")
        return self


def folder(root: Path, run: str) -> Path:
    """Where the reproductions of a run lie."""
    return root / "results/reproductions" / run[:2] / run


def save(root: Path, made: Reproduction) -> Path:
    """Writes a new one. Raises DataError where another one has its place: they are never changed."""
    path = folder(root, made.of) / f"{made.number}.json"
    if path.exists():
        raise DataError(path, "", "another reproduction is there; they are never changed")
    atomic.write(path, canonical(made))
    return path


def of(root: Path, run: str) -> list[Reproduction]:
    """All of a run, in order. Raises DataErrors."""
    paths = sorted(folder(root, run).glob("*.json"), key=lambda path: (len(path.stem), path.stem))
    return [read_json(Reproduction, path) for path in paths]


def each(root: Path) -> Iterator[Reproduction]:
    """All of them."""
    for path in sorted((root / "results/reproductions").glob("*/*/*.json")):
        yield read_json(Reproduction, path)
