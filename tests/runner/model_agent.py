"""Attempts whose agent is a small program of the tests' own that asks a model over HTTP, as any program would."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from archive.record import Record
from bot.plan import write_plan
from runner import attempt as attempt_module
from runner.attempt import Attempt
from runner.commands import finish, measure
from runner.condition import Condition, condition
from runner.machine import LIMITS
from runner.sandbox import Limits, Sandbox
from runner.sandbox.choose import Kind, choose
from runner.watch import Halt
from tests.runner.scripted import REPORT, LocalSource
from tests.support.make import declare

PROGRAM = """
import json, os, subprocess, sys, urllib.error, urllib.request
prompt, wanted = sys.argv[1], json.loads(open(os.path.expanduser("~/wanted.json")).read())
request = urllib.request.Request(
    os.environ["OWN_URL"] + "/v1/chat/completions",
    json.dumps({"model": "mock-1", "messages": [{"role": "user", "content": prompt}]}).encode(),
    {"Authorization": "Bearer " + os.environ["OWN_KEY"], "Content-Type": "application/json"},
)
try:
    answer = json.load(urllib.request.urlopen(request, timeout=20))
except urllib.error.HTTPError as error:
    sys.exit(f"fatal: {error.code}")
print(answer["choices"][0]["message"]["content"])
with open(os.path.expanduser("~/own-session.jsonl"), "w") as session:
    session.write(json.dumps({"asked": prompt[:20]}))
held = b"x" * wanted["allocate"]
subprocess.run(["sh", "-c", wanted["shell"]], check=False)
with open(os.path.expanduser("~/report.json"), "w") as report:
    json.dump(wanted["report"], report)
"""
FILE = """
id = "agent-a"
name = "Argusic Agent A"
control = false
harness = "command"
harness_version = "1"
instructions = 1
about = "A small program of the tests' own."

[command]
argv = ["python3", "-c", '''{program}''', "{{prompt}}"]
key_variable = "OWN_KEY"
environment = {{ OWN_URL = "{{endpoint}}" }}
session_files = ["own-*.jsonl"]

[command.files]
"wanted.json" = '''{wanted}'''

[[command.trouble]]
stderr_begins = "fatal: 401"
condition = "key:refused"

[[command.trouble]]
stderr_begins = "fatal: 402"
condition = "key:unfunded"

[[command.trouble]]
stderr_begins = "fatal: 422"
condition = "key:cap-reached"

[model]
name = "mock-1"
{model}
"""


def declared(root: Path, sandbox: Sandbox, model: Mapping[str, Any], shell: str = "true", **cycle: Any) -> str:
    """A cycle whose one agent runs `shell` after its model has answered, and then reports success.

    `allocate` are bytes that it holds until then; `cycle` are fields of cycle.toml.
    """
    allocate = cycle.pop("allocate", 0)
    made = declare(root, "pkg:pypi/six@1.17.0", **{"demonstration": True, "sandboxes": [sandbox.name]} | cycle)
    how = {"command": "echo 42", "returned": "42"}
    wanted = json.dumps({"shell": shell, "allocate": allocate, "report": {**REPORT, "verified_how": how}})
    table = "".join(f"{name} = {json.dumps(value)}\n" for name, value in model.items())
    text = FILE.format(program=PROGRAM, wanted=wanted, model=table)
    (root / "pools/agents/agent-a.toml").write_text(text)
    write_plan(root, made)
    return made


def ready(root: Path, sandbox: Sandbox, patch: pytest.MonkeyPatch, cycle: str, limits: Limits = LIMITS) -> Condition:
    """The condition of a declared cycle."""
    patch.setattr(attempt_module, "source", lambda _: LocalSource())
    return condition(root, cycle, sandbox, None, limits)


def main() -> None:
    """Runs a declared cycle in a process of its own: `python -m tests.runner.model_agent ROOT SANDBOX`."""
    attempt_module.source = lambda _: LocalSource()  # type: ignore[assignment,return-value]
    root = Path(sys.argv[1])
    finish(measure(root, "first", choose(Kind(sys.argv[2]), root), 1, None, Halt(), as_json=True))


def make(
    root: Path,
    sandbox: Sandbox,
    patch: pytest.MonkeyPatch,
    model: Mapping[str, Any],
    shell: str = "true",
    **cycle: Any,
) -> Record:
    """One attempt."""
    found = ready(root, sandbox, patch, declared(root, sandbox, model, shell, **cycle))
    return Attempt(found, found.plan.jobs[0], Halt()).make()


if __name__ == "__main__":
    main()
