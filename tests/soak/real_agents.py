"""Attempts with the real programs of agents, installed from their packages, and a model that a script plays."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from archive.errors import ArgusicError
from archive.record import Record
from bot.plan import write_plan
from runner import attempt as attempt_module
from runner.agents import program
from runner.attempt import Attempt
from runner.condition import condition
from runner.sandbox import Sandbox
from runner.watch import Halt
from tests.model_server import ModelServer
from tests.runner.scripted import LocalSource, report
from tests.support.make import declare

EXTRA_CA = Path(os.environ["ARGUSIC_EXTRA_CA"]) if os.environ.get("ARGUSIC_EXTRA_CA") else None
WORKS = ("echo 42 > result.txt && cat result.txt", report(), "cat result.txt")
"""What the model has done: make something, report it, look at it once more."""


def agent_file(harness: str, model: Mapping[str, Any]) -> str:
    """An agent's file."""
    package = program(harness).package
    assert package is not None
    table = "".join(f"{name} = {value!r}\n".replace("'", '"') for name, value in model.items())
    return (
        f'id = "agent-a"\nname = "Argusic Agent A"\ncontrol = false\nharness = "{harness}"\n'
        f'harness_version = "{package.version}"\ninstructions = 1\nabout = "A real program with a scripted model."\n\n'
        f"[model]\n{table}"
    )


def attempt(
    root: Path,
    sandbox: Sandbox,
    patch: pytest.MonkeyPatch,
    programs: Path,
    harness: str,
    server: ModelServer,
    *,
    seconds: float = 240,
    **model: Any,
) -> Record:
    """One attempt of `harness`, up to its record. `programs` is where installed ones are kept for all tests."""
    cycle = declare(root, "pkg:pypi/six@1.17.0", demonstration=True, sandboxes=[sandbox.name])
    access = {"name": "mock-1", "endpoint": server.address, "key": "none"} | model
    (root / "pools/agents/agent-a.toml").write_text(agent_file(harness, access))
    (root / ".argusic/private").mkdir(parents=True)
    (root / ".argusic/private/programs").symlink_to(programs)
    plan, _ = write_plan(root, cycle)
    patch.setattr(attempt_module, "source", lambda _: LocalSource())
    real = attempt_module.watch
    patch.setattr(attempt_module, "watch", lambda *a, **k: real(*a, **{**k, "seconds": seconds}))
    try:
        ready = condition(root, cycle, sandbox, EXTRA_CA)
    except ArgusicError as error:
        if "could not be installed" in str(error):
            pytest.skip(f"no {harness} here: {error}")
        raise
    return Attempt(ready, plan.jobs[0], Halt()).make()
