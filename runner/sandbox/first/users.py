"""How a child of the first process becomes an ordinary program of a user."""

from __future__ import annotations

import os
import signal


def ordinary_signals() -> None:
    """What a program expects, in place of what process 1 does with signals."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)


def leave_for(user: int) -> None:
    """Becomes a user of the machine, for good."""
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
