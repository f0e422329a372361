"""The end of a key: what it spent is settled, it is deleted, and its broker confirms that it is gone."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Sequence

from runner.keys import BrokerError, KeyBroker

Sleep = Callable[[float], None]

SETTLED_POLLS = 3
"""So many equal answers in a row make a spend final."""
SETTLE_SECONDS = 30.0
"""Longest wait for that."""
MOST_ERRORS = 3
PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Between attempts to confirm the end: a proxy of several processes lets a deleted key live on for up to a minute."""


def settle(broker: KeyBroker, id: str, sleep: Sleep) -> int | None:
    """What a key has spent in the end, in micro dollars; None where the broker does not come to an end or say so."""
    answers: list[int | None] = []
    errors = 0
    for number in range(max(SETTLED_POLLS, 1 + math.floor(SETTLE_SECONDS / broker.poll_seconds))):
        if number:
            sleep(broker.poll_seconds)
        try:
            account = broker.account(id)
        except BrokerError:
            errors += 1
            if errors == MOST_ERRORS:
                return None
            continue
        if account is None:
            return None
        answers.append(account.spent_micro_usd)
        last = answers[-SETTLED_POLLS:]
        if len(last) == SETTLED_POLLS and len(set(last)) == 1:
            return last[0]
    return None


def end(broker: KeyBroker, id: str, secret: str | None, sleep: Sleep, pauses: Sequence[float] = PAUSES) -> bool:
    """Deletes a key; True only where the broker then confirms that it is gone. Trouble is met by trying again."""
    for pause in (0.0, *pauses):
        if pause:
            sleep(pause)
        with contextlib.suppress(BrokerError):
            broker.delete(id)
        if confirmed_gone(broker, id, secret):
            return True
    return False


def confirmed_gone(broker: KeyBroker, id: str, secret: str | None) -> bool:
    """Whether the broker has no such key and a call with it is refused. What is not known for certain is False.

    `secret` is None only for a key that no machine was given: nobody can use that one, and it need not be tried.
    """
    try:
        return broker.account(id) is None and (secret is None or broker.refused(secret))
    except BrokerError:
        return False
