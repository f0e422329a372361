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
PERSISTENT = 3
"""So many failed calls in a row, with nothing done between them, are trouble that stays and no passing one."""
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


class Ending:
    """How a session ended, gathered event by event; the last word counts, and trouble that was got over is none."""

    def __init__(self) -> None:
        self.began = False
        self.terminal: str | None = None
        self._own = False
        self._stopped = False
        self._trouble: Condition | None = None
        self._failed: list[Condition | None] = []

    def progress(self) -> None:
        """The model answered or a tool ran: what looked like an end before was none."""
        self._set(None)
        self._failed.clear()

    def failed(self, condition: Condition | None) -> None:
        """A call failed, and the program tries again."""
        self.began = True
        self._failed.append(condition)

    def again(self) -> None:
        """What looked like the end after a failed call was none: the program tries again."""
        self._set(None)

    def own_end(self, terminal: object) -> None:
        """The agent ended by itself."""
        self._set(terminal, own=True)

    def stopped(self, terminal: object) -> None:
        """The program says that it was interrupted."""
        self._set(terminal, stopped=True)

    def cut_off(self, terminal: object, condition: Condition | None) -> None:
        """The program gave up; `condition` None: for no reason that is a provider's."""
        self._set(terminal, trouble=condition or Reason.AGENT_CRASHED)

    def _set(
        self, terminal: object, *, own: bool = False, stopped: bool = False, trouble: Condition | None = None
    ) -> None:
        self.began = True
        self.terminal = words(terminal)
        self._own, self._stopped, self._trouble = own, stopped, trouble

    def judged(self, output: Output) -> tuple[bool, Condition | None]:
        """Complete, and the condition.

        A program that vanished in the middle of its work is asked for nothing but whether it was stopped from outside:
        then its runner knows why, and only trouble that had stayed for some calls is named.
        """
        if self._own:
            return True, None
        if self._trouble is not None:
            return isinstance(self._trouble, Limit), self._trouble
        stays = self._failed[-1] if len(self._failed) >= PERSISTENT else None
        if stays is not None:
            return isinstance(stays, Limit), stays
        if self._stopped or not output.by_itself:
            return False, None
        return False, Reason.AGENT_CRASHED if self.began else Reason.HARNESS_AGENT_NOT_STARTED
