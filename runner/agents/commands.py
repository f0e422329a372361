"""Commands of agents: agent explain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from archive import pools
from archive.errors import ArgusicError, DataError
from runner.agents import PROGRAMS, program, program_of
from runner.agents.explain import explained
from runner.agents.program import Program
from runner.agents.reading import Output

MOST_FILE_BYTES = 256 << 20


def agent_explain(
    ctx: typer.Context,
    adapter: Annotated[
        str, typer.Argument(help=f"A program ({', '.join(PROGRAMS)}), or an agent of pools/agents.", metavar="ADAPTER")
    ],
    stdout: Annotated[Path | None, typer.Option(help="What it printed.")] = None,
    stderr: Annotated[Path | None, typer.Option(help="What it printed as errors.")] = None,
    session: Annotated[list[Path] | None, typer.Option(help="A session file of it; can be given again.")] = None,
    exit_status: Annotated[
        int | None, typer.Option("--exit", help="Its exit status; without it, it was stopped from outside.")
    ] = None,
) -> None:
    """Say as JSON what an agent's output says: usage, commands, its end, and what follows from it."""
    chosen = _chosen(ctx.obj, adapter)
    if stdout is None and stderr is None and not session:
        raise ArgusicError("nothing to read; give at least one of --stdout, --stderr and --session")
    output = Output(
        stdout=_read(stdout), stderr=_read(stderr), sessions=tuple(map(_read, session or ())), exit=exit_status
    )
    print(json.dumps(explained(chosen.name, chosen.read(output)), indent=2))


def _chosen(root: Path, name: str) -> Program:
    if name.replace("_", "-") in PROGRAMS:
        return program(name.replace("_", "-"))
    agents = pools.agents(root)
    if name not in agents:
        raise ArgusicError(f"no adapter and no agent {name!r}; one of {', '.join([*PROGRAMS, *agents])}")
    return program_of(agents[name])


def _read(path: Path | None) -> bytes:
    """A file whole. Raises DataError where it is none, cannot be read, or is larger than an agent's output can be."""
    if path is None:
        return b""
    if not path.is_file():
        raise DataError(path, "", "no such file")
    try:
        with path.open("rb") as file:
            data = file.read(MOST_FILE_BYTES + 1)
    except OSError as error:
        raise DataError(path, "", f"cannot be read: {error.strerror}") from None
    if len(data) > MOST_FILE_BYTES:
        raise DataError(path, "", f"larger than the {MOST_FILE_BYTES >> 20} MiB that are read of one file")
    return data
