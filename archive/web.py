"""Plain HTTP for stores: limited in size and time, and a token never leaves the host that it is for."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from archive.errors import MachineError
from archive.packing import Damaged

SECONDS = 60
"""Longest silence of a server."""
SLOWEST = 64 << 10
"""Bytes a second that an answer must come with in the long run."""


class Unreachable(MachineError):
    """A store gave no usable answer; nothing is known of what it holds."""


class Refused(Unreachable):
    """A server answered with an error."""

    def __init__(self, url: str, status: int, said: str, headers: Mapping[str, str]) -> None:
        self.status, self.said, self.headers = status, said, headers
        super().__init__(f"{shown(url)}: the server answered {status}" + (f": {said}" if said else ""))


class Answer:
    """The body of an answer, read with a limit on size and time."""

    def __init__(self, response: Any, url: str, most: int) -> None:
        self.status: int = response.status
        self.headers: Mapping[str, str] = response.headers
        self._response, self._url, self._left, self._most = response, url, most, most
        self._until = time.monotonic() + SECONDS + most / SLOWEST

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes, all without it; raises Damaged beyond the limit, Unreachable where it is cut."""
        if size < 0:
            return b"".join(iter(lambda: self.read(1 << 20), b""))
        if time.monotonic() > self._until:
            raise Unreachable(f"{shown(self._url)}: the answer comes too slowly")
        try:
            data: bytes = self._response.read1(min(size, self._left + 1))
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{shown(self._url)}: the answer broke off ({_why(error)})") from None
        if not data and self._response.length:
            raise Unreachable(f"{shown(self._url)}: the answer broke off, {self._response.length} bytes are missing")
        self._left -= len(data)
        if self._left < 0:
            raise Damaged(f"it is larger than {self._most} bytes")
        return data


@contextmanager
def request(
    url: str,
    *,
    most: int,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes | BinaryIO | None = None,
) -> Iterator[Answer]:
    """The answer to one request, at most `most` bytes of it. Raises Refused from 400 on, Unreachable without one."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise Unreachable(f"{shown(url)}: is no http or https address")
    asked = urllib.request.Request(url, data=body, method=method, headers=dict(headers or {}))
    try:
        with urllib.request.build_opener(_Redirects).open(asked, timeout=SECONDS) as response:
            yield Answer(response, url, most)
    except urllib.error.HTTPError as error:
        with error:
            said = error.read(2000).decode("utf-8", "replace")
        raise Refused(url, error.code, " ".join(said.split())[:300], dict(error.headers.items())) from None
    except (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError, ValueError) as error:
        raise Unreachable(f"{shown(url)}: no answer ({_why(error)})") from None


def shown(url: str) -> str:
    """`url` as messages name it: without query and without anybody's password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


class _Redirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        made = super().redirect_request(req, fp, code, msg, headers, newurl)
        if made is None:
            return None
        before, after = urlsplit(req.full_url), urlsplit(newurl)
        if after.scheme not in ("http", "https") or (before.scheme, after.scheme) == ("https", "http"):
            raise Unreachable(f"{shown(req.full_url)}: redirects to {after.scheme}, which is not followed")
        if (before.scheme, before.netloc) != (after.scheme, after.netloc):
            made.headers.pop("Authorization", None)
        return made


def _why(error: BaseException) -> str:
    reason = getattr(error, "reason", None) or error
    return getattr(reason, "strerror", None) or str(reason) or type(error).__name__
