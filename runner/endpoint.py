"""A model's endpoint as a machine reaches it over the runner: for keys that must not enter a machine.

One socket for each attempt. Only requests to the model's own interface pass; the key is put in here, so that nothing in
the machine can read it; where a provider's refusal quotes it, it is taken out.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import shutil
import socket
import socketserver
import ssl
import tempfile
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from archive.errors import MachineError
from runner.agents.program import Api
from runner.sandbox import Machine, Mount
from runner.watch import TICK_SECONDS, Memory, take

SECONDS = 900.0
"""The longest silence of a provider: some models think for minutes."""
MOST_REQUEST_BYTES = 64 << 20
READY_SECONDS = 20.0
MOST_REFUSAL_BYTES = 1 << 20
_HOP = frozenset(
    ("connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding")
)
_KEYS = frozenset(("authorization", "x-api-key", "x-goog-api-key", "api-key"))
"""Headers in which a program says its key."""
PATHS: dict[Api, re.Pattern[str]] = {
    "openai-completions": re.compile(r"/v1/(chat/completions|models(/[\w./:-]*)?)"),
    "openai-responses": re.compile(r"/v1/(responses(/compact)?|models(/[\w./:-]*)?)"),
    "anthropic-messages": re.compile(r"/v1/(messages(/count_tokens)?|models(/[\w./:-]*)?)"),
    "google": re.compile(r"/v1(beta)?/models(/[\w./:-]*)?"),
}
"""What of a provider's interface is the model: with a shared key nothing else may be asked."""
HEADER: dict[Api, tuple[str, str]] = {
    "openai-completions": ("Authorization", "Bearer "),
    "openai-responses": ("Authorization", "Bearer "),
    "anthropic-messages": ("x-api-key", ""),
    "google": ("x-goog-api-key", ""),
}


class Door:
    """The runner's side: a socket in a folder that the machine sees."""

    def __init__(self, endpoint: str, apis: tuple[Api, ...], key: str | None, extra_ca: Path | None) -> None:
        """With `key` it replaces what a program says; without, a request's own key is passed on."""
        self._outer = Path(tempfile.mkdtemp(prefix=f"argusic-{os.getpid()}-"))
        try:
            folder = self._outer / "endpoint"
            folder.mkdir()
            folder.chmod(0o755)
            self._server = _Server(str(folder / "socket"), _Request)
            (folder / "socket").chmod(0o666)
        except BaseException:
            shutil.rmtree(self._outer, ignore_errors=True)
            raise
        self._server.endpoint, self._server.apis, self._server.key = urlsplit(endpoint), apis, key
        self._server.trust = ssl.create_default_context()
        if extra_ca is not None:
            self._server.trust.load_verify_locations(extra_ca)
        self.mount = Mount(folder, "/argusic/endpoint")
        self.port = _free_port()
        self.address = f"http://127.0.0.1:{self.port}{urlsplit(endpoint).path}"
        """Where programs in the machine find the model."""
        threading.Thread(target=self._server.serve_forever, args=(0.2,), daemon=True).start()

    def open(self, machine: Machine) -> None:
        """Starts the machine's side. MachineError where it does not come up."""
        words = ["python3", "-I", "-S", "/argusic/inside/endpoint.py", str(self.port)]
        session = machine.exec(words, "/", harness=True)
        sink = Memory()
        os.set_blocking(session.fileno(), False)
        for _ in range(int(READY_SECONDS / TICK_SECONDS)):
            take(session.fileno(), sink)
            if b"ready" in sink.data:
                return
            if session.poll() is not None:
                break
            threading.Event().wait(TICK_SECONDS)
        raise MachineError(f"the model's endpoint could not be opened in the machine ({sink.data[-200:]!r})")

    def close(self) -> None:
        """Nothing passes any more; a second call does nothing."""
        self._server.shutdown()
        self._server.server_close()
        shutil.rmtree(self._outer, ignore_errors=True)


class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    endpoint: Any
    apis: tuple[Api, ...]
    key: str | None
    trust: ssl.SSLContext

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that breaks off is the program's own matter."""


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._pass_on()

    do_POST = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed: a request may hold anything."""

    def _pass_on(self) -> None:
        base = self.server.endpoint.path
        path = self.path.partition("?")[0].removeprefix(base)
        api = next((api for api in self.server.apis if PATHS[api].fullmatch(path)), None)
        if api is None or ".." in path or not self.path.startswith(base):
            self._refuse(404, "this path is no part of the model's interface")
            return
        try:
            body = self._body()
        except ValueError as error:
            self._refuse(413, str(error))
            return
        upstream = self._upstream()
        try:
            upstream.request(self.command, self.path, body, self._headers(api))
            answer = upstream.getresponse()
        except (OSError, http.client.HTTPException):
            # As a program would see it that asks by itself: a connection that is not made.
            self.close_connection = True
            return
        with contextlib.closing(upstream):
            if answer.status >= 400:
                self._hand_back_refusal(answer)
            else:
                self._hand_back(answer)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            return b"".join(self._chunks())
        size = int(self.headers.get("Content-Length") or 0)
        if not 0 <= size <= MOST_REQUEST_BYTES:
            raise ValueError("larger than any request to a model")
        return self.rfile.read(size)

    def _chunks(self) -> Iterator[bytes]:
        total = 0
        while size := int(self.rfile.readline(100).partition(b";")[0], 16):
            total += size
            if size < 0 or total > MOST_REQUEST_BYTES:
                raise ValueError("larger than any request to a model")
            yield self.rfile.read(size)
            self.rfile.readline(100)
        while self.rfile.readline(8192).strip():
            pass

    def _upstream(self) -> http.client.HTTPConnection:
        to = self.server.endpoint
        if to.scheme == "https":
            return http.client.HTTPSConnection(to.hostname, to.port, timeout=SECONDS, context=self.server.trust)
        return http.client.HTTPConnection(to.hostname, to.port, timeout=SECONDS)

    def _headers(self, api: Api) -> dict[str, str]:
        own = self.server.key is None
        kept = {
            name: value
            for name, value in self.headers.items()
            if name.lower() not in _HOP | {"host", "content-length"} and (own or name.lower() not in _KEYS)
        }
        if self.server.key is not None:
            name, before = HEADER[api]
            kept[name] = before + self.server.key
        return kept

    def _hand_back(self, answer: http.client.HTTPResponse) -> None:
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in _HOP:
                self.send_header(name, value)
        whole = answer.length is not None or answer.status in (204, 304)
        if not whole:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            while data := answer.read1(1 << 16):
                self.wfile.write(data if whole else b"%x\r\n%b\r\n" % (len(data), data))
                self.wfile.flush()
        except (OSError, http.client.HTTPException):
            # An answer that is cut off stays cut off: no last chunk.
            self.close_connection = True
            return
        if answer.length:
            self.close_connection = True
        elif not whole:
            self.wfile.write(b"0\r\n\r\n")

    def _hand_back_refusal(self, answer: http.client.HTTPResponse) -> None:
        """Some brokers quote a key that they refuse."""
        try:
            said = answer.read(MOST_REFUSAL_BYTES)
        except (OSError, http.client.HTTPException):
            self.close_connection = True
            return
        key = (self.server.key or "").encode()
        said = said.replace(key, b"*" * len(key)) if key else said
        kept = [(name, value) for name, value in answer.getheaders() if name.lower() in ("content-type", "retry-after")]
        self._answer(answer.status, said, kept)

    def _refuse(self, status: int, why: str) -> None:
        said = f'{{"error": {{"message": "{why}"}}}}'.encode()
        self._answer(status, said, [("Content-Type", "application/json"), ("Connection", "close")])
        self.close_connection = True

    def _answer(self, status: int, said: bytes, headers: list[tuple[str, str]]) -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def address_string(self) -> str:
        return "machine"


def _free_port() -> int:
    """One that is free here, too: some sandboxes share the runner's network."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port: int = found.getsockname()[1]
        return port
