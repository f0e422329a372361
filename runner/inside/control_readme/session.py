"""The terminal session: a command is echoed, run by `sh -c`, streamed as it comes, bounded in time and logged."""

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

KEPT_BYTES = 65_536
TIMED_OUT = 124
_DRAIN_SECONDS = 0.5


@dataclass(frozen=True)
class Result:
    """What a command did.

    `printed` is the first 64 KiB of its standard output, `tail` the last 64 KiB of all its output, `complained` whether
    it wrote to standard error.
    """

    command: str
    exit: int
    printed: bytes
    tail: str
    complained: bool

    @property
    def passed(self) -> bool:
        return self.exit == 0


class Session:
    """Runs commands in the project folder until the deadline, and keeps the session log beside the home folder."""

    def __init__(self, project: Path, log: Path, budget_seconds: float) -> None:
        self._start = time.monotonic()
        self._project = project
        self._log = log
        self._budget_seconds = budget_seconds
        self._environment = os.environ | {
            "PATH": os.pathsep.join(
                [f"{project}/.venv/bin", f"{project}/node_modules/.bin", os.environ.get("PATH", os.defpath)]
            ),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PIP_NO_INPUT": "1",
            "PYTHONUNBUFFERED": "1",
            "NPM_CONFIG_YES": "true",
            "NPM_CONFIG_FUND": "false",
            "NPM_CONFIG_AUDIT": "false",
            "NPM_CONFIG_UPDATE_NOTIFIER": "false",
        }

    @property
    def seconds(self) -> float:
        """Since the agent's start, by a clock that is never set."""
        return time.monotonic() - self._start

    @property
    def left_seconds(self) -> float:
        return self._budget_seconds - self.seconds

    def run(self, command: str, limit_seconds: float) -> Result:
        """One command, its standard input empty. At the limit its whole process group is killed: exit 124."""
        at_ms = int(self.seconds * 1000)
        self.say(f"$ {command}")
        process = subprocess.Popen(
            ["sh", "-c", command],
            cwd=self._project,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        limit = min(limit_seconds, max(self.left_seconds, 1))
        printed, tail, total, complained, ended = _stream(process, time.monotonic() + limit)
        _kill(process)
        code = _as_a_shell_says(process.wait()) if ended else TIMED_OUT
        if not ended:
            tail += f"\ntimed out: it did not end within {limit:.0f} seconds".encode()
            self.say(f"timed out: it did not end within {limit:.0f} seconds")
        line = {"at_ms": at_ms, "command": command, "exit": code, "output_bytes": total}
        with self._log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(line) + "\n")
        return Result(command, code, printed, tail.decode("utf-8", errors="replace"), complained)

    def say(self, text: str) -> None:
        """One line of the agent's own on the terminal."""
        sys.stdout.buffer.write(text.encode("utf-8", errors="replace") + b"\n")
        sys.stdout.buffer.flush()


def _as_a_shell_says(code: int) -> int:
    """128 and the signal's number for a command that a signal ended."""
    return code if code >= 0 else 128 - code


def _stream(process: subprocess.Popen[bytes], deadline: float) -> tuple[bytes, bytes, int, bool, bool]:
    """Pass output on as it comes: what `Result` keeps, the bytes in all, and last whether the command ended by itself.

    A daemon that keeps the pipes open does not hold the session: after the command's own end they get half a second.
    """
    printed, tail, total, complained, ended_at = b"", b"", 0, False, 0.0
    with selectors.DefaultSelector() as ready:
        for stream in (process.stdout, process.stderr):
            ready.register(cast(IO[bytes], stream), selectors.EVENT_READ)
        while ready.get_map():
            now = time.monotonic()
            if process.poll() is not None:
                ended_at = ended_at or now
                if now > ended_at + _DRAIN_SECONDS:
                    break
            if now >= deadline:
                break
            for key, _ in ready.select(timeout=0.1):
                chunk = os.read(key.fd, 65_536)
                if not chunk:
                    ready.unregister(key.fileobj)
                    continue
                sys.stdout.buffer.write(chunk)
                sys.stdout.buffer.flush()
                total += len(chunk)
                tail = (tail + chunk)[-KEPT_BYTES:]
                complained |= key.fileobj is process.stderr
                if key.fileobj is process.stdout and len(printed) < KEPT_BYTES:
                    printed = (printed + chunk)[:KEPT_BYTES]
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    return printed, tail, total, complained, process.poll() is not None


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End whatever is left of the command's process group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdout, process.stderr):
        cast(IO[bytes], stream).close()
    process.wait()
