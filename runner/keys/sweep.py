"""Keys that no attempt needs any more: found at their broker by name, and deleted (MEASUREMENT §5)."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from typing import NamedTuple

from runner.keys import Account, BrokerError, KeyBroker
from runner.keys.lease import key_name

PASSES = 5
"""A list that is read in pages while keys go away can leave some out: it is read again until nothing new is in it."""


class Swept(NamedTuple):
    """One key of ours."""

    broker: str
    account: Account
    gone: bool | None
    """Whether it is deleted for certain; None where it was only looked for."""


def leftovers(broker: KeyBroker, runner: str, running: Collection[str], now: float | None = None) -> list[Account]:
    """Keys of this runner whose run is not under way, and keys of any runner that are past their end.

    The others are left: another runner may be at work with them.
    """
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    mine = key_name(runner, "")
    needed = {key_name(runner, run) for run in running}

    def is_left(account: Account) -> bool:
        own = account.name.startswith(mine) and account.name not in needed
        return own or (account.expires_at is not None and account.expires_at < moment)

    return [account for account in broker.ours() if is_left(account)]


def sweep(broker: KeyBroker, runner: str, running: Collection[str]) -> Iterator[Swept]:
    """Deletes the leftovers, one by one. Raises BrokerError where they cannot be listed."""
    tried: set[str] = set()
    for _ in range(PASSES):
        found = [account for account in leftovers(broker, runner, running) if account.id not in tried]
        if not found:
            return
        for account in found:
            tried.add(account.id)
            yield Swept(broker.name, account, _gone(broker, account))


def stop(broker: KeyBroker) -> Iterator[Swept]:
    """The emergency stop: deletes every key of ours, whoever uses it."""
    tried: set[str] = set()
    for _ in range(PASSES):
        found = [account for account in broker.ours() if account.id not in tried]
        if not found:
            return
        for account in found:
            tried.add(account.id)
            yield Swept(broker.name, account, _gone(broker, account))


def _gone(broker: KeyBroker, account: Account) -> bool:
    try:
        broker.delete(account.id)
        return broker.account(account.id) is None
    except BrokerError:
        return False
