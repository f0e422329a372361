"""What the tests of scoring share: the repository's own editions, and small makers of attempts, sets and pipes."""

from __future__ import annotations

import json
import os
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
from hypothesis import settings
from typer.testing import CliRunner

from archive import pools
from archive.reasons import Outcome, Reason, Validity
from scoring import commands
from scoring.attempted import Attempted
from scoring.sets import MeasuredSet

ROOT = Path(__file__).resolve().parents[2]

# The same examples on every run and every machine.
settings.register_profile("scoring", derandomize=True, deadline=None, database=None, max_examples=60)
settings.load_profile("scoring")


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def editions():
    return pools.editions(ROOT)


@pytest.fixture(scope="session")
def edition(editions):
    return editions["1.5"]


@pytest.fixture(scope="session")
def attempt():
    """Makes an Attempted; a score or an outcome makes it valid, a reason makes it invalid."""

    def make(agent="a", subject="p", number=1, score: Any = None, outcome="fail", reason=None, **changes):
        valid = reason is None
        validity = Validity.VALID if valid else Validity.INVALID
        if reason == "evidence:not-proven-clean":
            validity = Validity.WITHHELD
        made = Attempted(
            run=f"{agent}-{subject}-{number}",
            cycle="one",
            purpose="board",
            agent=agent,
            subject=subject,
            source_type="package",
            attempt=number,
            edition="1.5",
            validity=validity,
            reason=None if valid else Reason(reason),
            outcome=Outcome(outcome) if valid else None,
            score=Fraction(0 if score is None else score) if valid else None,
            day="2026-10-08",
        )
        return made._replace(**changes)

    return make


@pytest.fixture(scope="session")
def measured(edition):
    """Makes a set of an agent on a project from scores; without outcomes, one fail for each score."""

    def make(agent="a", project="p", scores=(100, 100, 100), outcomes=None, under=edition):
        words = ["fail"] * len(scores) if outcomes is None else outcomes
        exact = tuple(Fraction(score) for score in scores)
        return MeasuredSet(agent, project, exact, tuple(Outcome(word) for word in words), (), under)

    return make


class Answered(NamedTuple):
    rows: list[Any]
    problems: list[str]
    code: int
    text: str


@pytest.fixture(scope="session")
def pipe():
    """Runs a command on lines (objects, text or bytes) as the program does, with real streams."""
    app = typer.Typer()

    @app.callback()
    def at_root(ctx: typer.Context) -> None:
        ctx.obj = ROOT

    for name in ("attempt", "set", "board", "verdict"):
        app.command(name)(getattr(commands, f"score_{name}"))

    def run(name, *lines):
        raw = b"".join(_bytes(line) + b"\n" for line in lines)
        result = CliRunner().invoke(app, [name], input=raw, catch_exceptions=False)
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        return Answered(rows, result.stderr.splitlines(), result.exit_code, result.stdout)

    return run


def _bytes(line):
    if isinstance(line, bytes):
        return line
    return (line if isinstance(line, str) else json.dumps(line)).encode()


@pytest.fixture(scope="session")
def program():
    """The program text of a process that is one command, for `python -c`, and the environment to run it in."""
    code = (
        "import pathlib, sys, typer; from scoring import commands\n"
        "def main(ctx: typer.Context):\n"
        "    ctx.obj = pathlib.Path.cwd()\n"
        "    getattr(commands, 'score_{name}')(ctx)\n"
        "typer.run(main)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    # An unbuffered stream would hide a missing flush.
    environment.pop("PYTHONUNBUFFERED", None)
    return lambda name: (code.format(name=name), environment)
