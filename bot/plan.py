"""Every attempt a cycle may make, in one fixed order, with digests of all that decides it (MEASUREMENT §2, §8, §9)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from archive import atomic, pools
from archive.canonical import canonical
from archive.errors import DataError
from archive.harness import CODE
from archive.ledger import ledger_path
from archive.plan import Plan
from archive.records import paths
from bot.jobs import jobs_text
from bot.pins import pins_of

State = Literal["written", "rewritten", "unchanged"]


def make_plan(root: Path, cycle_id: str, code: Path = CODE) -> Plan:
    """The plan of a cycle: a function of pools/ and of the program at `code` alone.

    Raises DataError(s) where pools/ is wrong, or where a subject's tier has no budget in the cycle's edition.
    """
    return Plan.model_validate_json(_plan_bytes(root, cycle_id, code, None))


def write_plan(root: Path, cycle_id: str, *, again: bool = False, code: Path = CODE) -> tuple[Plan, State]:
    """Writes the plan into pools/. An equal one is left alone; another one is replaced only with `again`, and never
    once a record exists: a plan is made before anything runs."""
    path = pools.plan_path(root, cycle_id)
    if path.is_dir():
        raise DataError(path, "", "is a folder; a plan is a file, so move the folder away")
    old = pools.read_json(Plan, path) if path.is_file() else None
    data = _plan_bytes(root, cycle_id, code, old)
    if old and path.read_bytes() == data:
        return old, "unchanged"
    wanted = Plan.model_validate_json(data)
    if old is None:
        atomic.write(path, data)
        return wanted, "written"
    changed = ", ".join(differences(old, wanted)) or "the form of the file"
    if paths(root, cycle_id) or ledger_path(root, cycle_id).is_file():
        raise DataError(path, "", f"attempts were made under this plan, so it stays; it would now differ in {changed}")
    if not again:
        raise DataError(path, "", f"a plan exists and would now differ in {changed}; --again writes it anew")
    atomic.write(path, data)
    return wanted, "rewritten"


def differences(old: Plan, new: Plan) -> list[str]:
    """What changed between two plans, in words, in a fixed order."""
    single = ("cycle", "edition", "pool")
    found = [f"pins.{name}" for name in single if getattr(old.pins, name) != getattr(new.pins, name)]
    for kind in ("agents", "sources", "instructions"):
        before, after = getattr(old.pins, kind), getattr(new.pins, kind)
        found += [f"pins.{kind}.{key}" for key in sorted({*before, *after}) if before.get(key) != after.get(key)]
    if old.pins.harness.digest != new.pins.harness.digest:
        found.append("pins.harness.digest")
    if old.jobs != new.jobs:
        found.append(f"jobs ({len(old.jobs)} before, {len(new.jobs)} now)")
    return found


def _plan_bytes(root: Path, cycle_id: str, code: Path, old: Plan | None) -> bytes:
    """The plan in canonical form. The commit that `old` names stays where its files are still the same: committing a
    plan makes a new commit, and would otherwise make a new plan."""
    cycle = pools.cycle(root, cycle_id)
    edition = pools.editions(root)[cycle.edition]
    subjects = pools.subjects(root, cycle_id)
    agents = pools.agents(root)
    pins = pins_of(root, cycle, subjects, [agents[name] for name in cycle.agents], code)
    if old and old.pins.harness.digest == pins.harness.digest:
        pins = pins.model_copy(update={"harness": old.pins.harness})
    empty = canonical(Plan(schema_version=1, cycle=cycle_id, pins=pins, jobs=()))
    jobs = jobs_text(root, cycle, edition, subjects)
    return empty.replace(b'\n  "jobs": [],\n', f'\n  "jobs": [\n{jobs}\n  ],\n'.encode(), 1) if jobs else empty
