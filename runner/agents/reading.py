"""What an attempt's agent left, and what its adapter reads of it."""

from __future__ import annotations

from typing import NamedTuple

from archive.reasons import Limit, Reason
from archive.usage import UsageReading
from runner.agents.lines import name, words

Condition = Reason | Limit
"""Why an agent did not come to an end of its own: our instrument (Reason), or a limit that it reached (Limit)."""

COMMAND_CHARACTERS = 20_000
RETURNED_CHARACTERS = 2_000
MOST_CHARACTERS = 16 << 20
"""Of all commands and what they returned together; what comes later is left out."""
_FIRST_SIGNAL = 128


class Output(NamedTuple):
    """The bytes that a program left."""

    stdout: bytes = b""
    stderr: bytes = b""
    sessions: tuple[bytes, ...] = ()
    """Its session files, each whole, in the order of their names."""
    exit: int | None = None
    """Exit status; None where it was stopped from outside, or where nobody knows."""

    @property
    def by_itself(self) -> bool:
        """Whether the program ended by itself and not by a signal. That is all its exit status is asked for."""
        return self.exit is not None and 0 <= self.exit < _FIRST_SIGNAL


class Command(NamedTuple):
    """A command that the agent ran."""

    command: str
    exit: int | None
    """None where the output does not say."""
    returned: str | None
    """The beginning of what it printed; None where the output does not say."""


class Reading(NamedTuple):
    """What the output says."""

    usage: UsageReading
    commands: tuple[Command, ...] | None
    """In order; None where the output names no commands at all."""
    terminal: str | None
    """The program's own word for its end; None where it left none."""
    complete: bool
    """Whether the agent came to its own end, or to a limit of its own: such an attempt counts, whatever it is worth."""
    condition: Condition | None
    """None where it is complete by its own end, and where it was stopped from outside, which its runner knows of."""


class Commands:
    """Commands in the order in which they began, completed by what they returned."""

    def __init__(self) -> None:
        self._found: dict[str, Command] = {}
        self._left = MOST_CHARACTERS

    def began(self, key: object, command: object) -> None:
        """`key` joins the beginning of a command with its end."""
        text = words(command, COMMAND_CHARACTERS)
        if text is not None and self._afford(text):
            self._found.setdefault(name(key), Command(text, None, None))

    def ended(self, key: object, exit_status: int | None, returned: object) -> None:
        """What the command of `key` returned; the first answer stays."""
        known = self._found.get(name(key))
        if known is not None and known.exit is None and known.returned is None:
            text = words(returned, RETURNED_CHARACTERS)
            self._found[name(key)] = Command(known.command, exit_status, text if self._afford(text or "") else None)

    def forget(self, key: object) -> None:
        """The command of `key` was asked for and not run."""
        self._found.pop(name(key), None)

    def _afford(self, text: str) -> bool:
        self._left -= len(text) + 100
        return self._left >= 0

    def all(self) -> tuple[Command, ...]:
        """All of them."""
        return tuple(self._found.values())
