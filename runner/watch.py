"""Following a program to its end: its terminal into a recorder, and the limits that may end it first."""

from __future__ import annotations

import errno
import os
import select
import time
from typing import TYPE_CHECKING, NamedTuple, Protocol

from runner.sandbox import MachineLost, Session

if TYPE_CHECKING:
    from archive.reasons import Reason
    from archive.record import EndedBy

READ_BYTES = 4096
"""As much as the kernel hands out of a terminal at once; room for more would be set aside and given back each time."""
FULL_BYTES = READ_BYTES - 1
"""What a read brings while more is waiting; after less there is mostly nothing, and asking is not free."""
READS = 256
TICK_SECONDS = 0.05
SYNC_SECONDS = 1.0


class Sink(Protocol):
    """Takes bytes of a terminal."""

    @property
    def size(self) -> int:
        """Bytes that it keeps so far."""

    def feed(self, data: bytes) -> None:
        """What one read brought."""

    def sync(self) -> None:
        """Called once a second: lets what came so far survive the end of this process."""


class Halt:
    """A wish, from outside, that attempts end: set once, by a signal or a deadline for all, or for one of them."""

    def __init__(self, of_all: Halt | None = None) -> None:
        """With `of_all`: for one attempt, which that wish ends too."""
        self._of_all = of_all
        self._said: tuple[Reason, str] | None = None

    @property
    def reason(self) -> Reason | None:
        """Why attempts are to end; None while they are not."""
        return self._wish[0] if self._wish else None

    @property
    def detail(self) -> str:
        """The reason in words."""
        return self._wish[1] if self._wish else ""

    @property
    def _wish(self) -> tuple[Reason, str] | None:
        return self._said or (self._of_all._wish if self._of_all else None)

    def now(self, reason: Reason, detail: str) -> None:
        """Ends attempts for `reason`; the first one wins."""
        self._said = self._said or (reason, detail)


class Ended(NamedTuple):
    """How the program's work ended."""

    by: EndedBy
    exit: int | None
    """Exit status where it ended by itself or was killed for memory; negative: a signal."""
    ms: int
    """Milliseconds it had, by a monotonic clock."""


def watch(session: Session, sink: Sink, *, seconds: float, most_bytes: int, halt: Halt) -> Ended:
    """Records until the program ends, its time is over, it wrote `most_bytes`, or `halt` is set.

    Nothing else ends it: a silent program is not a hanging one (MEASUREMENT §5). The program itself decides its end: a
    background process that holds the terminal does not prolong it. Ending the other processes is the caller's part.
    """
    began = time.monotonic()
    os.set_blocking(session.fileno(), False)
    poller = select.poll()
    poller.register(session.fileno(), select.POLLIN)
    open_terminal = True
    closed = 0.0
    synced = asked = began

    def ended(by: EndedBy, status: int | None) -> Ended:
        return Ended(by, status, int((time.monotonic() - began) * 1000))

    while True:
        if open_terminal:
            if poller.poll(TICK_SECONDS * 1000):
                open_terminal = take(session.fileno(), sink)
                if not open_terminal:
                    closed = time.monotonic()
        else:
            # Mostly the exit status follows at once. A program that let its terminal go may run on for long, and
            # something may open the terminal again.
            time.sleep(0.001 if time.monotonic() - closed < TICK_SECONDS else TICK_SECONDS)
            open_terminal = take(session.fileno(), sink)
        now = time.monotonic()
        # Asking costs more than reading a line. A program's end mostly ends its terminal too, which is seen at once.
        if not open_terminal or now - asked >= TICK_SECONDS:
            asked = now
            status = session.poll()
            if status is not None:
                killed = any(event.main for event in session.memory_events)
                return ended("memory-limit" if killed else "agent", status)
        if now - began >= seconds:
            return ended("budget", None)
        if sink.size >= most_bytes:
            return ended("output-ceiling", None)
        if now - synced >= SYNC_SECONDS:
            sink.sync()
            synced = now
        if halt.reason is not None:
            return ended("harness", None)


def drain(session: Session, sink: Sink, seconds: float = 5.0) -> None:
    """Records what is left in the terminal after every process has ended."""
    until = time.monotonic() + seconds
    poller = select.poll()
    poller.register(session.fileno(), select.POLLIN)
    while time.monotonic() < until and poller.poll(TICK_SECONDS * 1000):
        if not take(session.fileno(), sink):
            return


def take(handle: int, sink: Sink) -> bool:
    """Feeds what waits at a non-blocking terminal, read by read, a number of reads at most; False at its end.

    Not gathered first: while one read is recorded the kernel makes the next one ready, which nearly doubles the speed.
    """
    for _ in range(READS):
        try:
            data = os.read(handle, READ_BYTES)
        except BlockingIOError:
            return True
        except OSError as error:
            if error.errno == errno.EIO:
                return False
            raise MachineLost(f"the terminal is gone ({error.strerror})") from None
        if not data:
            return False
        sink.feed(data)
        if len(data) < FULL_BYTES:
            return True
    return True


def run(session: Session, *, seconds: float, most_bytes: int, halt: Halt | None = None) -> tuple[Ended, bytes]:
    """A short command of the harness: followed to its end, its output kept in memory."""
    sink = Memory()
    ended = watch(session, sink, seconds=seconds, most_bytes=most_bytes, halt=halt or Halt())
    if ended.by == "agent":
        drain(session, sink, 0.2)
    return ended, sink.data[:most_bytes]


class Memory:
    """A sink that keeps everything: for short output."""

    def __init__(self) -> None:
        self.data = b""

    @property
    def size(self) -> int:
        return len(self.data)

    def feed(self, data: bytes) -> None:
        self.data += data

    def sync(self) -> None:
        pass
