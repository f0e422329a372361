"""A machine that is reached over the control socket of its first process, `init`: what all kinds have in common."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import threading
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from runner.sandbox import COLUMNS, PROJECT, ROWS, FileRefused, Film, MachineLost, MemoryEvent, Stopped

ANSWER_SECONDS = 60.0
CONFIGURATION_BYTES = 1 << 16


class ControlledMachine:
    """As `Machine`, without its making and its end."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = {**env}
        self._lock = threading.Lock()
        self._sessions: dict[int, ControlledSession] = {}
        self._answers: deque[tuple[dict[str, Any], list[int]]] = deque()
        self._control: socket.socket

    def exec(
        self, argv: list[str], cwd: str = PROJECT, *, harness: bool = False, env: Mapping[str, str] | None = None
    ) -> ControlledSession:
        """As `Machine.exec`."""
        variables = self._env | dict(env or {})
        request = {"op": "exec", "argv": argv, "cwd": cwd, "env": variables, "rows": ROWS, "columns": COLUMNS}
        request["harness"] = harness
        answer, handles = self._sure(self._ask(request))
        session = ControlledSession(self, answer["pid"], handles[0])
        self._sessions[answer["pid"]] = session
        return session

    def stop(self) -> Stopped:
        """As `Machine.stop`."""
        answer, _ = self._sure(self._ask({"op": "stop"}))
        films = tuple(Film(path, size) for path, size in answer["films"])
        trouble = tuple((kind, detail) for kind, detail in answer["film_trouble"])
        return Stopped(answer["peak_processes"], answer["peak_memory"], answer["disk_full"], films, trouble)

    def read(self, path: str, most: int) -> bytes | None:
        """As `Machine.read`."""
        file = self._open(path, most)
        if file is None:
            return None
        with file:
            data = file.read(most + 1)
        if len(data) > most:
            raise FileRefused(f"{path}: more than {most} bytes")
        return data

    def copy(self, path: str, target: Path, most: int) -> bool:
        """As `Machine.copy`."""
        file = self._open(path, most)
        if file is None:
            return False
        with file, target.open("wb") as kept:
            left = most
            while left and (block := file.read(min(left, 1 << 20))):
                kept.write(block)
                left -= len(block)
        return True

    def _open(self, path: str, most: int) -> IO[bytes] | None:
        answer, handles = self._ask({"op": "open", "path": path})
        if answer.get("error") in (errno.ENOENT, errno.ENOTDIR):
            return None
        if answer.get("error") in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
            self._sure((answer, handles))
        if "error" in answer:
            raise FileRefused(f"{path}: no regular file ({os.strerror(answer['error'])})")
        file = open(handles[0], "rb")  # noqa: SIM115 - for the caller to close
        if answer["bytes"] > most:
            file.close()
            raise FileRefused(f"{path}: {answer['bytes']} bytes; at most {most} are read")
        return file

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
                with contextlib.suppress(OSError):  # Closed: the machine was destroyed meanwhile.
                    self._control.settimeout(ANSWER_SECONDS)

    def _greet(self, configuration: dict[str, Any]) -> str:
        """Tells process 1 what machine it is to make; what it says is wrong, nothing where it is ready."""
        self._control.settimeout(ANSWER_SECONDS)
        try:
            self._control.sendall(json.dumps(configuration).encode())
            message, _ = self._receive()
        except (MachineLost, TimeoutError, BrokenPipeError) as error:
            return str(error)
        return "" if message.get("ready") else str(message.get("failed", message))

    def _hang_up(self, seconds: float) -> bool:
        """Ends the conversation and waits for the first process to have ended; False where it does not, in time."""
        try:
            self._control.settimeout(seconds)
            self._control.shutdown(socket.SHUT_WR)
            while self._control.recv(1 << 16):
                pass
            return True
        except ConnectionError:
            return True
        except OSError:
            return False
        finally:
            self._let_go()

    def _let_go(self) -> None:
        """Closes the socket, and with it, from the other side, the machine; and the terminals."""
        self._control.close()
        for session in self._sessions.values():
            session.close()

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


class ControlledSession:
    """As `Session`."""

    def __init__(self, machine: ControlledMachine, pid: int, terminal: int) -> None:
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
