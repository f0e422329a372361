"""Deleting keys that no running attempt owns."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from runner.keys import Account, KeyBroker, owner
from runner.keys.ending import Sleep, end
from runner.keys.fields import moment_of

PAUSES = (1.0, 3.0)
"""Nobody waits for a single key here: one that is not gone by then is told, and the next sweep finds it again."""

EXPIRED_SECONDS = 3600
"""A key that is not ours to judge is left for so long after its end: its own runner may be settling it."""


class Swept(NamedTuple):
    """What became of one key."""

    account: Account
    gone: bool


def leftovers(broker: KeyBroker, runner: str, running: Collection[str], now: float | None = None) -> Iterator[Account]:
    """Keys of this runner whose run is not among the `running` ones, and keys of any other one that have expired.

    A key of another runner, or one whose name says no runner, may be in use until then.
    """
    for account in broker.ours():
        if _left(account, runner, running, time.time() if now is None else now):
            yield account


def sweep(
    broker: KeyBroker,
    runner: str,
    running: Callable[[], Collection[str]],
    before: Callable[[Account], None] = lambda _: None,
    sleep: Sleep = time.sleep,
) -> Iterator[Swept]:
    """Deletes every leftover and has its absence confirmed; `before` is told of each one before it is deleted.

    `running` is asked once more after a key was seen: an attempt is under way before its key is made and after it is
    gone, so that a key which was seen and is owned by nobody then is owned by nobody for good.
    """
    for account in broker.ours():
        if _left(account, runner, running(), time.time()):
            before(account)
            yield Swept(account, end(broker, account.id, None, sleep, PAUSES))


def stop(broker: KeyBroker, sleep: Sleep = time.sleep) -> Iterator[Swept]:
    """Deletes every key of ours, of any runner, in use or not."""
    for account in broker.ours():
        yield Swept(account, end(broker, account.id, None, sleep, PAUSES))


def _left(account: Account, runner: str, running: Collection[str], now: float) -> bool:
    whose = owner(account.name)
    if whose is not None and whose[0] == runner:
        return not any(run.startswith(whose[1]) for run in running)
    return account.expires_at is not None and account.expires_at < moment_of(now - EXPIRED_SECONDS)
