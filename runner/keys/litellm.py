"""LiteLLM proxy: virtual keys (docs.litellm.ai, "Virtual Keys")."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Literal

from runner.keys import PREFIX, Account, BrokerError, Minted
from runner.keys.asking import MICRO, Asking, dig, instant, micro_usd, text

PAGE = 100
MOST_PAGES = 1000


class LiteLLM:
    """As `KeyBroker`. Its cap is soft, and a model without a price costs nothing there: price every model."""

    name: Literal["litellm"] = "litellm"

    def __init__(self, key: str, address: str) -> None:
        """`key` is the proxy's master key, or another that may manage keys."""
        self._asking = Asking(address, key)

    def create(self, name: str, cap_micro_usd: int, expires_at: int) -> Minted:
        """As `KeyBroker.create`. Without a duration a key that is forgotten would live for ever."""
        seconds = max(1, expires_at - int(time.time()))
        wanted = {"key_alias": name, "max_budget": cap_micro_usd / MICRO, "duration": f"{seconds}s"}
        _, made = self._asking.ask("POST", "/key/generate", wanted)
        return Minted(text(dig(made, "token_id") or dig(made, "token"), "token id"), text(dig(made, "key"), "key"))

    def account(self, id: str) -> Account | None:
        """As `KeyBroker.account`."""
        status, found = self._asking.ask("GET", "/key/info", fine=(404,), query={"key": id})
        return None if status == 404 else _account(dig(found, "info"), id)

    def delete(self, id: str) -> None:
        """As `KeyBroker.delete`."""
        self._asking.ask("POST", "/key/delete", {"keys": [id]}, fine=(404,))

    def refused(self, secret: str) -> bool:
        """As `KeyBroker.refused`: a key may always ask about itself."""
        return self._asking.ask("GET", "/key/info", key=secret, fine=(401, 403))[0] in (401, 403)

    def ours(self) -> Iterator[Account]:
        """As `KeyBroker.ours`."""
        for page in range(1, MOST_PAGES):
            _, found = self._asking.ask(
                "GET", "/key/list", query={"return_full_object": "true", "page": page, "size": PAGE}
            )
            rows = dig(found, "keys")
            if not isinstance(rows, list):
                raise BrokerError("the broker's answer has no list of keys")
            for row in rows:
                if str(dig(row, "key_alias") or "").startswith(PREFIX):
                    yield _account(row, text(dig(row, "token"), "token"))
            last = dig(found, "total_pages")
            if not rows or not isinstance(last, int) or page >= last:
                return


def _account(found: Any, id: str) -> Account:
    return Account(
        id,
        text(dig(found, "key_alias"), "key_alias"),
        micro_usd(dig(found, "max_budget")),
        micro_usd(dig(found, "spend")),
        instant(dig(found, "expires")),
    )
