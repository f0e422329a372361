"""The program behind an agent: how it is started, where it leaves its session, and how what it left is read.

A control agent has an `Adapter`: no model, no key, no usage. An agent with a model has a `Program`.
"""

from __future__ import annotations

from typing import Protocol

from archive.agent import Agent
from archive.errors import ArgusicError
from runner.agents.program import Program

PROGRAMS = ("claude", "codex", "command", "gemini", "mini-swe-agent", "opencode", "pi", "qwen")
"""Words for programs with a model, as an agent's file says them."""


class Adapter(Protocol):
    """One harness of a control agent."""

    def argv(self, agent: Agent) -> list[str]:
        """The command that starts it, without a person, in the machine."""

    def commands(self, session: bytes | None) -> list[str] | None:
        """The commands that its session file says were run, in order; None where that cannot be known."""


def adapter(agent: Agent) -> Adapter:
    """The adapter of the agent's harness. `ArgusicError` where there is none."""
    from runner.agents.control import ControlNop, ControlReadme

    known: dict[str, Adapter] = {"control-readme": ControlReadme(), "control-nop": ControlNop()}
    if agent.harness not in known:
        raise ArgusicError(f"agent {agent.id}: no adapter for harness {agent.harness!r}; one of {', '.join(known)}")
    return known[agent.harness]


def startable(agent: Agent) -> None:
    """Raises ArgusicError where `agent` cannot be started."""
    if agent.control:
        adapter(agent)
    elif agent.model is None:
        raise ArgusicError(f"agent {agent.id}: no [model] table says which model it is and where it answers")
    else:
        program_of(agent)


def program_of(agent: Agent) -> Program:
    """The program of an agent with a model.

    `ArgusicError` where its harness is none, and where its file names another version than the one that is started and
    whose output can be read.
    """
    from runner.agents.command import CommandLine

    found = program(agent.harness) if agent.command is None else CommandLine(agent.command)
    if found.package is not None and found.package.version != agent.harness_version:
        raise ArgusicError(
            f"agent {agent.id}: harness_version is {agent.harness_version}, and {agent.harness} is started and read at "
            f"{found.package.version}"
        )
    return found


def program(name: str) -> Program:
    """The program of that name, as started and read for every agent. `ArgusicError` where there is none."""
    from archive.command import CommandProgram
    from runner.agents.claude import Claude
    from runner.agents.codex import Codex
    from runner.agents.command import CommandLine
    from runner.agents.gemini import Gemini
    from runner.agents.mini_swe_agent import MiniSweAgent
    from runner.agents.opencode import OpenCode
    from runner.agents.pi import Pi
    from runner.agents.qwen import Qwen

    plain: Program = CommandLine(CommandProgram(argv=("{prompt}",)))
    known: tuple[Program, ...] = (*(Claude(), Codex(), plain, Gemini(), MiniSweAgent(), OpenCode(), Pi(), Qwen()),)
    for one in known:
        if one.name == name:
            return one
    raise ArgusicError(f"no program {name!r}; one of {', '.join(PROGRAMS)}")
