"""What this computer can and cannot guarantee, in plain words."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

from archive.errors import DataError, MachineError
from archive.record import Guarantee
from runner.condition import FREE_BYTES, absent
from runner.machine import LIMITS, spec
from runner.sandbox.choose import Kind, choose
from runner.watch import run

WORDS: dict[Guarantee, str] = {
    "enforced": "enforced",
    "watched": "watched: what goes over it is ended a moment later",
    "absent": "not held by this sandbox",
}


class Finding(NamedTuple):
    """One line of the doctor."""

    name: str
    good: bool
    said: str
    needed: bool = True
    """Whether an attempt cannot be made without it."""


def examine(root: Path, kind: Kind, extra_ca: Path | None) -> list[Finding]:
    """Tries everything an attempt needs; the network is not asked."""
    if extra_ca is not None and not extra_ca.is_file():
        raise DataError(extra_ca, "--extra-ca", "no such file; give a bundle of certificates in PEM form")
    found = _sandbox(root, kind, extra_ca)
    free = shutil.disk_usage(root).free
    found.append(Finding("free disk", free >= FREE_BYTES, f"{free >> 30} GiB free; {FREE_BYTES >> 30} are needed"))
    found.append(_program("git", "records are published with it"))
    return found


def _sandbox(root: Path, kind: Kind, extra_ca: Path | None) -> list[Finding]:
    try:
        sandbox, why = choose(kind, root)
        machine = sandbox.start(spec(sandbox, (), extra_ca))
    except MachineError as error:
        return [Finding("sandbox", False, str(error))]
    try:
        command = 'python3 -c "import venv, ensurepip" && node --version && npm --version'
        ended, said = run(machine.exec(["sh", "-c", command]), seconds=60, most_bytes=4096)
    finally:
        machine.destroy()
    text = " ".join(said.decode(errors="replace").split())
    if ended.exit != 0:
        return [Finding("sandbox", False, f"{why}; it works, and a tool is missing inside: {text[:300]}")]
    found = [Finding("sandbox", True, f"{why}; inside: Python with venv, Node and npm {text}")]
    try:
        guarantees = sandbox.guarantees()
        missing = absent(sandbox)
    except MachineError as error:
        return [*found, Finding("limits", False, str(error))]
    found += [
        Finding(name.replace("_", " "), kind != "absent", _limit(name, kind), False)
        for name, kind in guarantees.items()
    ]
    bar = f"no, for want of: {', '.join(missing)}" if missing else "yes"
    found.append(Finding("cycles that count", not missing, f"{bar}; a demonstration can be measured here", False))
    return found


def _limit(name: str, kind: Guarantee) -> str:
    value = LIMITS._asdict().get(name)
    shown = "" if value is None else f"{value >> 20} MiB, " if name.endswith("bytes") else f"{value}, "
    return shown + WORDS[kind]


def _program(name: str, why: str) -> Finding:
    place = shutil.which(name)
    return Finding(name, place is not None, place or f"not installed; {why}")
