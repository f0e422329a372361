"""Starts a real program as its adapter says, and gathers what it left."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from runner.agents import program
from runner.agents.program import Setting
from runner.agents.reading import Output, Reading

PLACE = Path("/var/tmp")
"""Homes are below it: codex makes no helper programs for a home below /tmp."""
PROMPT = "Install the project and verify it."


class Left(NamedTuple):
    """What a program left."""

    output: Output
    reading: Reading
    work: Path
    """The folder in which it worked."""


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A folder in which programs may have their homes; it is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="argusic-test-", dir=PLACE, ignore_cleanup_errors=True) as made:
        yield Path(made)


def run(
    name: str,
    start_folder: Path,
    endpoint: str,
    key: str,
    place: Path,
    *,
    seconds: float,
    more: Mapping[str, str] | None = None,
) -> Left:
    """Runs program `name` until its end, or until `seconds` are over: then it is killed and its exit status unknown.

    `place` is a fresh folder for its home and its work. Its variables are those of its adapter, PATH, its key and
    `more`. Everything that it left running is killed.
    """
    chosen = program(name)
    home, work = place / "home", place / "work"
    home.mkdir(parents=True)
    work.mkdir()
    start = chosen.start(Setting(str(home), endpoint, "mock-1", PROMPT))
    for path, text in start.files.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)
    path_of_programs = f"{start_folder}:{os.defpath}"
    environment = start.environment | {"PATH": path_of_programs} | dict(more or {})
    if chosen.key_variable:
        environment[chosen.key_variable] = key
    with (place / "stdout").open("wb") as stdout, (place / "stderr").open("wb") as stderr:
        process = subprocess.Popen(
            [str(start_folder / start.argv[0]), *start.argv[1:]],
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        ended: int | None = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            ended = process.wait(seconds)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    sessions = {found for pattern in chosen.session_files for found in home.glob(pattern) if found.is_file()}
    output = Output(
        (place / "stdout").read_bytes(),
        (place / "stderr").read_bytes(),
        tuple(path.read_bytes() for path in sorted(sessions)),
        ended,
    )
    return Left(output, chosen.read(output), work)
