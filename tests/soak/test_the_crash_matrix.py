"""Every step of an attempt × every way a runner can be cut off, on each sandbox: nothing lost, leaked or run twice.

The table of what became of each cell is printed at the end.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, get_args

import pytest

from archive import places, records
from archive.canonical import digest
from archive.errors import MachineError
from archive.reasons import Reason, Validity
from bot.plan import write_plan
from runner.journal import Step
from runner.sandbox import disk as disks
from runner.sandbox.container import LABEL, Docker
from runner.sandbox.owner import alive
from tests.runner.drive import SECRET
from tests.runner.scripted import report
from tests.support.make import declare

pytestmark = [pytest.mark.soak, pytest.mark.sandbox]
CHECKOUT = Path(__file__).parents[2]
SCRIPT = f"echo the agent was here {SECRET}; echo 42 > result.txt\n" + report()
TROUBLES = ("SIGKILL", "SIGTERM", "SIGINT", "engine", "disk")
CELLS = [
    (kind, step, trouble)
    for kind in ("bubblewrap", "docker")
    for step in get_args(Step)
    for trouble in TROUBLES
    if step != "note" and (kind == "docker" or trouble != "engine")
]
STEPS = [step for step in get_args(Step) if step != "note"]


class Ended(NamedTuple):
    """One process of the runner."""

    status: int
    err: str


def drive(root: Path, kind: str, *trouble: str) -> Ended:
    command = [sys.executable, "-m", "tests.runner.drive", str(root), SCRIPT, kind, *trouble]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=120, check=False)
    return Ended(done.returncode, done.stderr)


@pytest.fixture
def root(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """Where the data lies; on a small disk of its own where that disk is to be full."""
    small = request.node.callspec.params["trouble"] == "disk"
    if small:
        if os.geteuid():
            pytest.skip("only root can mount a small disk")
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "none", str(tmp_path)], check=True)
    yield tmp_path
    if small:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)


@pytest.fixture
def docker(tmp_path_factory: pytest.TempPathFactory) -> Docker | None:
    try:
        return Docker(tmp_path_factory.mktemp("machines"))
    except MachineError:
        return None


def left(docker: Docker | None, root: Path) -> list[str]:
    """What is left of dead runners, once the engine is done with what it had begun."""
    until = time.monotonic() + 15
    while True:
        found = [str(place) for place in disks.leftovers(places.private(root) / "machines")]
        found += [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines() if f"{root}/." in line]
        found += [str(path) for path in places.spool(root).glob("*/")]
        if docker:
            for container in docker.engine.containers(all=True, filters={"label": LABEL}):
                if not alive(container["Labels"][LABEL]):
                    found.append(container["Id"])
        if not found or time.monotonic() > until:
            return found
        time.sleep(0.1)


@pytest.mark.parametrize(("kind", "step", "trouble"), CELLS)
def test_an_attempt_that_is_cut_off_is_closed_and_the_cycle_goes_on(kind, step, trouble, root, docker, tell_cell):
    if kind == "docker" and docker is None:
        pytest.skip("no container engine here")
    declare(root, "pkg:pypi/six@1.17.0", agents=["agent-a"], demonstration=True, purposes=["verdict"], sandboxes=[kind])
    write_plan(root, "first")
    first = drive(root, kind, f"{step}={trouble}")
    (root / "fill").unlink(missing_ok=True)
    assert "Traceback" not in first.err, first.err
    if trouble == "SIGKILL":
        assert first.status == -signal.SIGKILL
    elif trouble in ("SIGTERM", "SIGINT"):
        # One attempt was due: whoever stops the runner in time stops it, and never with a success.
        assert first.status in (0, 130), first
    kept = {path: digest(path.read_bytes()) for path in records.paths(root, "first")}
    second = drive(root, kind, "none=none")
    assert second.status == 0, second.err
    assert {path: digest(path.read_bytes()) for path in kept} == kept
    made = sorted(records.each(root, "first"), key=lambda record: record.attempt)
    assert len({record.job for record in made}) == len(made)
    assert made[-1].outcome == "pass_full"
    assert [record.validity for record in made[:-1]] == [Validity.INVALID] * (len(made) - 1)
    tell_cell(kind, f"{STEPS.index(step):2} {step}", trouble, str(made[0].reason or made[0].outcome))
    if trouble == "disk":
        assert made[0].reason is Reason.INFRA_DISK
    if trouble == "SIGKILL":
        # Before its folder is locked there is no attempt; when its record lies in the spool it is a finished one.
        assert made[0].reason in (Reason.INFRA_RUNNER_LOST, None)
        begun = {"stopped", "collect", "replay", "destroyed", "key-closed", "mask", "prove"}
        recording = made[0].file("terminal")
        if step in begun and made[0].reason:
            assert recording is not None
            assert b"the agent was here" in places.store(root).read(recording.digest)
    assert left(docker, root) == []
    assert [path for path in root.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()] == []
