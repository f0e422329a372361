"""docs/owner/agents.md: its tables are those of the program, and its example is read."""

from __future__ import annotations

import re
from pathlib import Path

import tomli

from archive.agent import Agent
from archive.model import read_model
from archive.reasons import LIMITS, POLICIES, Policy
from runner.agents import PROGRAMS, program, program_of
from runner.agents.trouble import KINDS, MONEY, WORDS
from tests.support.markdown import tables

CHECKOUT = Path(__file__).resolve().parents[2]
PAGE = (CHECKOUT / "docs/owner/agents.md").read_text()


def table(first: str) -> list[list[str]]:
    return next(one for one in tables(PAGE) if one[0][0] == first)[1:]


def test_each_condition_stands_with_what_follows_from_it() -> None:
    policies: dict[str, Policy] = {
        str(reason): policy
        for reason, policy in POLICIES.items()
        if reason.startswith(("key:", "provider:", "agent:crashed", "harness:agent"))
    } | {str(limit): policy for limit, policy in LIMITS.items()}
    assert [tuple(row) for row in table("condition")] == [
        (condition, policy.means, "yes" if policy.counts else "no", str(policy.reruns))
        for condition, policy in policies.items()
    ]


def test_the_page_knows_every_condition_that_can_be_read() -> None:
    found = {str(condition) for condition in KINDS.values()} | {str(one) for _, one in (*MONEY, *WORDS)}
    shown = {row[0] for row in table("condition")}
    assert shown - found == {"agent:crashed", "harness:agent-not-started"}
    assert found <= shown


def test_each_program_stands_with_its_package_and_its_session() -> None:
    rows = {row[0]: row[1:] for row in table("harness")}
    assert tuple(rows) == PROGRAMS
    for name in PROGRAMS:
        one = program(name)
        package, version, session, _, waits = rows[name]
        assert waits == ("yes" if one.waits_for_ever else "no")
        if name == "command":
            assert package == version == session == "as its file says"
            continue
        assert one.package is not None
        assert (package, version) == (f"{one.package.registry} {one.package.name}", one.package.version)
        assert session == (", ".join(one.session_files) or "none")


def test_the_examples_are_agents() -> None:
    first, second = re.findall(r"```toml\n(.*?)```", PAGE, re.S)
    plain = read_model(Agent, tomli.loads(first), "agents.md")
    assert program_of(plain).name == "codex"
    own = tomli.loads(first) | tomli.loads(second) | {"harness": "command", "harness_version": "1.2.3"}
    assert program_of(read_model(Agent, own, "agents.md")).name == "command"
