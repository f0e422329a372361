"""How the program behind an agent is started, and where it leaves its session."""

from __future__ import annotations

from typing import Protocol

from archive.agent import Agent
from archive.errors import ArgusicError


class Adapter(Protocol):
    """One harness."""

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
