"""One request: which interface, which mode, the right key; then the answer, whole or as a stream."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from tests.model_server import chat, google, messages, responses
from tests.model_server.conversation import answer
from tests.model_server.modes import MODES, Api, Mode, Refusal, key_refused, not_found, not_understood, refusal
from tests.model_server.wire import CREATED, Event, cut, encoded

if TYPE_CHECKING:
    from tests.model_server.server import ModelServer

KEY_HEADERS = ("authorization", "x-api-key", "x-goog-api-key")
PATHS: dict[str, Api] = {
    "responses": "responses",
    "chat/completions": "chat",
    "messages": "messages",
    "messages/count_tokens": "messages",
    "models": "models",
}
SPOKEN = {"responses": responses, "chat": chat, "messages": messages, "google": google}
GOOGLE = re.compile(r"models/(?P<model>[^/:]+):(?P<stream>streamG|g)enerateContent")
_PATH = re.compile(r"(?:/m/(?P<mode>[^/]+))?(?:/[^/]+)*?/v1(?:beta)?/(?P<name>.+)")


class Request(NamedTuple):
    """A request as it arrived; what stood in it for the key is not kept."""

    method: str
    path: str
    """With its query."""
    mode: Mode | None
    """How it was answered; None for a path of no mode."""
    headers: dict[str, str]
    """By names in small letters; without the key's value."""
    key_ok: bool
    """Whether the key was the right one; True where the server asks for none."""
    body: Any
    """Its JSON; None where there was none."""


def handler(server: ModelServer, by_port: bool) -> type[BaseHTTPRequestHandler]:
    """Answers for `server`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Without this each event waits for the one before it to be confirmed.
        disable_nagle_algorithm = by_port

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            self._answer("GET")

        def do_POST(self) -> None:
            self._answer("POST")

        def _answer(self, method: str) -> None:
            found = _PATH.fullmatch(urlsplit(self.path).path)
            of_google = GOOGLE.fullmatch(found["name"]) if found else None
            api = "google" if of_google else PATHS.get(found["name"]) if found else None
            mode = found["mode"] or server.mode if found else server.mode
            known = mode if mode in MODES else None
            raw = self._body()
            body = _json(raw)
            key_ok = self._key_ok()
            number = server.arrived(Request(method, self.path, known, self._shown(), key_ok, body))
            if found is None or api is None or (api == "models") is not (method == "GET"):
                self._refuse(not_found(api or "chat", f"no {method} {urlsplit(self.path).path} here"))
            elif known is None:
                self._refuse(not_found(api, f"no mode {mode}; one of {', '.join(MODES)}"))
            elif not key_ok:
                self._refuse(key_refused(api))
            elif api == "models":
                self._models(known)
            elif not isinstance(body, dict):
                self._refuse(not_understood(api, "the body is no JSON object"))
            elif found["name"].endswith("/count_tokens"):
                self._whole(200, {"input_tokens": 1000})
            else:
                if of_google:
                    body |= {"model": of_google["model"], "stream": of_google["stream"] == "streamG"}
                self._speak(api, known, body, number)

        def _models(self, mode: Mode) -> None:
            if refused := refusal(mode, "models", 0):
                self._refuse(refused)
                return
            model = {"id": server.model, "object": "model", "created": CREATED, "owned_by": "script"}
            extra = {"type": "model", "display_name": server.model}
            self._whole(200, {"object": "list", "data": [model | extra], "has_more": False})

        def _speak(self, api: Api, mode: Mode, body: dict[str, Any], number: int) -> None:
            spoken = SPOKEN[api]
            asked = spoken.asked(body)
            if refused := refusal(mode, api, asked.results):
                self._refuse(refused)
                return
            made = answer(server.script, asked, mode, number)
            if not asked.stream:
                self._whole(200, spoken.whole(made), slow=mode == "slow")
                return
            events: Iterable[Event] = spoken.events(made, asked.usage_in_stream)
            if mode == "error-in-stream":
                events = spoken.failing(made)
            self._stream(cut(events) if mode in ("cut", "cut-connection") else events, mode)

        def _refuse(self, refused: Refusal) -> None:
            self._whole(refused.status, refused.body)

        def _whole(self, status: int, body: Any, slow: bool = False) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            for part in _bytes(data) if slow else (data,):
                self.wfile.write(part)
                self._pause(slow)

        def _stream(self, events: Iterable[Event], mode: Mode) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Cache-Control", "no-cache")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            slow = mode == "slow"
            for event in events:
                data = encoded(event)
                for part in _bytes(data) if slow else (data,):
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                    self._pause(slow)
            if mode == "cut-connection":
                self.wfile.write(b"ff\r\n: ")
                self.close_connection = True
            else:
                self.wfile.write(b"0\r\n\r\n")

        def _pause(self, slow: bool) -> None:
            if slow:
                self.wfile.flush()
                time.sleep(server.slow_milliseconds / 1000)

        def _key_ok(self) -> bool:
            if server.key is None:
                return True
            given = (self.headers.get(name, "").removeprefix("Bearer ") for name in KEY_HEADERS)
            known = server.key
            return any(map(known, given)) if callable(known) else known in given

        def _shown(self) -> dict[str, str]:
            found = {name.lower(): value for name, value in self.headers.items()}
            return found | {name: "(a key)" for name in KEY_HEADERS if name in found}

        def _body(self) -> bytes:
            if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
                return self.rfile.read(int(self.headers.get("Content-Length") or 0))
            parts = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                parts.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(parts)

    return Handler


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None


def _bytes(data: bytes) -> Iterable[bytes]:
    return (data[at : at + 1] for at in range(len(data)))
