"""The first process of a disposable machine: starts programs on terminals, ends them all, hands files out.

Runs inside, as process 1, on the standard library alone. It answers one request at a time on a socket that it shares
with the runner and that no other process of the machine holds; terminals and files go out as descriptors, so the
runner never follows a path that something in the machine could have bent. When the runner is gone, so is the machine.
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
import sys
import termios
import time
from typing import Any

PR_SET_DUMPABLE = 4
WATCH_SECONDS = 0.25


class Init:
    """State of the machine as its first process sees it."""

    def __init__(self, control: socket.socket, limits: dict[str, int]) -> None:
        self.control, self.limits = control, limits
        self.mains: set[int] = set()
        self.peak_processes = 0
        self.peak_memory = 0
        self.disk_full = False

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
                (resource.RLIMIT_NPROC, self.limits["processes"]),
            ):
                hard = resource.getrlimit(name)[1]
                value = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
                resource.setrlimit(name, (value, value))
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            os.chdir(request["cwd"])
            os.execvpe(request["argv"][0], request["argv"], request["env"])
        except OSError as error:
            os.write(2, f"{request['argv'][0]}: {error.strerror}\n".encode())
        finally:
            os._exit(127)

    def stop(self, request: dict[str, Any]) -> None:
        """Ends every process of the machine but this one; a process that ignores signals cannot ignore this one."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        while True:
            try:
                pid, status = os.waitpid(-1, 0)
            except ChildProcessError:
                break
            self.ended(pid, status)
        self.look_at_disk()
        facts = {"peak_processes": self.peak_processes, "peak_memory": self.peak_memory, "disk_full": self.disk_full}
        self.send({"stopped": True, **facts})

    def open(self, request: dict[str, Any]) -> None:
        """Hands a regular file out, whatever stands at its path being unable to make this process wait."""
        handle = os.open(request["path"], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                self.send({"error": errno.EISDIR if stat.S_ISDIR(found.st_mode) else errno.EINVAL})
                return
            self.send({"bytes": found.st_size}, handle)
        finally:
            os.close(handle)

    def reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            self.ended(pid, status)

    def ended(self, pid: int, status: int) -> None:
        if pid in self.mains:
            self.mains.remove(pid)
            self.send({"exit": pid, "status": os.waitstatus_to_exitcode(status)})

    def look_at_disk(self) -> None:
        for folder in ("/home/agent", "/tmp"):
            self.disk_full = self.disk_full or os.statvfs(folder).f_bavail == 0

    def watch(self) -> None:
        """Adds up what the processes hold; over the limit, ends the largest one as a kernel out of memory would."""
        held: dict[int, int] = {}
        for name in os.listdir("/proc"):  # noqa: PTH208 - quicker, and done four times a second
            if name.isdigit() and name != "1":
                held[int(name)] = memory_bytes(name, "status", (b"RssAnon:", b"RssShmem:"))
        total = sum(held.values())
        self.peak_processes = max(self.peak_processes, len(held))
        self.look_at_disk()
        if total > self.limits["memory_bytes"]:
            # Pages that several processes share were counted for each of them: now exactly, which takes longer.
            held = {pid: memory_bytes(str(pid), "smaps_rollup", (b"Pss_Anon:", b"Pss_Shmem:")) for pid in held}
            total = sum(held.values())
        self.peak_memory = max(self.peak_memory, total)
        if held and total > self.limits["memory_bytes"]:
            largest = max(held, key=lambda pid: held[pid])
            with contextlib.suppress(ProcessLookupError):
                os.kill(largest, signal.SIGKILL)
            self.send({"memory": total, "pid": largest, "main": largest in self.mains})


def memory_bytes(pid: str, file: str, fields: tuple[bytes, ...]) -> int:
    """The sum of `fields` in a file of /proc; 0 where the process has just ended. Names in it may be any bytes."""
    total = 0
    try:
        with open(f"/proc/{pid}/{file}", "rb") as lines:
            for line in lines:
                if line.startswith(fields):
                    total += int(line.split()[1]) * 1024
    except OSError:
        pass
    return total


def main() -> None:
    # Process 1 cannot be killed from inside, unless it handles the signal: Python handles this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o022)
    # Where the whole computer runs out of memory, the kernel is to end something in here and not the runner.
    with open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")
    # Nothing in the machine may trace this process or read its memory.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    Init(control, json.loads(sys.argv[2])).serve()


if __name__ == "__main__":
    main()
