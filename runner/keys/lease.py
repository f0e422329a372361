"""The key of one attempt, from its making to its confirmed end, on whatever way the attempt ends."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from pathlib import Path

from archive.errors import ArgusicError
from archive.pools import read_json
from archive.record import Key
from runner.keys import Account, BrokerError, KeyBroker, Minted, broker
from runner.keys.ending import Sleep, end, settle
from runner.keys.fields import moment_of, seconds_of
from runner.keys.kept import KEY, Kept, keep, keep_if_possible

NEVER_MADE = (400, 401, 402, 403, 404, 405, 422, 429)
"""Answers to the making of a key after which there is none; after any other one, or none, it has to be looked for."""
LATE_PAUSES = (0.0, 2.0, 6.0)
"""When to look for a key whose making was not answered."""
MOST_LATER_SECONDS = 24 * 3600
"""An end so much later than the one that was asked for is another one."""


class NoKey(ArgusicError):
    """No key could be made, or not the one that was asked for. The attempt does not begin and stays due."""

    exit_code = 5


class Lease:
    """A key that was read back and found right. `secret` is handed to the machine and to nobody else."""

    def __init__(self, broker: KeyBroker, folder: Path, kept: Kept, minted: Minted, sleep: Sleep) -> None:
        self._broker, self._folder, self._kept, self._sleep = broker, folder, kept, sleep
        self.id, self.secret = minted
        self.cap_micro_usd, self.expires_at = kept.cap_micro_usd, kept.expires_at

    @classmethod
    def open(
        cls,
        broker: KeyBroker,
        folder: Path,
        name: str,
        cap_micro_usd: int,
        seconds: float,
        now: float,
        sleep: Sleep = time.sleep,
    ) -> Lease:
        """Makes a key that lives for `seconds` or a little longer, and reads it back before anybody uses it.

        `now` is the time in seconds since 1970. Raises NoKey where the key does not have its cap and its end, or
        nothing certain is known of it; a key that was made is deleted then, as after any other error.
        """
        kept = Kept(
            schema_version=1,
            broker=broker.name,
            name=name,
            id=None,
            cap_micro_usd=cap_micro_usd,
            expires_at=moment_of(math.ceil((now + seconds) / 60) * 60),
            spent_micro_usd=None,
            deletion_confirmed=None,
        )
        keep(folder, kept)
        minted = None
        try:
            minted = broker.create(name, cap_micro_usd, kept.expires_at)
            kept = kept.model_copy(update={"id": minted.id})
            keep(folder, kept)
            account = _read_back(broker, minted.id, sleep)
            wrong = _wrong(account, kept, now + seconds)
            if account is not None and account.expires_at is not None and wrong is None:
                kept = kept.model_copy(update={"expires_at": account.expires_at})
                keep(folder, kept)
                return cls(broker, folder, kept, minted, sleep)
        except BrokerError as error:
            never_made = minted is None and error.status in NEVER_MADE
            gone, wrong = never_made or _undone(broker, name, minted, sleep), str(error)
        except BaseException:
            _undone(broker, name, minted, sleep)
            raise
        else:
            gone = _undone(broker, name, minted, sleep)
        if gone:
            (folder / KEY).unlink(missing_ok=True)
        else:
            wrong = f"{wrong}; a key may be left: argusic keys sweep"
        raise NoKey(f"key {name}: {wrong}")

    @property
    def key(self) -> Key:
        """The key as it is known so far."""
        return self._kept.key()

    def account(self) -> Account | None:
        """What the broker says of the key now. Raises BrokerError."""
        return self._broker.account(self.id)

    def close(self) -> Key:
        """Settles what was spent, deletes the key and has that confirmed. What it returns is for the record.

        Trouble of the broker is no error here: what is not known for certain is null, and not confirmed. A second time
        changes nothing that is confirmed.
        """
        if not self._kept.deletion_confirmed:
            self._kept = _ended(self._broker, self._folder, self._kept, self.id, self.secret, self._sleep)
        return self._kept.key()


def close_left(
    folder: Path, environ: Mapping[str, str], secret: str | None = None, sleep: Sleep = time.sleep
) -> Key | None:
    """Ends the key that an attempt's dead process left; None where it had none.

    `secret` is the key, where the attempt's machine was given it; without one nobody has it, since it is kept in the
    spool before any machine has it. Raises DataError where key.json cannot be read; trouble of the broker, or a
    variable of it that is missing by now, is a deletion that is not confirmed.
    """
    if not (folder / KEY).is_file():
        return None
    kept = read_json(Kept, folder / KEY)
    if kept.deletion_confirmed:
        return kept.key()
    try:
        who = broker(kept.broker, environ)
        ids = [kept.id] if kept.id else [account.id for account in who.ours() if account.name == kept.name]
    except ArgusicError:
        return kept.key()
    confirmed = True  # Without any: the broker shows all keys, and none has that name.
    for id in ids:
        kept = _ended(who, folder, kept, id, secret, sleep)
        confirmed = confirmed and bool(kept.deletion_confirmed)
    kept = kept.model_copy(update={"deletion_confirmed": confirmed})
    keep_if_possible(folder, kept)
    return kept.key()


def _ended(broker: KeyBroker, folder: Path, kept: Kept, id: str, secret: str | None, sleep: Sleep) -> Kept:
    if kept.spent_micro_usd is None:
        kept = kept.model_copy(update={"spent_micro_usd": settle(broker, id, sleep)})
        keep_if_possible(folder, kept)  # A deleted key's spend is shown to nobody.
    kept = kept.model_copy(update={"deletion_confirmed": end(broker, id, secret, sleep)})
    keep_if_possible(folder, kept)
    return kept


def _read_back(broker: KeyBroker, id: str, sleep: Sleep) -> Account | None:
    """The account of a new key; a broker of several processes may need a moment to know of it."""
    account = broker.account(id)
    for pause in (1.0, 2.0):
        if account is None:
            sleep(pause)
            account = broker.account(id)
    return account


def _wrong(account: Account | None, kept: Kept, needed: float) -> str | None:
    """What is wrong with a key as its broker shows it; None where nothing is."""
    if account is None:
        return "the broker made it and does not know it"
    if account.name != kept.name:
        return "the broker shows it under another name"
    if account.cap_micro_usd is None:
        return "the broker made it without a cap that holds"
    if account.cap_micro_usd != kept.cap_micro_usd:
        return f"its cap is {account.cap_micro_usd} micro USD and should be {kept.cap_micro_usd}"
    if account.expires_at is None:
        return "the broker made it without an end"
    ends = seconds_of(account.expires_at)
    if ends < needed or ends > seconds_of(kept.expires_at) + MOST_LATER_SECONDS:
        return f"it ends at {account.expires_at} and should end at {kept.expires_at}"
    if account.spent_micro_usd:
        return f"{account.spent_micro_usd} micro USD of it are spent already"
    return None


def _undone(broker: KeyBroker, name: str, minted: Minted | None, sleep: Sleep) -> bool:
    """Ends a key that is not to be used; True where it is certain that none is left."""
    if minted is not None:
        return end(broker, minted.id, minted.secret, sleep)
    for pause in LATE_PAUSES:
        if pause:
            sleep(pause)
        try:
            ids = [account.id for account in broker.ours() if account.name == name]
        except BrokerError:
            continue
        if ids:
            ended = [end(broker, id, None, sleep) for id in ids]
            return all(ended)
    return False
