"""Containers, disks, mounts, loop devices and folders: as many after any failure as before it."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from archive.errors import MachineError
from runner.sandbox import Mount, Spec
from runner.sandbox import disk as disks
from runner.sandbox.container import LABEL, Docker, DockerMachine
from runner.sandbox.owner import alive, me
from tests.runner.conftest import ENV, SMALL

pytestmark = pytest.mark.sandbox
CHECKOUT = Path(__file__).parents[2]


@pytest.fixture
def docker(sandboxes, tmp_path) -> Docker:
    sandboxes("docker")
    return Docker(tmp_path / "machines")


def counted(docker: Docker) -> dict[str, list[str]]:
    """Everything of ours that could be left: containers of this process and of dead ones, mounts, disks, files."""
    containers = docker.engine.containers(all=True, filters={"label": LABEL})
    mine = [one["Id"] for one in containers if one["Labels"][LABEL] == me() or not alive(one["Labels"][LABEL])]
    folder = Path(os.environ.get("TMPDIR", "/tmp"))
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    return {
        "containers": mine,
        "mounts": [place for place in mounts if place.startswith(str(docker.folder))],
        "loops": [file for file in loops() if file.startswith(str(docker.folder))],
        "files": sorted(map(str, docker.folder.rglob("*"))) if docker.folder.exists() else [],
        "meetings": sorted(map(str, folder.glob(f"argusic-{os.getpid()}-*"))),
    }


def loops() -> list[str]:
    """The file behind each loop device."""
    found = []
    for place in Path("/sys/block").glob("loop*/loop/backing_file"):
        with contextlib.suppress(OSError):  # Gone in the meantime.
            found.append(place.read_text().strip())
    return found


def networks_and_volumes(docker: Docker) -> set[str]:
    volumes = docker.engine.volumes()["Volumes"] or []
    return {one["Id"] for one in docker.engine.networks()} | {one["Name"] for one in volumes}


def settled(docker: Docker, seconds: float = 10) -> dict[str, list[str]]:
    """As `counted`, when the engine is done with what it had begun."""
    until = time.monotonic() + seconds
    while any((found := counted(docker)).values()) and time.monotonic() < until:
        time.sleep(0.1)
    return found


NOTHING: dict[str, list[str]] = {"containers": [], "mounts": [], "loops": [], "files": [], "meetings": []}


def test_twenty_forced_failures_leave_nothing(docker, monkeypatch, tmp_path):
    before = networks_and_volumes(docker)

    def refused(*_: object, **__: object) -> str:
        raise MachineError("refused")

    ways = [
        ("runner.sandbox.container.firewall.own_addresses", lambda: ["no address"], ValueError),
        ("runner.sandbox.container.DockerMachine._meet", refused, MachineError),
        ("runner.sandbox.container.DockerMachine._rules", lambda _: "nonsense", MachineError),
        ("runner.sandbox.container.disks.Disk.let_go", refused, MachineError),
    ]
    for place, broken, kind in ways * 4:
        with monkeypatch.context() as patch:
            patch.setattr(place, broken)
            with pytest.raises(kind):
                docker.start(Spec((), ENV, SMALL, "open"))
        docker.sweep()
    for spec in (
        Spec((Mount(tmp_path / "no such file", "/argusic/x"),), ENV, SMALL, "none"),
        Spec((), ENV, SMALL._replace(memory_bytes=1), "none"),
        Spec((), ENV, SMALL._replace(disk_bytes=1), "none"),
        Spec((Mount(tmp_path, "no absolute path"),), ENV, SMALL, "none"),
    ):
        with pytest.raises(MachineError):
            docker.start(spec)
    monkeypatch.undo()
    for place in disks.leftovers(docker.folder):  # Of a let_go that was made to fail.
        disks.release(place)
    assert settled(docker) == NOTHING
    assert networks_and_volumes(docker) - before == set()


def own(folder: Path) -> dict[str, set[str]]:
    """What this process could keep of a bubblewrap machine: its processes, open files, and what lies below `folder`."""
    children = Path("/proc/self/task").glob("*/children")
    mounts = (line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines())
    return {
        "processes": {pid for file in children for pid in file.read_text().split()},
        "open files": {place.name for place in Path("/proc/self/fd").iterdir()},
        "mounts": {place for place in mounts if place.startswith(str(folder))},
        "files": set(map(str, folder.iterdir())),
    }


def test_twenty_forced_failures_of_the_embedded_sandbox_leave_nothing(sandboxes, monkeypatch, tmp_path):
    embedded = sandboxes("bubblewrap")

    def refused(*_: object, **__: object) -> str:
        raise MachineError("refused")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    gc.collect()  # What earlier tests still hold goes now, not in between.
    before = own(tmp_path)
    for broken in (refused, lambda *_: "no machine"):
        for _ in range(6):
            with monkeypatch.context() as patch:
                patch.setattr("runner.sandbox.bubblewrap.BubblewrapMachine._greet", broken)
                with pytest.raises(MachineError):
                    embedded.start(Spec((), ENV, SMALL, "none"))
    for _ in range(8):
        with pytest.raises(MachineError):
            embedded.start(Spec((Mount(tmp_path / "no such file", "/argusic/x"),), ENV, SMALL, "none"))
    gc.collect()
    until = time.monotonic() + 10
    while own(tmp_path) != before and time.monotonic() < until:
        time.sleep(0.1)
    assert own(tmp_path) == before


def test_a_machine_leaves_nothing_after_its_end_and_no_name_of_its_disk_while_it_runs(docker):
    machine = docker.start(Spec((), ENV, SMALL, "none"))
    assert counted(docker)["mounts"] == counted(docker)["files"] == []
    machine.destroy()
    machine.destroy()
    assert settled(docker) == NOTHING


@pytest.mark.parametrize("step", ["create_container_from_config", "start", "mkfs", "running"])
def test_a_runner_killed_at_any_step_of_a_start_leaves_what_the_next_one_sweeps(docker, step, tmp_path):
    program = (
        "import os, signal, sys; from pathlib import Path; from runner.sandbox import Spec\n"
        "from runner.sandbox import container, disk; from runner.sandbox.container import Docker\n"
        "from tests.runner.conftest import ENV, SMALL\n"
        "docker = Docker(Path(sys.argv[1]))\n"
        "def die(*a, **k):\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        "def after(real):\n    def one(*a, **k):\n        real(*a, **k); die()\n    return one\n"
        "step = sys.argv[2]\n"
        "if step == 'mkfs': disk._run = after(disk._run)\n"
        "elif step != 'running': setattr(docker.engine, step, after(getattr(docker.engine, step)))\n"
        "docker.start(Spec((), ENV, SMALL, 'none')); die()\n"
    )
    command = [sys.executable, "-c", program, str(docker.folder), step]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    swept = docker.sweep()
    assert settled(docker) == NOTHING
    assert swept or step in ("start", "running")
    assert docker.sweep() == []


def test_a_sweep_leaves_machines_of_living_runners_and_containers_of_others_alone(docker, tmp_path):
    machine = docker.start(Spec((), ENV, SMALL, "none"))
    other = docker.engine.create_container(docker.image, ["true"], labels={"argusic.other": "1"})["Id"]
    try:
        assert docker.sweep() == []
        assert Docker(tmp_path / "elsewhere").sweep() == []
        assert machine.exec(["true"]).pid > 0
        assert docker.engine.inspect_container(other)["Id"] == other
    finally:
        docker.engine.remove_container(other)
        machine.destroy()


def test_a_process_that_has_another_ones_number_is_not_its_owner():
    boot, pid, began = me().split(".")
    assert alive(me())
    assert not alive(f"{boot}.{pid}.{int(began) + 1}")
    assert not alive(f"{'0' * 32}.{pid}.{began}")
    assert not alive(f"{boot}.99999999.1")
    for nonsense in ("", "x", "..", "a.b.c", f"{boot}.{pid}."):
        assert not alive(nonsense)


def test_an_engine_that_does_not_answer_delays_the_end_of_a_machine_by_a_bounded_time(docker, monkeypatch):
    machine = docker.start(Spec((), ENV, SMALL, "none"))
    session = machine.exec(["sleep", "1000"])
    monkeypatch.setattr(docker.remover, "timeout", 1)
    silent = _silent_socket()
    monkeypatch.setattr(docker.remover, "_url", lambda *_, **__: f"http://127.0.0.1:{silent.getsockname()[1]}/")
    began = time.monotonic()
    machine.destroy()
    assert time.monotonic() - began < 5
    monkeypatch.undo()
    assert session.pid > 0
    # Its first process saw the socket close: the engine removes it without being asked.
    assert settled(docker) == NOTHING


def _silent_socket():
    import socket

    server = socket.create_server(("127.0.0.1", 0))
    server.listen(1)
    return server


def test_machines_that_end_in_parallel_do_not_disturb_each_other(docker):
    machines: list[DockerMachine] = [docker.start(Spec((), ENV, SMALL, "none")) for _ in range(3)]
    machines[1].destroy()
    assert [machines[n].exec(["true"]).pid > 0 for n in (0, 2)] == [True, True]
    for machine in machines:
        machine.destroy()
    assert settled(docker) == NOTHING
