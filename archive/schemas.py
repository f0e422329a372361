"""JSON Schemas of every document on disk, exported from the models: `python -m archive.schemas` writes schemas/.

A schema states shape, types, ranges and closed lists. What only the models check is not in it: that a package URL is a
pin, that fields agree with each other, that a file lies in its place.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from archive import atomic
from archive.agent import Agent
from archive.canonical import canonical
from archive.cycle import Cycle
from archive.edition import Edition
from archive.image import Image
from archive.ledger import Line
from archive.limits import MachineLimits
from archive.model import Model
from archive.plan import Plan
from archive.record import Record
from archive.report import Report
from archive.reproductions import Reproduction
from archive.source_type import SourceType
from archive.subject import Subject
from archive.timestamps import Stamp
from archive.tombstones import Tombstone

FOLDER = Path(__file__).resolve().parent.parent / "schemas"


class Pool(Model):
    """pools/cycles/<id>/public.toml: the pinned projects of a cycle."""

    subject: tuple[Subject, ...]


DOCUMENTS: dict[str, Any] = {
    "agent": Agent,
    "cycle": Cycle,
    "edition": Edition,
    "image": Image,
    "ledger-line": Line,
    "limits": MachineLimits,
    "plan": Plan,
    "pool": Pool,
    "record": Record,
    "reproduction": Reproduction,
    "report": Report,
    "source-type": SourceType,
    "stamp": Stamp,
    "tombstone": Tombstone,
}
"""Name of the schema to what it describes."""


def schemas() -> dict[str, bytes]:
    """File name to content of every schema (JSON Schema 2020-12, canonical form)."""
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {
        f"{name}.schema.json": canonical(dialect | TypeAdapter(document).json_schema(mode="validation"))
        for name, document in DOCUMENTS.items()
    }


def write(folder: Path = FOLDER) -> list[Path]:
    """Writes the schemas to `folder`, removes those of no document any more; the files that changed."""
    wanted = schemas()
    changed = [folder / name for name, data in wanted.items() if atomic.write_if_new(folder / name, data)]
    for path in folder.glob("*.schema.json"):
        if path.name not in wanted:
            path.unlink()
            changed.append(path)
    return changed


if __name__ == "__main__":
    write()
