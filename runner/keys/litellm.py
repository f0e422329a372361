"""The interface for virtual keys of a LiteLLM proxy: https://docs.litellm.ai/docs/proxy/virtual_keys.

Read from the source of version 1.106.12; where versions differ, both are understood.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterator
from typing import Any

from runner.keys import PREFIX, Account, Broker, BrokerError, Minted
from runner.keys.fields import instant, micro_usd, printed, seconds_of, usd
from runner.keys.http import Client, Reply
from runner.keys.paging import each

CLOCKS_SECONDS = 60
"""How far the proxy's clock may be behind ours: it is asked for a duration and sets the end itself."""
PAGE = 100


class LiteLLM:
    """Keys of a proxy that its master key, or an administrator's, makes."""

    name: Broker = "litellm"
    poll_seconds = 6.0
    """The proxy writes spends down every ten seconds: three equal answers span more than that."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def create(self, name: str, cap_micro_usd: int, expires_at: str) -> Minted:
        seconds = max(1, math.ceil(seconds_of(expires_at) - time.time())) + CLOCKS_SECONDS
        body = {"key_alias": name, "max_budget": usd(cap_micro_usd), "duration": f"{seconds}s"}
        reply = self._client.ask("create a key", "POST", "/key/generate", body=body)
        if reply.status not in (200, 201):
            raise self._client.trouble("create a key", reply.status)
        secret = printed(reply.fields.get("key"))
        if secret is None:
            raise BrokerError("litellm: create a key: the answer holds no key")
        # The field `token` is the secret itself in some versions.
        id = printed(reply.fields.get("token_id")) or hashlib.sha256(secret.encode()).hexdigest()
        if id == secret:
            raise BrokerError("litellm: create a key: the key's public name is the key")
        return Minted(id, secret)

    def account(self, id: str) -> Account | None:
        reply = self._client.ask("show a key", "GET", "/key/info", query={"key": id})
        info = reply.fields.get("info")
        if reply.status == 404 and _in_its_own_words(reply):
            return None
        if reply.status != 200:
            raise self._client.trouble("show a key", reply.status)
        if not isinstance(info, dict):
            raise BrokerError("litellm: show a key: the answer is not about a key")
        if info.get("status") == "deleted" or info.get("deleted_at") is not None:
            return None  # The proxy keeps an archive of deleted keys and shows them from it.
        return _account(id, info)

    def delete(self, id: str) -> None:
        reply = self._client.ask("delete a key", "POST", "/key/delete", body={"keys": [id]})
        if reply.status not in (200, 204, 404):
            raise self._client.trouble("delete a key", reply.status)

    def refused(self, secret: str) -> bool:
        reply = self._client.ask("try a key", "GET", "/v1/models", key=secret)
        error = reply.fields.get("error")
        if isinstance(error, dict) and error.get("type") == "budget_exceeded":
            return False  # Under any status; only a key that is known has a budget.
        if reply.status == 401 and _in_its_own_words(reply):
            return True
        if reply.status == 200:
            return False
        raise self._client.trouble("try a key", reply.status)

    def ours(self) -> Iterator[Account]:
        for entry in each(self.name, self._page, "token"):
            if str(entry.get("key_alias")).startswith(PREFIX):
                yield _account(entry["token"], entry)

    def _page(self, number: int, before: int) -> list[dict[str, Any]]:
        # A version that does not know `search` shows all keys; a filter by alias would show none of ours.
        query = {"page": str(number + 1), "size": str(PAGE), "return_full_object": "true", "search": PREFIX}
        reply = self._client.ask("list keys", "GET", "/key/list", query=query)
        entries = reply.fields.get("keys")
        if reply.status != 200:
            raise self._client.trouble("list keys", reply.status)
        if not isinstance(entries, list) or any(not isinstance(entry, dict) for entry in entries):
            raise BrokerError("litellm: list keys: the answer holds no list of keys with their facts")
        return entries


def _account(id: str, data: dict[str, Any]) -> Account:
    holds = data.get("budget_duration") is None
    return Account(
        id=id,
        name=str(data.get("key_alias")),
        cap_micro_usd=micro_usd(data.get("max_budget")) if holds else None,
        spent_micro_usd=micro_usd(data.get("spend")),
        expires_at=instant(data.get("expires")),
    )


def _in_its_own_words(reply: Reply) -> bool:
    """Whether the proxy said so, and not a server in between or another path."""
    return "error" in reply.fields or isinstance(reply.fields.get("detail"), dict)
