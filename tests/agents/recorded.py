"""Recorded output of real programs, as an adapter gets it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runner.agents import program
from runner.agents.reading import Output, Reading

FOLDER = Path(__file__).parent / "output"


def output(name: str, exit_status: int | None = None, *sessions: bytes) -> Output:
    """What "agent/mode" left behind."""
    agent, mode = name.split("/")
    if agent == "mini-swe-agent":
        sessions = sessions or _all(f"{mode}.traj.json", agent)
    stdout, stderr = _all(f"{mode}.out", agent), _all(f"{mode}.err", agent)
    assert stdout or stderr or sessions, f"nothing recorded of {name}"
    return Output(b"".join(stdout), b"".join(stderr), sessions, exit_status)


def read(name: str, exit_status: int | None = None, *sessions: bytes) -> Reading:
    """What the adapter reads of "agent/mode"."""
    return program(name.split("/")[0]).read(output(name, exit_status, *sessions))


def text(name: str) -> bytes:
    """The bytes of one recorded file."""
    return (FOLDER / name).read_bytes()


def changed(data: bytes, change: Callable[[dict[str, Any]], Any]) -> bytes:
    """JSON Lines with `change` made to each; a line for which it gives None is left out, of a list each is a line."""
    made = []
    for line in data.splitlines():
        new = change(json.loads(line))
        made += new if isinstance(new, list) else [] if new is None else [new]
    return b"".join(json.dumps(event).encode() + b"\n" for event in made)


def sums(reading: Reading) -> tuple[int | None, ...]:
    """Uncached input, cache read, cache write, output, reasoning, calls."""
    one = reading.usage
    return (
        *(one.input_uncached_tokens, one.cache_read_tokens, one.cache_write_tokens),
        *(one.output_tokens, one.reasoning_tokens, one.calls),
    )


def _all(name: str, agent: str) -> tuple[bytes, ...]:
    path = FOLDER / agent / name
    return (path.read_bytes(),) if path.is_file() else ()
