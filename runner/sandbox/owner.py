"""Who made a thing that may outlive its maker: a process, named so that a later one with its number is another."""

from __future__ import annotations

import os
from pathlib import Path


def me() -> str:
    """This process."""
    return f"{_boot()}.{os.getpid()}.{_began(os.getpid())}"


def alive(owner: str) -> bool:
    """Whether the process that `me()` once named still runs."""
    boot, _, rest = owner.partition(".")
    pid, _, began = rest.partition(".")
    return boot == _boot() and pid.isdigit() and _began(int(pid)) == began != ""


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().replace("-", "").strip()


def _began(pid: int) -> str:
    """When a process began, in ticks since the computer did; nothing where there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""
