"""From a pinned commit to a record: fetched, laid down, built and verified by the control agent, all of it real."""

from __future__ import annotations

import pytest

from archive.reasons import Reason
from bot.plan import write_plan
from runner.attempt import Attempt
from runner.condition import condition
from runner.sandbox import Limits
from runner.watch import Halt
from tests.runner.test_a_subject_is_fetched_from_its_repository import forge, rule, sandbox, tool  # noqa: F401
from tests.support.git_server import commit
from tests.support.make import declare

pytestmark = pytest.mark.sandbox
README = b"""# Tool

```sh
git clone https://github.com/owner/tool
cd tool
make
```

```console
$ ./greet you
hello you
```
"""
FILES = {
    "README.md": README,
    "Makefile": b"greet: greet.sh\n\tcp greet.sh greet\n\tchmod +x greet\n",
    "greet.sh": b'#!/bin/sh\necho "hello $1"\n',
}


@pytest.fixture
def make(tmp_path, sandbox):  # noqa: F811
    def one(pinned: str):
        line = {"id": f"pkg:github/owner/tool@{pinned}", "source_type": "repository"}
        cycle = declare(tmp_path / "root", line, agents=[], controls=["control-readme"], demonstration=True)
        agent = tmp_path / "root/pools/agents/control-readme.toml"
        agent.write_text(agent.read_text().replace("control-nop", "control-readme"))
        write_plan(tmp_path / "root", cycle)
        limits = Limits(memory_bytes=512 << 20, processes=128, open_files=256, disk_bytes=64 << 20)
        made = condition(tmp_path / "root", cycle, sandbox, None, limits)
        return Attempt(made, made.plan.jobs[0], Halt()).make()

    return one


def test_the_control_agent_makes_a_repository_work(tool, make):  # noqa: F811
    pinned = commit(tool, FILES)
    commit(tool, {"greet.sh": b"exit 1\n"})
    record = make(pinned)
    assert (record.validity, record.outcome, record.reason_detail) == ("valid", "pass_full", None)
    assert [file.name for file in record.fetched] == [f"tool-{pinned}.tar"]
    assert record.report.verified_how.model_dump() == {"command": "./greet you", "returned": "hello you\n"}
    assert (record.claims.seen, record.claims.replay, record.incidents) == ("yes", "same", ())


def test_a_pin_that_vanished_costs_no_agent_anything(tool, make):  # noqa: F811
    commit(tool, FILES)
    record = make("f" * 40)
    assert (record.validity, record.reason) == ("invalid", Reason.INFRA_SUBJECT_UNAVAILABLE)
    assert "the pinned commit is not there any more" in record.reason_detail
    assert record.times.agent_ms is None or record.times.agent_ms == 0


def test_how_it_was_fetched_is_an_incident_of_the_attempt(tool, forge, make):  # noqa: F811
    (tool.parent / "moved").mkdir()
    pinned = commit(tool, FILES)
    tool.rename(tool.parent / "new")
    forge.moved["/owner/tool"] = "/owner/new"
    record = make(pinned)
    assert record.outcome == "pass_full"
    assert [incident.kind for incident in record.incidents] == ["subject-moved"]
