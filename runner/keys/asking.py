"""Asking a broker: JSON over HTTP, limited in size and time, with nothing of an answer in any message."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode, urlsplit

from archive.errors import ArgusicError
from archive.packing import Damaged
from archive.web import Refused, Unreachable, request
from runner.keys import BrokerError

MOST_BYTES = 8 << 20
MICRO = 1_000_000


class Asking:
    """One broker's interface, asked with one key."""

    def __init__(self, address: str, key: str) -> None:
        """Raises ArgusicError for an address at which the key could be read on its way."""
        parts = urlsplit(address)
        local = parts.hostname in ("127.0.0.1", "localhost", "::1")
        if parts.scheme != "https" and not (parts.scheme == "http" and local):
            raise ArgusicError(f"the broker's address must be https, not {parts.scheme}://{parts.hostname}")
        self._address, self._key = address.rstrip("/"), key

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = None,
        fine: tuple[int, ...] = (),
        query: Mapping[str, Any] | None = None,
    ) -> tuple[int, Any]:
        """Status and decoded answer; None instead of an answer for a status from 400 on that is `fine`."""
        url = f"{self._address}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = {"Authorization": f"Bearer {key or self._key}", "Accept": "application/json"}
        sent = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            sent = json.dumps(body).encode()
        what = f"{method} {path.partition('?')[0]}"
        try:
            with request(url, most=MOST_BYTES, method=method, headers=headers, body=sent) as answer:
                status, data = answer.status, answer.read()
        except Refused as error:
            if error.status in fine:
                return error.status, None
            raise BrokerError(f"the broker answered {what} with {error.status}") from None
        except (Unreachable, Damaged):
            raise BrokerError(f"the broker gave no whole answer to {what}") from None
        if not data:
            return status, {}
        try:
            return status, json.loads(data, parse_float=Decimal)
        except (ValueError, RecursionError):
            raise BrokerError(f"the broker answered {what} with something that is no JSON") from None


def dig(value: Any, *names: str) -> Any:
    """What stands at a path of keys; None where there is nothing."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def micro_usd(dollars: Any) -> int | None:
    """Dollars as millionths, rounded up; None for what is no amount."""
    if isinstance(dollars, bool) or not isinstance(dollars, int | Decimal) or not 0 <= dollars < 10**9:
        return None
    return math.ceil(dollars * MICRO)


def instant(text: Any) -> str | None:
    """A moment as a record writes it, in whole seconds of UTC; None for what is none."""
    try:
        found = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    # Some brokers write UTC without saying so.
    found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    return found.strftime("%Y-%m-%dT%H:%M:%SZ")


def text(value: Any, what: str) -> str:
    """A word of an answer. Raises BrokerError where it is none."""
    if not isinstance(value, str) or not 1 <= len(value) <= 500 or not value.isascii() or not value.isprintable():
        raise BrokerError(f"the broker's answer has no usable {what}")
    return value
