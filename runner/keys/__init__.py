"""Keys for models, one for each attempt: made with a cap, handed to one machine, gone afterwards (MEASUREMENT §5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, Protocol

from archive.errors import ArgusicError

PREFIX = "argusic-"
"""What the name of every key of ours begins with, at every broker."""


class NoKey(ArgusicError):
    """No key could be made as it must be: the attempt does not begin, and stays due."""

    exit_code = 5


class BrokerError(ArgusicError):
    """A broker gave no answer that can be used. What it said is not told: some quote keys."""

    exit_code = 4


class Minted(NamedTuple):
    """A new key."""

    id: str
    """What its broker calls it; nothing can be asked of a model with that."""
    secret: str

    def __repr__(self) -> str:
        return f"Minted({self.id!r})"


class Account(NamedTuple):
    """What a broker says of a key. Money in millionths of a US dollar; None: it says nothing, or "without limit"."""

    id: str
    name: str
    cap_micro_usd: int | None
    spent_micro_usd: int | None
    expires_at: str | None
    """UTC, "2026-12-01T10:00:00Z"."""


class KeyBroker(Protocol):
    """Who makes keys and counts what they spend. Every call raises BrokerError where there is no usable answer."""

    @property
    def name(self) -> Literal["openrouter", "litellm"]:
        """Its word in an agent's file."""

    def create(self, name: str, cap_micro_usd: int, expires_at: int) -> Minted:
        """A new key that may spend so much and ends at `expires_at` (seconds since 1970)."""

    def account(self, id: str) -> Account | None:
        """What is known of a key; None where there is no such key."""

    def delete(self, id: str) -> None:
        """Deletes a key; one that is gone already is fine."""

    def refused(self, secret: str) -> bool:
        """Whether a harmless request with the key is refused."""

    def ours(self) -> Iterator[Account]:
        """All keys whose name begins with PREFIX."""
