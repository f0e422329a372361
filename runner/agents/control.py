"""The two built-in controls: programs without a model, the floor that every agent must beat."""

from __future__ import annotations

import json

from archive.agent import Agent


class ControlReadme:
    """Follows the README's own commands."""

    def argv(self, agent: Agent) -> list[str]:
        """As `Adapter.argv`."""
        return ["python3", "/argusic/inside/control_readme"]

    def commands(self, session: bytes | None) -> list[str] | None:
        """As `Adapter.commands`; a torn last line is left out."""
        if session is None:
            return None
        found = []
        for line in session.splitlines():
            try:
                command = json.loads(line)["command"]
            except (ValueError, TypeError, KeyError, RecursionError):
                continue
            if isinstance(command, str):
                found.append(command)
        return found


class ControlNop:
    """Does nothing."""

    def argv(self, agent: Agent) -> list[str]:
        """As `Adapter.argv`."""
        return ["python3", "-I", "-S", "/argusic/inside/control_nop.py"]

    def commands(self, session: bytes | None) -> list[str] | None:
        """As `Adapter.commands`."""
        return []
