"""How a session ended, gathered event by event."""

from __future__ import annotations

from archive.reasons import Limit, Reason
from runner.agents.lines import words
from runner.agents.reading import Condition, Output

PERSISTENT = 3
"""So many failed calls in a row, with nothing done between them, are trouble that stays and no passing one."""


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
