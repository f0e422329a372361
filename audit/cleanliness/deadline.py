"""How long a check may take: what runs for ever on a file made for that withholds it, and keeps nobody waiting."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from audit.cleanliness.doubt import Late

AT_LEAST, PER_MB = 120, 12
"""Seconds, in all and for each megabyte: some ten times what ordinary output takes on a slow computer."""


@contextmanager
def deadline(size: int) -> Iterator[None]:
    """Raises Late in what is inside when it has run too long for `size` bytes. Only in the main thread."""

    def late(*_: object) -> None:
        raise Late

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, AT_LEAST + PER_MB * size / 1e6)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
