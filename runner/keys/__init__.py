"""The key of an attempt: made for it alone, with a cap and an end, and deleted with it (MEASUREMENT §5).

A broker makes keys; the runner holds its management key, and no machine ever sees that one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, Protocol

from archive.errors import ArgusicError

PREFIX = "argusic-"
"""What the name of every key of ours begins with, and of no other."""
KEY_VARIABLES = {"openrouter": "ARGUSIC_OPENROUTER_KEY", "litellm": "ARGUSIC_LITELLM_KEY"}
"""Each broker and the runner's variable that holds its management key."""
ADDRESS_VARIABLES = {"openrouter": "ARGUSIC_OPENROUTER_ADDRESS", "litellm": "ARGUSIC_LITELLM_ADDRESS"}
"""Each broker and the runner's variable that says where it is."""
ADDRESSES = {"openrouter": "https://openrouter.ai/api/v1"}
"""Where a broker is that need not be told of."""
_NAME = re.compile(r"argusic-(.+)-([0-9a-f]{8,64})")


Broker = Literal["openrouter", "litellm"]


class BrokerError(ArgusicError):
    """A broker gave no usable answer. No key stands in the message; `status` is its answer's, None without one."""

    exit_code = 4

    def __init__(self, message: str, status: int | None = None) -> None:
        self.status = status
        super().__init__(message)


class Minted(NamedTuple):
    """A key that was just made."""

    id: str
    """The broker's public name of it; nobody can use the key with that."""
    secret: str

    def __repr__(self) -> str:
        return f"Minted(id={self.id!r})"


class Account(NamedTuple):
    """What a broker says of a key. None: it has none, or does not say."""

    id: str
    name: str
    cap_micro_usd: int | None
    """None also where the cap is set back from time to time, or leaves a part of what is spent out: that is none."""
    spent_micro_usd: int | None
    expires_at: str | None
    """UTC, as "2026-12-01T10:00:00Z"."""


class KeyBroker(Protocol):
    """Who makes and deletes keys. Every call raises BrokerError where the broker gives no usable answer."""

    name: Broker
    poll_seconds: float
    """Pause between two looks at a key's spend: two equal answers in a shorter time say nothing."""

    def create(self, name: str, cap_micro_usd: int, expires_at: str) -> Minted:
        """A new key. After BrokerError there may be one all the same: it is found by its name."""

    def account(self, id: str) -> Account | None:
        """What the broker says of a key; None where it says that it has none of that id."""

    def delete(self, id: str) -> None:
        """Deletes a key; one that is gone already is fine."""

    def refused(self, secret: str) -> bool:
        """Whether a harmless call with the key is refused because the key is not known."""

    def ours(self) -> Iterator[Account]:
        """All keys whose name begins with PREFIX, each once, although keys are made and deleted meanwhile."""


def key_name(runner: str, run: str) -> str:
    """The name of the key of a run: who finds it among others knows whose it is."""
    return f"{PREFIX}{runner}-{run}"


def owner(name: str) -> tuple[str, str] | None:
    """Runner and run of a key's name; None where `key_name` did not make it."""
    found = _NAME.fullmatch(name)
    return (found[1], found[2]) if found else None


def broker(name: str, environ: Mapping[str, str]) -> KeyBroker:
    """The broker of that name with the runner's own variables.

    Raises ArgusicError that names a variable which is missing or cannot be used, and never shows its value.
    """
    from runner.keys.http import Client
    from runner.keys.litellm import LiteLLM
    from runner.keys.openrouter import OpenRouter

    kinds: dict[str, type[OpenRouter] | type[LiteLLM]] = {"openrouter": OpenRouter, "litellm": LiteLLM}
    if name not in kinds:
        raise ArgusicError(f"no key broker {name!r}; one of {', '.join(kinds)}")
    key = environ.get(KEY_VARIABLES[name], "").strip()
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        problem = "holds something that is no key" if key else "is not set"
        raise ArgusicError(f"{KEY_VARIABLES[name]} {problem}; it is the management key of {name}")
    address = environ.get(ADDRESS_VARIABLES[name], "").strip() or ADDRESSES.get(name, "")
    if not address:
        raise ArgusicError(f"{ADDRESS_VARIABLES[name]} is not set; it is the address of {name}, such as https://HOST")
    return kinds[name](Client(name, address, key))


def configured(environ: Mapping[str, str]) -> list[KeyBroker]:
    """Every broker that this runner has variables of. Raises ArgusicError where there is none, or a half of one."""
    names = [name for name in KEY_VARIABLES if environ.get(KEY_VARIABLES[name]) or environ.get(ADDRESS_VARIABLES[name])]
    if not names:
        raise ArgusicError(f"no key broker: neither {' nor '.join(KEY_VARIABLES.values())} is set")
    return [broker(name, environ) for name in names]
