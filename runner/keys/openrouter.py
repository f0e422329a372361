"""OpenRouter's interface for keys: https://openrouter.ai/docs/api/api-reference/api-keys.

A management key makes, shows and deletes keys and cannot ask a model itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from runner.keys import PREFIX, Account, Broker, BrokerError, Minted
from runner.keys.fields import instant, micro_usd, printed, usd
from runner.keys.http import Client
from runner.keys.paging import each


class OpenRouter:
    """Keys of an OpenRouter account's default workspace."""

    name: Broker = "openrouter"
    poll_seconds = 2.0

    def __init__(self, client: Client) -> None:
        self._client = client

    def create(self, name: str, cap_micro_usd: int, expires_at: str) -> Minted:
        body = {
            "name": name,
            "limit": usd(cap_micro_usd),
            "limit_reset": None,
            # Without it what is spent through the account's own keys of providers does not count.
            "include_byok_in_limit": True,
            "expires_at": expires_at,
        }
        reply = self._client.ask("create a key", "POST", "/keys", body=body)
        data = reply.fields.get("data")
        if reply.status not in (200, 201):
            raise self._client.trouble("create a key", reply.status)
        id = printed(data.get("hash")) if isinstance(data, dict) else None
        secret = printed(reply.fields.get("key"))
        if id is None or secret is None:
            raise BrokerError("openrouter: create a key: the answer holds no key")
        return Minted(id, secret)

    def account(self, id: str) -> Account | None:
        reply = self._client.ask("show a key", "GET", f"/keys/{quote(id, safe='')}")
        data = reply.fields.get("data")
        if reply.status == 404 and "error" in reply.fields:
            return None  # In the broker's own words, and not those of a server in between.
        if reply.status != 200:
            raise self._client.trouble("show a key", reply.status)
        if not isinstance(data, dict) or data.get("hash") != id:
            raise BrokerError("openrouter: show a key: the answer is not about this key")
        return _account(data)

    def delete(self, id: str) -> None:
        reply = self._client.ask("delete a key", "DELETE", f"/keys/{quote(id, safe='')}")
        if reply.status not in (200, 204, 404):
            raise self._client.trouble("delete a key", reply.status)

    def refused(self, secret: str) -> bool:
        reply = self._client.ask("try a key", "GET", "/key", key=secret)
        if reply.status == 401 and "error" in reply.fields:
            return True
        if reply.status == 200:
            return False
        # 403 is no refusal of the key: one that has spent its limit gets it too.
        raise self._client.trouble("try a key", reply.status)

    def ours(self) -> Iterator[Account]:
        for entry in each(self.name, self._page, "hash"):
            if str(entry.get("name")).startswith(PREFIX):
                yield _account(entry)

    def _page(self, number: int, before: int) -> list[dict[str, Any]]:
        # Expired keys are left out unless they are asked for, and an expired key is still one of ours.
        query = {"offset": str(before), "include_disabled": "true", "include_expired": "true"}
        reply = self._client.ask("list keys", "GET", "/keys", query=query)
        entries = reply.fields.get("data")
        if reply.status != 200:
            raise self._client.trouble("list keys", reply.status)
        if not isinstance(entries, list):
            raise BrokerError("openrouter: list keys: the answer holds no list")
        return [entry for entry in entries if isinstance(entry, dict)]


def _account(data: dict[str, Any]) -> Account:
    holds = data.get("limit_reset") is None and data.get("include_byok_in_limit") is not False
    spent, byok = micro_usd(data.get("usage")), micro_usd(data.get("byok_usage", 0))
    return Account(
        id=data["hash"],
        name=str(data.get("name")),
        cap_micro_usd=micro_usd(data.get("limit")) if holds else None,
        spent_micro_usd=None if spent is None or byok is None else spent + byok,
        expires_at=instant(data.get("expires_at")),
    )
