"""What a cycle's own keys have spent and may still spend: no attempt begins that could go beyond the cycle's cap."""

from __future__ import annotations

from collections.abc import Iterable

from archive.agent import Agent
from archive.cycle import Cycle
from archive.edition import Edition
from archive.plan import Job
from archive.record import Key

REFUSED = "key:cycle-cap"


class Spending:
    """Money of one cycle, in millionths of a US dollar."""

    def __init__(self, cycle: Cycle, edition: Edition, agents: dict[str, Agent]) -> None:
        self.known = 0
        """What brokers counted."""
        self.unknown = 0
        """Caps of keys whose spend nobody could say: that much may be gone."""
        self.cap = cycle.spend_cap_micro_usd
        self._cycle = cycle.id
        self._each = edition.key_cap_micro_usd or 0
        self._paying = {name for name, agent in agents.items() if agent.model and agent.model.key == "own"}

    def add(self, key: Key) -> None:
        """The key of an attempt that is over."""
        if key.kind == "own":
            if key.spent_micro_usd is None:
                self.unknown += key.cap_micro_usd or self._each
            else:
                self.known += key.spent_micro_usd

    def most(self, jobs: Iterable[Job]) -> int:
        """What `jobs` may spend at most, by the caps of their keys."""
        return sum(self._each for job in jobs if job.agent in self._paying)

    def refuses(self, job: Job, running: Iterable[Job]) -> tuple[str, str] | None:
        """Why `job` may not begin while `running` go on: a reason and that in words."""
        if self.cap is None or job.agent not in self._paying:
            return None
        could = self.known + self.unknown + self.most([*running, job])
        if could <= self.cap:
            return None
        return REFUSED, (
            f"cycle {self._cycle} may spend {usd(self.cap)}, {usd(self.known + self.unknown)} are spent or may be, and "
            f"with the attempts under way and one more it could be {usd(could)}"
        )


def usd(micro: int) -> str:
    """An amount as a person reads it."""
    return f"{micro / 1_000_000:.2f} USD"
