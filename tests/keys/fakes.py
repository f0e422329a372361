"""Brokers on loopback that behave as their documentation, their source and their users' reports say, bugs included.

Their keys are made when they are needed and open nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.support.web_server import serving

PAGE = 100


class Sent(NamedTuple):
    """An answer as it goes out."""

    status: int
    body: Any
    """Bytes go out as they are, anything else as JSON."""
    headers: dict[str, str] = {}  # noqa: RUF012


class Asked(NamedTuple):
    """A request as it came in."""

    what: str
    """One of create, show, delete, try, list."""
    key: str
    argument: Any
    """The body of a create; the id or ids of a show or delete; the query of a list."""


class Fake:
    """What both brokers have in common: keys, and the ways in which they go wrong."""

    def __init__(self) -> None:
        self.management = "-".join(["sk", "mgmt", _digest("management")[:40]])
        self.changing = threading.Lock()
        self.keys: dict[str, dict[str, Any]] = {}
        """The newest first."""
        self.secrets: dict[str, str] = {}
        self.asked: list[Asked] = []
        self.saved: Callable[[dict[str, Any]], dict[str, Any]] = lambda key: key
        """What of a key that was made is kept."""
        self.instead: dict[str, list[Sent | None]] = {}
        """Answers that go out in place of the next ones of a kind, without anything being done; None: the true one."""
        self.spends: list[float] = []
        """What a key has spent by each look at it; the last number stays."""
        self.cached = 0
        """So many calls with deleted keys still work."""
        self.deletes_for_real = True
        self.made: Callable[[], None] = lambda: None
        """Happens after a key was made and before that is answered."""

    def new(self, name: str, **facts: Any) -> str:
        """A key that somebody made before; its id."""
        with self.changing:
            secret = "-".join(["sk", "or", "v1", _digest(f"{len(self.secrets)}{id(self)}")])
            digest = _digest(secret)
            self.secrets[secret] = digest
            self.keys = {digest: self.saved(self.facts(name) | facts)} | self.keys
        return digest

    def names(self) -> list[str]:
        return [self.name_of(key) for key in [*self.keys.values()]]

    def answer(self, method: str, path: str, query: dict[str, str], body: Any, key: str) -> Sent:
        what, argument = self.route(method, path, query, body)
        self.asked.append(Asked(what, key, argument))
        waiting = self.instead.get(what, [])
        sent = waiting.pop(0) if waiting else None
        if sent is not None:
            return sent
        if what == "try":
            return self.tried(key)
        if key != self.management:
            return self.error(401, "management key required")
        done: Sent = getattr(self, what)(argument)
        return done

    def known(self, secret: str) -> bool:
        """Whether a key still works, be it out of a cache."""
        digest = self.secrets.get(secret, "")
        if digest in self.keys:
            return True
        if digest and self.cached:
            self.cached -= 1
            return True
        return False

    def looked_at(self, key: dict[str, Any], field: str) -> None:
        if self.spends:
            key[field] = self.spends.pop(0) if len(self.spends) > 1 else self.spends[0]

    def facts(self, name: str) -> dict[str, Any]:
        raise NotImplementedError

    def name_of(self, key: dict[str, Any]) -> str:
        raise NotImplementedError

    def route(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[str, Any]:
        raise NotImplementedError

    def tried(self, key: str) -> Sent:
        raise NotImplementedError

    def error(self, status: int, message: str) -> Sent:
        raise NotImplementedError

    def kill(self, pid: int) -> None:
        """Ends the process that asks for a key in the moment in which it was made."""
        self.made = lambda: os.kill(pid, signal.SIGKILL)


class FakeOpenRouter(Fake):
    """Pages of a hundred, expired keys only where they are asked for, no trace of a deleted key."""

    name = "openrouter"
    path = "/api/v1"

    def facts(self, name: str) -> dict[str, Any]:
        return {
            "name": name,
            "label": "sk-or-v1-0e6...1c96",
            "limit": None,
            "limit_remaining": None,
            "limit_reset": None,
            "usage": 0,
            "byok_usage": 0,
            "include_byok_in_limit": False,
            "disabled": False,
            "expires_at": None,
        }

    def name_of(self, key: dict[str, Any]) -> str:
        return str(key["name"])

    def route(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[str, Any]:
        rest = path.removeprefix("/api/v1")
        if rest == "/keys":
            return ("create", body) if method == "POST" else ("list", query)
        if rest == "/key":
            return "try", None
        return ("delete" if method == "DELETE" else "show"), unquote(rest.removeprefix("/keys/"))

    def create(self, body: dict[str, Any]) -> Sent:
        if len(body["expires_at"]) != len("2026-12-01T10:00:00Z"):
            return self.error(400, "Invalid ISO datetime")
        id = self.new(**{field: value for field, value in body.items() if value is not None})
        self.made()
        secret = next(secret for secret, digest in [*self.secrets.items()] if digest == id)
        # The answer says what was asked for, whatever was saved.
        return Sent(201, {"data": {"hash": id} | self.facts(body["name"]) | body, "key": secret})

    def show(self, id: str) -> Sent:
        if id not in self.keys:
            return self.error(404, "API key not found")
        self.looked_at(self.keys[id], "usage")
        return Sent(200, {"data": {"hash": id} | self.keys[id]})

    def delete(self, id: str) -> Sent:
        if id not in self.keys:
            return self.error(404, "API key not found")
        with self.changing:
            if self.deletes_for_real:
                del self.keys[id]
        return Sent(200, {"deleted": True})

    def list(self, query: dict[str, str]) -> Sent:
        shown = [
            {"hash": id} | key
            for id, key in [*self.keys.items()]
            if query.get("include_expired") == "true" or not _expired(key["expires_at"])
        ]
        offset = int(query.get("offset", "0"))
        return Sent(200, {"data": shown[offset : offset + PAGE]})

    def tried(self, key: str) -> Sent:
        if not self.known(key):
            return self.error(401, "User not found.")
        return Sent(200, {"data": {"label": "sk-or-v1-0e6...1c96", "limit": 3}})

    def error(self, status: int, message: str) -> Sent:
        return Sent(status, {"error": {"message": message, "code": status}})


class FakeLiteLLM(Fake):
    """Names are unique, a deleted key stays in an archive, an error shows an expired key, the end is a duration."""

    name = "litellm"
    path = ""

    def __init__(self) -> None:
        super().__init__()
        self.archive: dict[str, dict[str, Any]] = {}
        self.keeps_archive = True
        self.knows_search = True
        self.clock_behind = 0.0
        """Seconds that the proxy's clock shows too little."""
        self.over_budget = 0
        """The status of the answer to a key over its budget, which is another one in each version; 0: it has money."""

    def facts(self, name: str) -> dict[str, Any]:
        return {
            "key_alias": name,
            "key_name": "sk-...1c96",
            "max_budget": None,
            "budget_duration": None,
            "spend": 0.0,
            "expires": None,
            "blocked": None,
        }

    def name_of(self, key: dict[str, Any]) -> str:
        return str(key["key_alias"])

    def route(self, method: str, path: str, query: dict[str, str], body: Any) -> tuple[str, Any]:
        kinds = {"/key/generate": "create", "/key/info": "show", "/key/delete": "delete", "/key/list": "list"}
        return kinds.get(path, "try"), body or query

    def create(self, body: dict[str, Any]) -> Sent:
        if body["key_alias"] in self.names():
            return self.error(400, f"Key with alias '{body['key_alias']}' already exists.")
        ends = time.time() - self.clock_behind + int(body["duration"].removesuffix("s"))
        ends = datetime.fromtimestamp(ends, UTC).isoformat()
        id = self.new(body["key_alias"], max_budget=body["max_budget"], expires=ends)
        self.made()
        secret = next(secret for secret, digest in [*self.secrets.items()] if digest == id)
        asked = {"max_budget": body["max_budget"], "expires": ends}
        return Sent(200, {"key": secret, "token": secret, "token_id": id} | asked)

    def show(self, query: dict[str, str]) -> Sent:
        id = query["key"]
        if id in self.keys:
            self.looked_at(self.keys[id], "spend")
            return Sent(200, {"key": id, "info": self.keys[id] | {"status": "active"}})
        if id in self.archive and self.keeps_archive:
            return Sent(200, {"key": id, "info": self.archive[id] | {"status": "deleted", "deleted_at": "2026-12-01"}})
        return self.error(404, "Key not found in database", "not_found_error")

    def delete(self, body: dict[str, Any]) -> Sent:
        (id,) = body["keys"]
        if id not in self.keys:
            return Sent(404, {"detail": {"error": "No keys found"}})
        with self.changing:
            if self.deletes_for_real:
                self.archive[id] = self.keys.pop(id)
        return Sent(200, {"deleted_keys": [id]})

    def list(self, query: dict[str, str]) -> Sent:
        search = query.get("search", "") if self.knows_search else ""
        alias = query.get("key_alias")  # The whole of it, in versions that know nothing else.
        shown = [
            {"token": id} | key
            for id, key in [*self.keys.items()]
            if search in str(key["key_alias"]) and alias in (None, key["key_alias"])
        ]
        size, number = int(query.get("size", "10")), int(query.get("page", "1"))
        page = shown[(number - 1) * size : number * size]
        return Sent(200, {"keys": page, "total_count": len(shown), "current_page": number})

    def tried(self, key: str) -> Sent:
        if not self.known(key):
            hashed = _digest(key)
            said = f"Authentication Error, Invalid proxy server token passed. Key Hash (Token) ={hashed}."
            return self.error(401, said, "token_not_found_in_db")
        facts = self.keys.get(self.secrets[key], {})
        if _expired(facts.get("expires")):
            return self.error(401, "Authentication Error - Expired Key.", "expired_key", key)
        if self.over_budget:
            return self.error(self.over_budget, "Budget has been exceeded! Current cost: 3.1", "budget_exceeded")
        return Sent(200, {"data": [{"id": "mock-1"}], "object": "list"})

    def error(self, status: int, message: str, type: str = "auth_error", param: str = "None") -> Sent:
        return Sent(status, {"error": {"message": message, "type": type, "param": param, "code": str(status)}})


@contextlib.contextmanager
def running(fake: Fake) -> Iterator[str]:
    """The address of a broker as the runner's variable says it."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            said = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            key = self.headers.get("Authorization", "").removeprefix("Bearer ")
            body = json.loads(said) if said else None
            sent = fake.answer(self.command, parts.path, dict(parse_qsl(parts.query)), body, key)
            data = sent.body if isinstance(sent.body, bytes) else json.dumps(sent.body).encode()
            with contextlib.suppress(ConnectionError):
                self.send_response(sent.status)
                for name, value in sent.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        do_POST = do_DELETE = do_GET

        def log_message(self, *_: object) -> None:
            pass

    with serving(Handler) as address:
        yield address + fake.path


def _expired(moment: str | None) -> bool:
    return moment is not None and datetime.fromisoformat(moment) < datetime.now(UTC)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
