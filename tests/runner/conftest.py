"""A real sandbox for the tests of this room; where this machine has none they are skipped and say so."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from archive.errors import MachineError
from runner.sandbox import Limits, Machine, Sandbox, Session, Spec
from runner.sandbox.bubblewrap import Bubblewrap
from runner.sandbox.container import Docker
from runner.watch import run

SMALL = Limits(cpus=2, memory_bytes=256 << 20, processes=64, open_files=128, disk_bytes=32 << 20)
ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/agent", "LANG": "C.UTF-8", "TERM": "xterm-256color"}


@pytest.fixture(scope="session")
def sandboxes(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Sandbox]:
    """A sandbox of each kind that this machine can make, made once; the test is skipped where it cannot."""

    @cache
    def one(kind: str) -> Sandbox | str:
        try:
            made = Docker(tmp_path_factory.mktemp("machines")) if kind == "docker" else Bubblewrap()
            made.start(Spec((), ENV, SMALL)).destroy()
        except MachineError as error:
            return str(error)
        return made

    def made(kind: str) -> Sandbox:
        found = one(kind)
        if isinstance(found, str):
            pytest.skip(f"no {kind} here: {found}")
        return found

    return made


@pytest.fixture
def sandbox(sandboxes: Callable[[str], Sandbox]) -> Sandbox:
    """A sandbox, for what is the same with each."""
    return sandboxes("bubblewrap")


@pytest.fixture
def start(sandbox: Sandbox) -> Iterator[Callable[..., Machine]]:
    """Starts machines and destroys them after the test."""
    machines: list[Machine] = []

    def one(limits: Limits = SMALL, network: str = "none", mounts: tuple = ()) -> Machine:  # type: ignore[type-arg]
        machine = sandbox.start(Spec(mounts, ENV, limits, network))  # type: ignore[arg-type]
        machines.append(machine)
        return machine

    yield one
    for machine in machines:
        machine.destroy()


def shell(machine: Machine, command: str, seconds: float = 20) -> tuple[int | None, str]:
    """Exit status (None where time ran out) and terminal output of a shell command."""
    ended, said = run(machine.exec(["sh", "-c", command]), seconds=seconds, most_bytes=1 << 22)
    return ended.exit, said.decode(errors="replace").replace("\r\n", "\n")


def wait_for(session: Session, marker: bytes, seconds: float = 20) -> bytes:
    """Reads a session's terminal until `marker` comes."""
    os.set_blocking(session.fileno(), False)
    seen, until = b"", time.monotonic() + seconds
    while marker not in seen:
        assert time.monotonic() < until, f"{marker!r} never came: {seen!r}"
        if select.select([session.fileno()], [], [], 0.1)[0]:
            seen += os.read(session.fileno(), 65536)
    return seen


def processes_of(machine: object) -> list[Path]:
    """Processes of the runner's computer that belong to a bubblewrap machine, its own two or three included."""
    root: int = machine._process.pid  # type: ignore[attr-defined]
    found, frontier = [], [root]
    while frontier:
        pid = frontier.pop()
        place = Path(f"/proc/{pid}")
        if not place.exists():
            continue
        found.append(place)
        for task in place.glob("task/*/children"):
            frontier += [int(child) for child in task.read_text().split()]
    return found
