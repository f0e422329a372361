"""The first process of a disposable machine: starts programs on terminals, ends them all, hands files out.

Runs inside, as process 1, on the standard library alone. It answers one request at a time on a socket that it shares
with the runner and that no other process of the machine holds; terminals and files go out as descriptors, so the
runner never follows a path that something in the machine could have bent. When the runner is gone, so is the machine.

Where the machine is a container, process 1 is its root and everything else its user: nothing inside can signal, trace
or change it. There it also closes the network, before anything runs, and gives the right to do so away.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import pty
import resource
import select
import signal
import socket
import stat
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from typing import Any

from .film import FILM_END_SECONDS, Film
from .group import MEMORY, PROCESSES, events, kills, memory_bytes, number
from .network import close_network
from .users import leave_for, ordinary_signals

PR_SET_DUMPABLE = 4
WATCH_SECONDS = 0.25
DYING_SECONDS = 2.0
"""How long a process that was ended for its memory may take to give it back."""
ALMOST_FULL_BYTES = 64 << 10


class Init:
    """State of the machine as its first process sees it."""

    def __init__(self, control: socket.socket, limits: dict[str, int], user: int | None) -> None:
        self.control, self.limits, self.user = control, limits, user
        self.kernel_holds_memory = 0 < number(MEMORY, "limit_in_bytes", "max") <= limits["memory_bytes"]
        self.killed = kills()
        self.unexplained = 0.0
        """When the kernel's count of ended processes last grew; which one it was shows only when it has died."""
        self.mains: set[int] = set()
        self.peak_processes = 0
        self.peak_memory = 0
        self.disk_full = False
        self.film = Film(None if user is None else user + 1)

    def serve(self) -> None:
        """Answers until the runner closes its end."""
        wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake_write)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self.send({"ready": True})
        watched = time.monotonic()
        while True:
            ready, _, _ = select.select([self.control.fileno(), wake_read], [], [], WATCH_SECONDS)
            if wake_read in ready:
                os.read(wake_read, 4096)
            self.reap()
            if time.monotonic() - watched >= WATCH_SECONDS:
                self.watch()
                watched = time.monotonic()
            if self.control.fileno() in ready:
                message = self.control.recv(1 << 20)
                if not message:
                    return
                self.answer(json.loads(message))

    def send(self, message: dict[str, Any], *handles: int) -> None:
        socket.send_fds(self.control, [json.dumps(message).encode()], handles)

    def answer(self, request: dict[str, Any]) -> None:
        try:
            {"exec": self.run, "stop": self.stop, "open": self.open}[request["op"]](request)
        except OSError as error:
            self.send({"error": error.errno or errno.EIO})

    def run(self, request: dict[str, Any]) -> None:
        """Starts a program as leader of a session on a terminal of its own and hands the terminal out."""
        with self.as_user():  # The terminal's owner.
            master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", request["rows"], request["columns"], 0, 0))
        pid = os.fork()
        if not pid:
            self.become(slave, request)
        os.close(slave)
        self.mains.add(pid)
        self.send({"pid": pid}, master)
        os.close(master)

    def become(self, slave: int, request: dict[str, Any]) -> None:
        """Turns the forked child into the program; never returns."""
        try:
            os.setsid()
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
            for handle in (0, 1, 2):
                os.dup2(slave, handle)
            os.closerange(3, 1024)
            for name, limit in (
                (resource.RLIMIT_CORE, 0),
                (resource.RLIMIT_NOFILE, self.limits["open_files"]),
                # In a container the control group counts; this limit would count the user's processes in all of them.
                *([(resource.RLIMIT_NPROC, self.limits["processes"])] if self.user is None else []),
            ):
                hard = resource.getrlimit(name)[1]
                value = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
                resource.setrlimit(name, (value, value))
            ordinary_signals()
            # Where memory runs out, the kernel is to end something in here: not the runner, and not process 1. A
            # process may write this file only where its memory may be looked at; nothing secret is left in it.
            ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
            with open("/proc/self/oom_score_adj", "w") as score:
                score.write("1000")
            if self.user is not None:
                leave_for(self.user + 1 if request["harness"] else self.user)
            os.chdir(request["cwd"])
            os.execvpe(request["argv"][0], request["argv"], request["env"])
        except OSError as error:
            os.write(2, f"{request['argv'][0]}: {error.strerror}\n".encode())
        finally:
            os._exit(127)

    def stop(self, request: dict[str, Any]) -> None:
        """Ends every process of the machine but this one; a process that ignores signals cannot ignore this one."""
        if self.user is not None:
            # First whatever the agent started; the film of what it did may then still be written to its end.
            with self.as_user(), contextlib.suppress(ProcessLookupError):
                os.kill(-1, signal.SIGKILL)
        self.film.finish()
        until = time.monotonic() + FILM_END_SECONDS
        while self.film.pid and time.monotonic() < until:
            self.reap()
            time.sleep(0.01)
        self.reap()
        self.explain(0)
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        while True:
            try:
                pid, status = os.waitpid(-1, 0)
            except ChildProcessError:
                break
            self.ended(pid, status)
        self.look_at_disk()
        if events(PROCESSES, "events", "max"):
            self.peak_processes = self.limits["processes"]
        self.peak_memory = max(self.peak_memory, number(MEMORY, "max_usage_in_bytes", "peak"))
        facts = {"peak_processes": self.peak_processes, "peak_memory": self.peak_memory, "disk_full": self.disk_full}
        self.send({"stopped": True, **facts, "films": self.film.made(), "film_trouble": self.film.trouble})

    def open(self, request: dict[str, Any]) -> None:
        """Hands a regular file out, whatever stands at its path being unable to make this process wait."""
        with self.as_user():
            handle = os.open(request["path"], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                self.send({"error": errno.EISDIR if stat.S_ISDIR(found.st_mode) else errno.EINVAL})
                return
            self.send({"bytes": found.st_size}, handle)
        finally:
            os.close(handle)

    @contextlib.contextmanager
    def as_user(self) -> Iterator[None]:
        """Opens things as the machine's user would, whose saved user this process is not: it stays out of reach."""
        if self.user is None:
            yield
            return
        os.setegid(self.user)
        os.seteuid(self.user)
        try:
            yield
        finally:
            os.seteuid(0)
            os.setegid(0)

    def reap(self) -> None:
        ended: list[tuple[int, int]] = []
        with contextlib.suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                ended.append(found)
        if (killed := kills()) > self.killed:
            self.killed, self.unexplained = killed, time.monotonic()
        for pid, status in ended:
            self.ended(pid, status)
        if self.unexplained and time.monotonic() - self.unexplained > DYING_SECONDS:
            self.explain(0)

    def explain(self, pid: int) -> None:
        """Tells that the kernel ended `pid` for its memory, or, with 0, some process that is no program of ours."""
        if self.unexplained:
            self.unexplained = 0.0
            self.send({"memory": number(MEMORY, "max_usage_in_bytes", "max"), "pid": pid})

    def ended(self, pid: int, status: int) -> None:
        self.film.ended(pid)
        if pid in self.mains:
            self.mains.remove(pid)
            self.explain(pid if os.waitstatus_to_exitcode(status) == -signal.SIGKILL else 0)
            self.send({"exit": pid, "status": os.waitstatus_to_exitcode(status)})

    def look_at_disk(self) -> None:
        for folder in ("/home/agent", "/tmp"):
            disk = os.statvfs(folder)
            # A file system may keep some last blocks to itself; it is also full when it can hold no more files.
            full = disk.f_bavail * disk.f_frsize < ALMOST_FULL_BYTES or (disk.f_files and not disk.f_favail)
            self.disk_full = self.disk_full or bool(full)

    def watch(self) -> None:
        """Adds up what the processes hold; over the limit, ends the largest one as a kernel out of memory would."""
        held: dict[int, int] = {}
        for name in os.listdir("/proc"):  # noqa: PTH208 - quicker, and done four times a second
            if name.isdigit() and int(name) not in (1, self.film.pid):
                held[int(name)] = memory_bytes(name, "status", (b"RssAnon:", b"RssShmem:"))
        total = sum(held.values())
        self.peak_processes = max(self.peak_processes, len(held))
        self.look_at_disk()
        self.film.watch()
        if self.kernel_holds_memory:
            return
        if total > self.limits["memory_bytes"]:
            # Pages that several processes share were counted for each of them: now exactly, which takes longer.
            with self.as_user():
                held = {pid: memory_bytes(str(pid), "smaps_rollup", (b"Pss_Anon:", b"Pss_Shmem:")) for pid in held}
            total = sum(held.values())
        self.peak_memory = max(self.peak_memory, total)
        if held and total > self.limits["memory_bytes"]:
            largest = max(held, key=lambda pid: held[pid])
            with contextlib.suppress(ProcessLookupError):
                os.kill(largest, signal.SIGKILL)
            self.send({"memory": total, "pid": largest})


def main() -> None:
    # Process 1 cannot be killed from inside, unless it handles the signal: Python handles this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o022)
    # Nothing in the machine may trace this process or read its memory.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    if sys.argv[1].isdigit():
        control = socket.socket(fileno=int(sys.argv[1]))
        control.set_inheritable(False)
    else:
        control = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        control.connect(sys.argv[1])
    wanted = json.loads(control.recv(1 << 16))
    init = Init(control, wanted["limits"], wanted.get("user"))
    try:
        if "firewall" in wanted:
            close_network(wanted["firewall"])
        if init.user is not None:
            with init.as_user(), contextlib.suppress(FileExistsError):
                os.mkdir("/home/agent/project")  # noqa: PTH102
    except (OSError, subprocess.TimeoutExpired) as error:
        init.send({"failed": str(error)})
        return
    init.serve()
    # The runner is gone, or done with this machine.
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
