"""The own key of one attempt, from its making to its confirmed end (MEASUREMENT §5, §10)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from archive import atomic
from archive.canonical import canonical
from archive.model import Model
from archive.pools import read_json
from archive.record import Key
from runner.keys import PREFIX, Account, BrokerError, KeyBroker, Minted, NoKey

HELD = "key.json"
LATE_SECONDS = 86_400
"""A key that ends so much later than it was asked to is none that was asked for."""
SETTLED_POLLS, MOST_POLLS, POLL_SECONDS = 3, 15, 2.0
"""Spend is counted when a request is over, and arrives late: it is settled when it stays the same."""
TRIES = 5
_MOMENT = "%Y-%m-%dT%H:%M:%SZ"


class Held(Model):
    """spool/<run>/key.json: enough to find the key of an attempt whose process is gone. Its value is not in it."""

    schema_version: Literal[1]
    broker: Literal["openrouter", "litellm"]
    name: str
    id: str | None
    """Null while the broker was asked and its answer not kept: then it is found by its name."""


def key_name(runner: str, run: str) -> str:
    """What the key of `run` is called by its broker."""
    return f"{PREFIX}{runner}-{run}"


class Lease:
    """One key in use."""

    def __init__(self, broker: KeyBroker, minted: Minted, account: Account, sleep: Callable[[float], None]) -> None:
        self.secret = minted.secret
        self._broker, self._id, self._sleep = broker, minted.id, sleep
        self._closed = False
        self.key = Key(
            kind="own",
            broker=broker.name,
            id=minted.id,
            cap_micro_usd=account.cap_micro_usd,
            spent_micro_usd=None,
            expires_at=account.expires_at,
            deletion_confirmed=False,
        )

    @classmethod
    def open(
        cls,
        broker: KeyBroker,
        folder: Path,
        name: str,
        cap_micro_usd: int,
        seconds: int,
        sleep: Callable[[float], None] = time.sleep,
    ) -> Lease:
        """A key called `name` that may spend `cap_micro_usd` and lives at least `seconds` more.

        What is asked for is written into `folder` before. It is read back: a key that is not as it must be is deleted,
        and no attempt begins with it. Raises NoKey.
        """
        _keep(folder, broker, name, None)
        ends = (int(time.time()) + seconds + 60) // 60 * 60
        try:
            minted = broker.create(name, cap_micro_usd, ends)
            _keep(folder, broker, name, minted.id)
            account = broker.account(minted.id)
            wrong = _wrong(account, name, cap_micro_usd, ends)
            if account is not None and wrong is None:
                return cls(broker, minted, account, sleep)
        except BrokerError as error:
            # The broker may have made it all the same, and only its answer was lost.
            wrong = str(error)
        left = _forget(broker, name, sleep)
        raise NoKey(f"no key could be made: {wrong}" + (f"; {left}" if left else ""))

    def close(self) -> Key:
        """The key as the record states it: its spend settled, the key deleted, that confirmed as far as it was.

        Trouble of the broker is no trouble of the attempt: what is unknown then is null, and not confirmed.
        """
        if not self._closed:
            spent = _settled(self._broker, self._id, self._sleep)
            confirmed = _deleted(self._broker, self._id, self.secret, self._sleep)
            self.key = self.key.model_copy(update={"spent_micro_usd": spent, "deletion_confirmed": confirmed})
            self._closed = True
        return self.key


def close_left(
    find: Callable[[str], KeyBroker], folder: Path, secret: str | None, sleep: Callable[[float], None] = time.sleep
) -> Key | None:
    """Ends the key that an attempt of a dead process left; None where it had none.

    `secret` is its value where it was handed to a machine: then that has to be refused. `find` gives the broker.
    Raises DataErrors where what was kept cannot be read, ArgusicError where there is no such broker here.
    """
    if not (folder / HELD).is_file():
        return None
    held = read_json(Held, folder / HELD)
    broker = find(held.broker)
    account = None
    try:
        found = broker.account(held.id) if held.id else None
        account = found or next(_named(broker, held.name), None)
        confirmed, spent = True, None
        if account is not None:
            spent = _settled(broker, account.id, sleep)
        if account is not None or secret is not None:
            id = account.id if account else held.id or ""
            confirmed = _deleted(broker, id, secret, sleep)
    except BrokerError:
        confirmed, spent = False, None
    return Key(
        kind="own",
        broker=held.broker,
        id=held.id or (account.id if account else None),
        cap_micro_usd=account.cap_micro_usd if account else None,
        spent_micro_usd=spent,
        expires_at=account.expires_at if account else None,
        deletion_confirmed=confirmed,
    )


def _keep(folder: Path, broker: KeyBroker, name: str, id: str | None) -> None:
    atomic.write(folder / HELD, canonical(Held(schema_version=1, broker=broker.name, name=name, id=id)), 0o600)


def _wrong(account: Account | None, name: str, cap_micro_usd: int, ends: int) -> str | None:
    """What of a new key is not as it was asked for."""
    if account is None:
        return "the broker does not know the key that it has just made"
    if account.name != name:
        return "the broker calls the key by another name"
    if account.cap_micro_usd != cap_micro_usd:
        has = "no cap" if account.cap_micro_usd is None else f"a cap of {account.cap_micro_usd / 1e6:g} USD"
        return f"the broker made it with {has} instead of {cap_micro_usd / 1e6:g} USD"
    early, late = (time.strftime(_MOMENT, time.gmtime(ends + more)) for more in (-120, LATE_SECONDS))
    if account.expires_at is None or not early <= account.expires_at <= late:
        return f"the broker lets it end at {account.expires_at or 'no time'}, not about {early}"
    return None


def _named(broker: KeyBroker, name: str) -> Iterator[Account]:
    return (account for account in broker.ours() if account.name == name)


def _forget(broker: KeyBroker, name: str, sleep: Callable[[float], None]) -> str:
    """Deletes whatever key has this name; what could not be, in words."""
    absent = 0
    for rest in reversed(range(TRIES)):
        try:
            found = list(_named(broker, name))
            for account in found:
                broker.delete(account.id)
            absent = 0 if found else absent + 1
        except BrokerError:
            absent = 0
        # Twice: a broker that was slow to answer may be about to make it.
        if absent == 2:
            return ""
        if rest:
            sleep(POLL_SECONDS)
    return f"a key {name} may be left at the broker: argusic keys sweep"


def _settled(broker: KeyBroker, id: str, sleep: Callable[[float], None]) -> int | None:
    """What the key has spent, once that stays the same; None where it does not, or nobody says."""
    last: int | None = None
    same = 0
    for _ in range(MOST_POLLS):
        try:
            account = broker.account(id)
        except BrokerError:
            account = None
        spent = account.spent_micro_usd if account else None
        same = same + 1 if spent is not None and spent == last else int(spent is not None)
        last = spent
        if same >= SETTLED_POLLS:
            return spent
        sleep(POLL_SECONDS)
    return None


def _deleted(broker: KeyBroker, id: str, secret: str | None, sleep: Callable[[float], None]) -> bool:
    """Whether the key is gone for certain: absent at its broker, and refused where somebody had it."""
    for rest in reversed(range(TRIES)):
        try:
            if id:
                broker.delete(id)
            absent = not id or broker.account(id) is None
            if absent and (secret is None or broker.refused(secret)):
                return True
        except BrokerError:
            pass
        if rest:
            sleep(POLL_SECONDS)
    return False
