"""A real engine of the test's own, killed in the middle of machines, and one that remaps user namespaces.

It lives in a network of its own without any device: two engines in one would remove each other's bridge and rules.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest

from archive.errors import MachineError
from runner.sandbox import Machine, Mount, Spec
from runner.sandbox import disk as disks
from runner.sandbox.container import IMAGE, LABEL, Docker
from runner.sandbox.engine import connect
from runner.watch import Halt, run
from tests.runner.conftest import ENV, SMALL

pytestmark = [pytest.mark.soak, pytest.mark.sandbox]
REMAPPED = "dockremap"


class Engine:
    """One dockerd below a folder."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.folder = folder
        self.socket = folder / "docker.sock"
        self._command = [
            "unshare",
            "--net",
            "dockerd", f"--data-root={folder}/data", f"--exec-root={folder}/exec", f"--pidfile={folder}/pid",
            f"--host=unix://{self.socket}", "--bridge=none", "--iptables=false", "--ip6tables=false", *words,
        ]  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        # Where nobody collects the dead, the number of a dead process looks like that of a living one.
        (self.folder / "exec/containerd/containerd.pid").unlink(missing_ok=True)
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until = time.monotonic() + 60
        while time.monotonic() < until:
            with contextlib.suppress(MachineError):
                connect().close()
                return
            assert self._process.poll() is None, (self.folder / "log").read_text()[-2000:]
            time.sleep(0.2)
        raise AssertionError("the engine did not answer within a minute")

    def kill(self, how: signal.Signals = signal.SIGKILL) -> None:
        assert self._process
        self._process.send_signal(how)
        self._process.wait(60)
        if how is signal.SIGKILL:
            self._sweep(keep=b"containerd-shim")  # What holds the machines themselves lives on, as after a real crash.

    def end(self) -> None:
        if self._process and self._process.poll() is None:
            self.kill(signal.SIGTERM)
        self._sweep()
        for line in reversed(Path("/proc/mounts").read_text().splitlines()):
            if line.split()[1].startswith(f"{self.folder}/"):
                subprocess.run(["umount", "-l", line.split()[1]], check=False)

    def _sweep(self, keep: bytes = b"\0\0") -> None:
        """Ends the processes that a killed engine left behind."""
        for place in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                words = place.read_bytes()
                if str(self.folder).encode() in words and keep not in words.split(b"\0")[0]:
                    os.kill(int(place.parent.name), signal.SIGKILL)


@pytest.fixture
def engine(monkeypatch) -> Iterator[Callable[..., Engine]]:
    """Starts an engine that has the small image."""
    if os.geteuid() or not shutil.which("dockerd"):
        pytest.skip("an engine of our own needs root and dockerd")
    try:
        connect().api.inspect_image(IMAGE)
    except Exception as error:  # noqa: BLE001 - whatever is missing, the image cannot be had
        pytest.skip(f"no engine has {IMAGE}: {error}")
    # Users that an engine remaps to must be able to pass through.
    folder = Path(mkdtemp(prefix="argusic-engine-"))
    folder.chmod(0o711)
    archive = folder / "image.tar"
    with archive.open("wb") as file:
        for piece in connect().api.get_image(IMAGE):
            file.write(piece)
    made: list[Engine] = []

    def start(*words: str) -> Engine:
        one = Engine(folder, *words)
        made.append(one)
        monkeypatch.setenv("DOCKER_HOST", f"unix://{one.socket}")
        one.start()
        with archive.open("rb") as file:
            connect().images.load(file)
        return one

    yield start
    for one in made:
        one.end()
    shutil.rmtree(folder, ignore_errors=True)


def said(machine: Machine, words: str) -> str:
    _, output = run(machine.exec(["sh", "-c", words]), seconds=60, most_bytes=1 << 20, halt=Halt())
    return output.decode(errors="replace")


def owner_of(words: bytes) -> set[int]:
    """Who runs programs with these words, as this computer counts users."""
    found = set()
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if words in place.read_bytes():
                found.add(place.parent.stat().st_uid)
    return found


def left(docker: Docker) -> tuple[int, list[str], list[Path]]:
    containers = docker.engine.containers(all=True, filters={"label": LABEL})
    mounts = [one for one in Path("/proc/mounts").read_text().splitlines() if str(docker.folder) in one]
    return len(containers), mounts, disks.leftovers(docker.folder)


def test_an_engine_that_is_killed_takes_no_machine_hostage_and_leaves_nothing(engine, tmp_path, tell):
    own = engine()
    docker = Docker(tmp_path / "machines")
    machine = docker.start(Spec((), ENV, SMALL, "none"))
    assert said(machine, "echo here").strip() == "here"
    own.kill()
    # What runs does not need the engine; what is new does, and says so.
    assert said(machine, "echo still here").strip() == "still here"
    with pytest.raises(MachineError):
        docker.start(Spec((), ENV, SMALL, "none"))
    began = time.monotonic()
    machine.destroy()
    seconds = time.monotonic() - began
    assert seconds < 15
    tell(f"a machine ends {seconds:.1f} s after its engine was killed")
    own.start()
    again = Docker(tmp_path / "machines")
    until = time.monotonic() + 30
    while left(again) != (0, [], []) and time.monotonic() < until:
        again.sweep()
        time.sleep(0.5)
    assert left(again) == (0, [], [])


def test_a_machine_of_an_engine_that_remaps_users_is_like_any_other(engine, tmp_path):
    try:
        pwd.getpwnam(REMAPPED)
    except KeyError:
        pytest.skip(f"this computer has no user {REMAPPED} for user namespaces")
    engine(f"--userns-remap={REMAPPED}")
    docker = Docker(tmp_path / "machines")
    assert docker.owner_offset > 0
    (tmp_path / "task").write_text("task")
    (tmp_path / "task").chmod(0o644)
    machine = docker.start(Spec((Mount(tmp_path / "task", "/argusic/task"),), ENV, SMALL, "none"))
    assert said(machine, "id -u; cat /argusic/task; echo; echo kept > /home/agent/a; cat /home/agent/a").split() == [
        "1000", "task", "kept",
    ]  # fmt: skip
    assert owner_of(b"/argusic/door/socket") >= {docker.owner_offset}
    assert machine.stop()
    assert machine.read("/home/agent/a", 100) == b"kept\n"
    machine.destroy()
    until = time.monotonic() + 20
    while left(docker) != (0, [], []) and time.monotonic() < until:
        time.sleep(0.2)
    assert left(docker) == (0, [], [])
