"""The docker sandbox: a container whose first process is `init`, through the engine's API.

Everything writable is a disk of a stated size. The engine makes and removes the container; programs are started, ended
and read from over the control socket, so that recording costs no more than on a local terminal and the end of a
machine needs no engine. When the runner is gone the first process ends, and the engine removes the container.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import tempfile
import threading
from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import docker

from archive.errors import MachineError
from archive.record import Guarantee
from runner.sandbox import FIRST, HARNESS, HOME, SHARE_OF_HARNESS, START, Inside, Limits, Mount, Spec, firewall, images
from runner.sandbox import disk as disks
from runner.sandbox.control import ControlledMachine
from runner.sandbox.engine import connect, told
from runner.sandbox.owner import alive, me

IMAGE = "argusic/machine:slim"
LABEL = "argusic.owner"
USER = 1000
"""Who everything but the first process runs as; the number after it is the harness's own user inside."""
CONNECT_SECONDS = 30.0
END_SECONDS = 2.0
REMOVE_SECONDS = 10
_starting = threading.BoundedSemaphore(os.cpu_count() or 1)
"""Machines are started a few at a time: all at once, each of them takes as long as all of them."""
SHARED_MEMORY_BYTES = 256 << 20
"""/dev/shm, as desktop programs and browsers expect it; it counts as memory."""


class Docker:
    """Makes machines with Docker, or with Podman behind the same API."""

    name: Literal["docker"] = "docker"
    python = "/usr/bin/python3"

    def __init__(self, folder: Path, image: str = IMAGE) -> None:
        """`folder` is the runner's own, for disks; `image` a name or digest.

        Raises MachineError where no engine answers or it has no such image.
        """
        self.folder = folder
        self.engine = connect().api
        self.remover = connect(REMOVE_SECONDS).api
        try:
            with told(f"image {image}"):
                found = self.engine.inspect_image(image)
        except MachineError as error:
            if "No such image" not in str(error):
                raise
            raise MachineError(f"the engine has no image {image}; build it: argusic image build") from None
        self.image: str = found["Id"]

    def start(self, spec: Spec) -> DockerMachine:
        """As `Sandbox.start`."""
        return DockerMachine(self, spec)

    def guarantees(self) -> dict[str, Guarantee]:
        """As `Sandbox.guarantees`, found by trying, once."""
        return dict(self._probed)

    def inside(self) -> Inside:
        """As `Sandbox.inside`."""
        return self._inside

    def tools(self) -> tuple[Mount, ...]:
        """As `Sandbox.tools`: the image has them."""
        return ()

    def sweep(self) -> list[str]:
        """As `Sandbox.sweep`."""
        swept = []
        with told("leftovers could not be removed"):
            for found in self.engine.containers(all=True, filters={"label": LABEL}):
                if not alive(found["Labels"][LABEL]):
                    self.remove(found["Id"])
                    swept.append(f"container {found['Id'][:12]}")
        for place in disks.leftovers(self.folder):
            if not alive(place.name.removeprefix(disks.PREFIX).rpartition("-")[0]):
                disks.release(place)
                swept.append(f"disk {place.name}")
        return swept

    def make_room(self, keep: Collection[str]) -> list[str]:
        """As `Sandbox.make_room`."""
        return images.prune(self.engine, {self.image, *keep})

    def remove(self, container: str) -> None:
        """Removes a container and its processes; one that is gone, or going, is fine."""
        with contextlib.suppress(docker.errors.NotFound):
            try:
                self.remover.remove_container(container, v=True, force=True)
            except docker.errors.APIError as error:
                if error.status_code != 409:  # Its removal is under way.
                    raise

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What the engine says of itself."""
        with told("the container engine does not tell about itself"):
            return dict(self.engine.info())

    @cached_property
    def owner_offset(self) -> int:
        """What the engine adds to a user's number: more than 0 where it remaps user namespaces."""
        last = str(self.settings.get("DockerRootDir", "")).rpartition("/")[2]
        user, dot, group = last.partition(".")
        return int(user) if dot and user.isdigit() and group.isdigit() else 0

    @cached_property
    def _probed(self) -> dict[str, Guarantee]:
        from runner.sandbox.probe import SMALL, probe

        found = probe(self, SMALL)
        if found["memory_bytes"] == "enforced" and not disks.available():
            # The kernel holds memory and disk together; in so small a machine that looks like the same.
            found["memory_bytes"] = "watched"
        if self.settings["NCPU"] < Limits().cpus:
            found["cpus"] = "absent"  # This computer has fewer than every attempt is to have.
        return found

    @cached_property
    def _inside(self) -> Inside:
        from runner.sandbox.probe import look_inside

        return look_inside(self)


class DockerMachine(ControlledMachine):
    """As `Machine`."""

    def __init__(self, sandbox: Docker, spec: Spec) -> None:
        super().__init__(spec.env)
        self._sandbox, self._container = sandbox, ""
        with _starting:
            self._start(spec)

    def _start(self, spec: Spec) -> None:
        sandbox = self._sandbox
        with contextlib.ExitStack() as on_failure:
            with contextlib.ExitStack() as until_started:
                listener, door = until_started.enter_context(_door())
                disk = None
                if disks.available():
                    disk = disks.Disk(sandbox.folder, spec.limits.disk_bytes, USER + sandbox.owner_offset, me())
                    until_started.callback(disk.let_go)
                with told("a machine could not be made"):
                    self._container = sandbox.engine.create_container_from_config(
                        _config(sandbox, spec, door, disk), None
                    )["Id"]
                    on_failure.callback(self.destroy)
                    sandbox.engine.start(self._container)
                self._control = self._meet(listener)
                configuration: dict[str, Any] = {"limits": spec.limits._asdict(), "user": USER}
                if spec.network == "open":
                    configuration["firewall"] = self._rules()
                if said := self._greet(configuration):
                    raise MachineError(f"a machine could not be started: {said}")
            on_failure.pop_all()

    def destroy(self) -> None:
        """As `Machine.destroy`: the first process ends everything because its socket closes; then it is itself gone.

        The engine sees that and removes the container, which this does not wait for. Where the first process does not
        answer, the engine is asked to end the machine.
        """
        if not self._container:
            return
        container, self._container = self._container, ""
        if hasattr(self, "_control") and self._hang_up(END_SECONDS):
            return
        # Whatever the engine does not do now is found by the next sweep; the processes are gone already.
        with contextlib.suppress(MachineError), told("a machine could not be removed"):
            self._sandbox.remove(container)

    def _meet(self, listener: socket.socket) -> socket.socket:
        try:
            control, _ = listener.accept()
        except TimeoutError:
            with told("a machine did not start"):
                state = self._sandbox.engine.inspect_container(self._container)["State"]
            raise MachineError(
                f"a machine did not start within {CONNECT_SECONDS:.0f} s ({state['Status']}, exit {state['ExitCode']} "
                f"{state.get('Error', '')}); does the engine run on this computer, and is the image one of argusic?"
            ) from None
        return control

    def _rules(self) -> str:
        """Rules for the network of this machine, with the name servers that the engine gave it."""
        with told("a machine does not tell about itself"):
            found = self._sandbox.engine.inspect_container(self._container)
        try:
            resolver = Path(found["ResolvConfPath"]).read_text()
        except OSError:  # Only root may look into the engine's folders.
            resolver = Path("/etc/resolv.conf").read_text()
        return firewall.rules(firewall.name_servers(resolver), firewall.own_addresses())


@contextlib.contextmanager
def _door() -> Iterator[tuple[socket.socket, Path]]:
    """A socket at which the first process calls, in a folder that the machine sees; nothing is there afterwards."""
    folder = Path(tempfile.mkdtemp(prefix=f"argusic-{os.getpid()}-"))
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
            # The outer folder keeps other users of this computer away; the inner one is open to the machine's.
            door = folder / "door"
            door.mkdir()
            door.chmod(0o755)
            listener.bind(str(door / "socket"))
            (door / "socket").chmod(0o666)
            listener.listen(1)
            listener.settimeout(CONNECT_SECONDS)
            yield listener, door
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _config(sandbox: Docker, spec: Spec, door: Path, disk: disks.Disk | None) -> dict[str, Any]:
    """The container, as the engine's API takes it."""
    limits = spec.limits
    mounts = [_bind(mount.source.resolve(), mount.target) for mount in spec.mounts]
    mounts += [_bind(FIRST, "/argusic/first"), _bind(door, "/argusic/door")]
    memory = {"/run": "size=16m,mode=755"}
    if disk:
        mounts += [_bind(disk.home, HOME, writable=True), _bind(disk.tmp, "/tmp", writable=True)]
        mounts += [_bind(disk.harness, HARNESS, writable=True)]
    else:
        tmp, harness = limits.disk_bytes // 4, limits.disk_bytes // SHARE_OF_HARNESS
        memory[HOME] = f"size={limits.disk_bytes - tmp - harness},mode=755,uid={USER},gid={USER},exec"
        memory[HARNESS] = f"size={harness},mode=755,uid={USER + 1},gid={USER + 1}"
        memory["/tmp"] = f"size={tmp},mode=1777,exec"
    # A disk in memory counts as memory: then the first process watches the limit, and the kernel holds the sum.
    held = limits.memory_bytes + (0 if disk else limits.disk_bytes)
    host = {
        "Mounts": mounts,
        "Tmpfs": memory,
        "AutoRemove": True,
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        # Of the first process alone: to become the user, to end it, and, until anything runs, to close the network.
        "CapAdd": ["KILL", "SETGID", "SETUID", *(["NET_ADMIN"] if spec.network == "open" else [])],
        "SecurityOpt": ["no-new-privileges"],
        "IpcMode": "private",
        "ShmSize": SHARED_MEMORY_BYTES,
        "LogConfig": {"Type": "none"},
        "NetworkMode": "bridge" if spec.network == "open" else "none",
        "Memory": held,
        "MemorySwap": held,
        "PidsLimit": limits.processes,
        "NanoCpus": min(limits.cpus, sandbox.settings["NCPU"]) * 10**9,
        "RestartPolicy": {"Name": "no"},
    }
    return {
        "Image": sandbox.image,
        "Entrypoint": [sandbox.python, *START],
        "Cmd": ["/argusic/door/socket"],
        "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
        "User": "0:0",
        "WorkingDir": "/",
        "Hostname": "argusic",
        "Labels": {LABEL: me()},
        "HostConfig": host,
    }


def _bind(source: Path, target: str, writable: bool = False) -> dict[str, Any]:
    return {"Type": "bind", "Source": str(source), "Target": target, "ReadOnly": not writable}
