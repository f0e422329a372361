"""A cycle whose agent is a shell script, on a subject that needs no network; everything else is the real thing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from archive.agent import Agent
from archive.plan import Job
from archive.record import Fetched, Record
from bot.plan import write_plan
from runner import attempt as attempt_module
from runner.attempt import Attempt
from runner.condition import Condition, condition
from runner.machine import LIMITS
from runner.sandbox import Limits, Sandbox
from runner.sources import Brief
from runner.watch import Halt
from tests.support.make import declare

README = b"# six\n\nA README of a test subject, written for this test.\n"
REPORT = {
    "schema_version": 1, "installed": True, "launched": True, "errors_encountered": 0, "errors_fixed": 0, "errors": [],
    "test_depth": "tier1_real", "verified_how": "not verified",
    "final_state": "It printed 42.", "install_seconds": 1,
}  # fmt: skip
SHELL = "cat result.txt"


def report(**changes: object) -> str:
    """Shell words that write a report."""
    text = json.dumps({**REPORT, "verified_how": {"command": SHELL, "returned": "42"}, **changes})
    return f"cat > /home/agent/report.json <<'REPORT'\n{text}\nREPORT\n"


class ShellAgent:
    """An adapter whose agent is a script."""

    def __init__(self, script: str) -> None:
        self.script = script

    def argv(self, agent: Agent) -> list[str]:
        return ["sh", "-c", self.script]

    def commands(self, session: bytes | None) -> list[str] | None:
        return None if session is None else session.decode().splitlines()


class LocalSource:
    """A source whose subjects are at hand."""

    here = True

    def fetch(self, subject: object, sandbox: object, extra_ca: object, folder: object) -> Brief:
        return Brief("pypi", "six", "1.17.0", README, (Fetched(name="six.whl", bytes=1, digest="sha256:" + "0" * 64),))

    def reachable(self, subject: object, sandbox: object, extra_ca: object) -> bool:
        return self.here


class Bench:
    """One cycle, ready to make attempts."""

    def __init__(
        self, root: Path, sandbox: Sandbox, patch: pytest.MonkeyPatch, limits: Limits, **cycle: object
    ) -> None:
        self.root, self.patch = root, patch
        self.cycle = declare(root, "pkg:pypi/six@1.17.0", demonstration=True, sandboxes=[sandbox.name], **cycle)
        write_plan(root, self.cycle)
        self.condition: Condition = condition(root, self.cycle, sandbox, None, limits)
        self.source = LocalSource()
        patch.setattr(attempt_module, "source", lambda _: self.source)

    def agent(self, script: str) -> None:
        """From now on the agent is this script."""
        self.patch.setattr(attempt_module, "adapter", lambda _: ShellAgent(script))

    @property
    def job(self) -> Job:
        return self.condition.plan.jobs[0]

    def make(
        self, script: str, *, seconds: float | None = None, halt: Halt | None = None, values: tuple[str, ...] = ()
    ) -> Record:
        """One attempt by `script`."""
        self.agent(script)
        if seconds is not None:
            real = attempt_module.watch
            self.patch.setattr(attempt_module, "watch", lambda *a, **k: real(*a, **{**k, "seconds": seconds}))
        return Attempt(self.condition, self.job, halt or Halt(), values).make()

    def text(self, record: Record, role: str) -> str:
        """Evidence of a record."""
        item = record.file(role)  # type: ignore[arg-type]
        assert item is not None, f"no {role}"
        return self.condition.store.read(item.digest).decode(errors="replace")


def bench(root: Path, sandbox: Sandbox, patch: pytest.MonkeyPatch, limits: Limits = LIMITS, **cycle: object) -> Bench:
    """A bench in an empty folder."""
    return Bench(root, sandbox, patch, limits, **cycle)
