"""What an attempt's folder keeps of its key, so that the key can be ended when the process is gone."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Literal

from archive import atomic
from archive.canonical import canonical
from archive.errors import ArgusicError
from archive.model import Instant, Model
from archive.pools import read_json
from archive.record import Key, Whole
from runner.keys import Broker

KEY = "key.json"
"""In the attempt's folder of the spool. The secret is not in it."""


class Kept(Model):
    """spool/<run>/key.json: written before the key is made, so that a kill in between leaves a name to look for."""

    schema_version: Literal[1]
    broker: Broker
    name: str
    id: str | None
    cap_micro_usd: Whole
    expires_at: Instant
    spent_micro_usd: Whole | None
    deletion_confirmed: bool | None

    def key(self) -> Key:
        """The key as the attempt's record says it."""
        return Key(
            kind="own",
            broker=self.broker,
            id=self.id,
            cap_micro_usd=self.cap_micro_usd,
            spent_micro_usd=self.spent_micro_usd,
            expires_at=self.expires_at,
            deletion_confirmed=bool(self.deletion_confirmed),
        )


def keep(folder: Path, kept: Kept) -> None:
    """Writes it, for the runner's user alone. Raises OSError."""
    atomic.write(folder / KEY, canonical(kept), 0o600)


def keep_if_possible(folder: Path, kept: Kept) -> None:
    """A full disk keeps no key alive."""
    with contextlib.suppress(OSError):
        keep(folder, kept)


def note_spend(folder: Path, spent_micro_usd: int | None) -> None:
    """Keeps what a key has spent, where its attempt's folder is still there: its recovery cannot ask any more."""
    with contextlib.suppress(OSError, ArgusicError):
        kept = read_json(Kept, folder / KEY)
        if kept.spent_micro_usd is None:
            keep(folder, kept.model_copy(update={"spent_micro_usd": spent_micro_usd}))
