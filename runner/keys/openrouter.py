"""OpenRouter: keys by its management interface (openrouter.ai/docs, "Management API keys")."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Literal
from urllib.parse import quote

from runner.keys import PREFIX, Account, BrokerError, Minted
from runner.keys.asking import MICRO, Asking, dig, instant, micro_usd, text

ADDRESS = "https://openrouter.ai/api/v1"
PAGE = 100
MOST_PAGES = 1000


class OpenRouter:
    """As `KeyBroker`. Its cap is soft: a request is charged when it is over, and the last one may go beyond."""

    name: Literal["openrouter"] = "openrouter"

    def __init__(self, key: str, address: str = ADDRESS) -> None:
        """`key` is a management key: it makes keys, and asks no model anything."""
        self._asking = Asking(address, key)

    def create(self, name: str, cap_micro_usd: int, expires_at: int) -> Minted:
        """As `KeyBroker.create`."""
        wanted = {
            "name": name,
            "limit": cap_micro_usd / MICRO,
            "limit_reset": None,
            "include_byok_in_limit": True,
            "expires_at": datetime.fromtimestamp(expires_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        }
        _, made = self._asking.ask("POST", "/keys", wanted)
        return Minted(text(dig(made, "data", "hash"), "hash"), text(dig(made, "key"), "key"))

    def account(self, id: str) -> Account | None:
        """As `KeyBroker.account`."""
        status, found = self._asking.ask("GET", f"/keys/{quote(id, safe='')}", fine=(404,))
        return None if status == 404 else _account(dig(found, "data"))

    def delete(self, id: str) -> None:
        """As `KeyBroker.delete`."""
        self._asking.ask("DELETE", f"/keys/{quote(id, safe='')}", fine=(404,))

    def refused(self, secret: str) -> bool:
        """As `KeyBroker.refused`."""
        return self._asking.ask("GET", "/key", key=secret, fine=(401, 403))[0] in (401, 403)

    def ours(self) -> Iterator[Account]:
        """As `KeyBroker.ours`."""
        offset = 0
        for _ in range(MOST_PAGES):
            _, found = self._asking.ask("GET", "/keys", query={"offset": offset, "include_disabled": "true"})
            rows = dig(found, "data")
            if not isinstance(rows, list):
                raise BrokerError("the broker's answer has no list of keys")
            if not rows:
                return
            offset += len(rows)
            for row in rows:
                if str(dig(row, "name") or "").startswith(PREFIX):
                    yield _account(row)


def _account(found: Any) -> Account:
    return Account(
        text(dig(found, "hash"), "hash"),
        text(dig(found, "name"), "name"),
        micro_usd(dig(found, "limit")),
        micro_usd(dig(found, "usage")),
        instant(dig(found, "expires_at")),
    )
