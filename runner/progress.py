"""What a cycle shows while it runs: a live line in a terminal, plain lines elsewhere, JSON for a program."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum

from archive.errors import printable
from archive.plan import Job
from archive.record import Record
from runner.cycle import Progress


class Shown(Enum):
    """To whom."""

    PERSON = "person"
    JSON = "json"


@contextmanager
def narrator(shown: Shown) -> Iterator[Callable[[Progress], None]]:
    """A function that shows each `Progress` as it comes."""
    if shown is Shown.JSON:
        yield _json
    elif sys.stdout.isatty():
        with _live() as tell:
            yield tell
    else:
        yield lambda progress: print(_ended(progress.last), flush=True) if progress.last else None


def _json(progress: Progress) -> None:
    record = progress.last
    if record is None:
        return
    facts = {"run": record.run, "agent": record.agent, "subject": record.subject, "attempt": record.attempt}
    facts |= {"validity": record.validity, "reason": record.reason, "outcome": record.outcome}
    print(json.dumps({**facts, "done": progress.done, "waiting": progress.waiting}), flush=True)


@contextmanager
def _live() -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(highlight=False)
    began, first = time.monotonic(), -1
    with Live(console=console, refresh_per_second=4, transient=True) as live:

        def tell(progress: Progress) -> None:
            nonlocal first
            first = progress.done if first < 0 else first
            if progress.last:
                console.print(Text(_ended(progress.last)))
            made = progress.done - first
            left = progress.waiting + len(progress.running)
            rate = f", about {_minutes((time.monotonic() - began) / made * left)} left" if made >= 2 and left else ""
            head = f"{progress.done} done, {len(progress.running)} running, {progress.waiting} waiting{rate}"
            live.update(Text("\n".join([head, *("  " + _job(job) for job in progress.running)]), style="dim"))

        yield tell


def _ended(record: Record | None) -> str:
    assert record is not None
    result = record.outcome or f"{record.validity} ({record.reason})"
    seconds = (record.times.agent_ms or 0) / 1000
    line = f"{record.run[:8]}  {record.agent:16} {record.subject}  attempt {record.attempt}: {result}, {seconds:.1f} s"
    return printable(line)


def _job(job: Job) -> str:
    return f"{job.agent} on {job.subject}, attempt {job.attempt}"


def _minutes(seconds: float) -> str:
    return f"{int(seconds // 60)} min {int(seconds % 60):02d} s" if seconds >= 60 else f"{int(seconds)} s"
