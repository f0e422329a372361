"""The files of pools/ that a plan pins, and whether they still are what it pins (MEASUREMENT §2)."""

from __future__ import annotations

from pathlib import Path

from archive import pools
from archive.errors import DataError, DataErrors
from archive.plan import Plan
from archive.store import file_digest


def pinned_files(root: Path, plan: Plan) -> dict[Path, str]:
    """Each file with its digest."""
    folder = root / "pools/cycles" / plan.cycle
    edition = pools.cycle(root, plan.cycle).edition
    files = {
        folder / "cycle.toml": plan.pins.cycle,
        folder / "public.toml": plan.pins.pool,
        root / f"pools/editions/{edition}.toml": plan.pins.edition,
    }
    files |= {root / f"pools/agents/{name}.toml": value for name, value in plan.pins.agents.items()}
    return files | {root / f"pools/sources/{name}.toml": value for name, value in plan.pins.sources.items()}


def check_pins(root: Path, plan: Plan) -> None:
    """Raises `DataErrors` that name each file which is not what the plan pins."""
    changed = [path for path, pin in pinned_files(root, plan).items() if not path.is_file() or file_digest(path) != pin]
    if changed:
        raise DataErrors([DataError(path, "", "is not what the plan pinned when the cycle began") for path in changed])
