"""JSON over HTTP with a management key: to one address only, bounded in size and time, silent about what was said.

Brokers repeat keys in their error messages, so nothing of an answer but its status is ever shown.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from archive.errors import ArgusicError
from runner.keys import ADDRESS_VARIABLES, KEY_VARIABLES, BrokerError
from runner.keys.fields import printed

SECONDS = 15.0
"""Longest silence of a broker."""
SECONDS_IN_ALL = 30.0
MOST_BYTES = 8 << 20
"""Of an answer; a page of a hundred keys is far smaller."""


class Reply(NamedTuple):
    """An answer that is JSON, or empty (None); its status may be any."""

    status: int
    data: Any

    @property
    def fields(self) -> dict[str, Any]:
        """The answer where it is an object, else nothing."""
        return self.data if isinstance(self.data, dict) else {}

    def __repr__(self) -> str:
        return f"Reply(status={self.status})"


class Client:
    """Asks one broker."""

    def __init__(self, broker: str, address: str, key: str, seconds: float = SECONDS) -> None:
        """Raises ArgusicError where the key would travel in the clear, or the address is more than one."""
        self.broker = broker
        self._address, self._key, self._seconds = address.rstrip("/"), key, seconds
        handlers: list[urllib.request.BaseHandler] = [_AsItIs()]
        if _plain(address, ADDRESS_VARIABLES[broker]):
            handlers.append(urllib.request.ProxyHandler({}))  # Nothing to loopback goes through another machine.
        self._opener = urllib.request.build_opener(*handlers)

    def ask(
        self,
        what: str,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        key: str | None = None,
    ) -> Reply:
        """The answer to one request, with `key` in place of the management key where there is one.

        `what` is the call as messages name it. Redirects are answers, and are not followed.

        Raises BrokerError where there is no answer, or one that is no JSON.
        """
        if printed(key := self._key if key is None else key) is None:
            raise BrokerError(f"{self.broker}: {what}: this is no key")
        url = f"{self._address}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = {"Authorization": f"Bearer {key}", "Accept": "application/json", "User-Agent": "argusic"}
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        asked = urllib.request.Request(url, data, headers, method=method)
        until = time.monotonic() + SECONDS_IN_ALL
        try:
            with self._opener.open(asked, timeout=self._seconds) as response:
                status: int = response.status
                said = self._read(response, what, until)
        except (OSError, http.client.HTTPException) as error:
            raise BrokerError(f"{self.broker}: {what}: no answer ({_why(error)})") from None
        if not said.strip():
            return Reply(status, None)
        try:
            return Reply(status, json.loads(said.decode(), parse_float=Decimal, parse_constant=_no_number))
        except (ValueError, RecursionError):
            raise self.trouble(what, status, "with something that is no JSON") from None

    def trouble(self, what: str, status: int, how: str = "") -> BrokerError:
        """An answer that cannot be used, in words."""
        hint = {
            401: f"is {KEY_VARIABLES[self.broker]} a management key?",
            402: "the broker's account is out of money",
            403: f"{KEY_VARIABLES[self.broker]} may not do that",
            429: "too many requests; try again later",
        }.get(status, "")
        if 300 <= status < 400:
            hint = f"it redirects, which is not followed; correct {ADDRESS_VARIABLES[self.broker]}"
        said = f"{self.broker}: {what}: the broker answered {status}{' ' + how if how else ''}"
        return BrokerError(said + (f"; {hint}" if hint else ""), status)

    def _read(self, response: Any, what: str, until: float) -> bytes:
        parts, left = [], MOST_BYTES
        while part := response.read1(min(left, 1 << 16) + 1):
            parts.append(part)
            left -= len(part)
            if left < 0:
                raise self.trouble(what, response.status, f"with more than {MOST_BYTES >> 20} MiB")
            if time.monotonic() > until:
                raise self.trouble(what, response.status, "too slowly")
        return b"".join(parts)


class _AsItIs(urllib.request.HTTPErrorProcessor):
    """Every answer is one: errors are not raised, redirects not followed."""

    def http_response(self, request: Any, response: Any) -> Any:
        return response

    https_response = http_response


def _plain(address: str, variable: str) -> bool:
    """Whether `address` is one without TLS; that is fine on loopback only."""
    try:
        parts = urlsplit(address)
        fine = bool(parts.hostname) and not (parts.username or parts.query or parts.fragment) and parts.port != 0
    except ValueError:
        fine = False
    if not fine or not address.isascii() or parts.scheme not in ("http", "https"):
        raise ArgusicError(f"{variable}: is no address such as https://HOST/PATH")
    if parts.scheme == "http" and not _loopback(parts.hostname or ""):
        raise ArgusicError(f"{variable}: must begin with https://, because a management key is sent there")
    return parts.scheme == "http"


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _no_number(name: str) -> Any:
    raise ValueError(name)


def _why(error: BaseException) -> str:
    """Why there is no answer, without a word that the other side said."""
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return getattr(reason, "strerror", None) or type(reason).__name__
