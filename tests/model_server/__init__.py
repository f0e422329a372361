"""A scripted model: it has no mind of its own, says the same to everybody, and can fail in all ways that models fail.

Speaks the interfaces of three kinds of provider over real HTTP, with streams, usage and refusals as they really come.
What it is to do, it takes from a request's own history: the number of tool results in it says which command is next.
Figures of usage: call 1 in 1000 (cached 400) out 50 (reasoning 20); later ones 1500, 900, 70, 30.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple

from tests.model_server import anthropic, completions, refusals, responses


class Script(NamedTuple):
    """What the model has done: shell commands one after another, then its last words."""

    commands: tuple[str, ...]
    closing: str = "The commands were run."


class Asked(NamedTuple):
    """One request that arrived."""

    path: str
    key: str
    """The key that it came with, in whichever header."""
    body: Any


SHAPES = {
    "/v1/responses": responses,
    "/v1/chat/completions": completions,
    "/v1/messages": anthropic,
}
MODES = ("ok", "no-tool", "empty", "no-usage", "cut", "error-in-stream", "after-one:402", *refusals.REFUSALS)


class ModelServer:
    """One server for as long as the block; `address` is what programs take as their endpoint."""

    def __init__(
        self, script: Script, mode: str = "ok", knows: Callable[[str], bool] = lambda _: True, port: int = 0
    ) -> None:
        """`mode` is one of MODES, or "after-one:" and a refusal; a key that the server does not know is refused."""
        self.script, self.mode, self.knows = script, mode, knows
        self.asked: list[Asked] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
        self._http.daemon_threads = True
        self._http.model = self  # type: ignore[attr-defined]
        self.address = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> ModelServer:
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._http.shutdown()
        self._http.server_close()


class Turn(NamedTuple):
    """What the model answers to one request."""

    number: int
    """Tool results that the request knows of: 0 in the first one."""
    command: str | None
    text: str | None
    usage: tuple[int, int, int, int] | None
    """Input, the part of it that was cached, output, the part of that which was reasoning."""


def turn(script: Script, mode: str, results: int) -> Turn:
    """The answer after `results` tool results."""
    usage = None if mode == "no-usage" else (1000, 400, 50, 20) if results == 0 else (1500, 900, 70, 30)
    if mode == "empty":
        return Turn(results, None, "", usage)
    if mode != "no-tool" and results < len(script.commands):
        return Turn(results, script.commands[results], None, usage)
    words = "I have installed and verified everything." if mode == "no-tool" else script.closing
    return Turn(results, None, words, usage)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(200, {"object": "list", "data": [{"id": "mock-1", "object": "model"}]})

    def do_POST(self) -> None:
        model: ModelServer = self.server.model  # type: ignore[attr-defined]
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        path = self.path.partition("?")[0]
        key = self.headers.get("x-api-key") or self.headers.get("Authorization", "").removeprefix("Bearer ")
        model.asked.append(Asked(path, key, body))
        shape = next((shape for end, shape in SHAPES.items() if path.endswith(end)), None)
        if shape is None:
            self._answer(404, {"error": {"message": "no such path", "type": "not_found_error"}})
            return
        results = shape.results(body)
        refusal = model.mode if model.knows(key) else "401"
        if refusal.startswith("after-one:"):
            refusal = refusal.removeprefix("after-one:") if results else "ok"
        if refusal in refusals.REFUSALS:
            status, said = refusals.REFUSALS[refusal]
            self._answer(status, said)
            return
        said_now = turn(model.script, model.mode, results)
        if not body.get("stream"):
            self._answer(200, shape.whole(body, said_now))
            return
        events = list(shape.events(body, said_now))
        if model.mode == "cut":
            events = events[: max(1, len(events) // 2)]
        if model.mode == "error-in-stream":
            events = [*events[:1], shape.broken()]
        self._stream(iter(events), whole=model.mode != "cut")

    def _stream(self, events: Iterator[bytes], whole: bool) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
            self.wfile.flush()
        if whole:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def _answer(self, status: int, said: Any) -> None:
        data = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        pass
