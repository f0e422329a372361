"""What the kernel counts of this machine: its control group, and the memory of its processes."""

from __future__ import annotations

import contextlib

MEMORY = "/sys/fs/cgroup/memory/memory.", "/sys/fs/cgroup/memory."
"""Beginnings of the control group's files of memory, in the first and the second version of control groups."""
PROCESSES = "/sys/fs/cgroup/pids/pids.", "/sys/fs/cgroup/pids."


def number(beginnings: tuple[str, str], first: str, second: str) -> int:
    """A number of this machine's own control group, by its name in the two versions; 0 where it has none."""
    for beginning, name in zip(beginnings, (first, second), strict=True):
        with contextlib.suppress(OSError, ValueError):
            with open(beginning + name) as file:
                return int(file.read())
    return 0


def events(beginnings: tuple[str, str], file: str, name: str) -> int:
    """How often something happened, by the control group's own count."""
    for beginning in beginnings:
        with contextlib.suppress(OSError), open(beginning + file) as lines:
            return sum(int(line.split()[1]) for line in lines if line.split()[0] == name)
    return 0


def kills() -> int:
    """How many processes the kernel has ended because this machine was over its memory limit."""
    return events((MEMORY[0], "/nowhere"), "oom_control", "oom_kill") or events(MEMORY, "events", "oom_kill")


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
