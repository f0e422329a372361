"""The server: a port of loopback or a socket in a folder, a thread for each connection, and what arrived."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import ThreadingHTTPServer
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from types import TracebackType
from typing import Any

from tests.model_server.conversation import Script
from tests.model_server.handler import Request, handler
from tests.model_server.modes import MODES, Mode


class ModelServer:
    """Serves `script` while it is open. `mode` is how it behaves for addresses without one of their own."""

    def __init__(
        self,
        script: Script,
        mode: Mode = "ok",
        key: str | Callable[[str], bool] | None = None,
        *,
        model: str = "mock-1",
        port: int = 0,
        socket: Path | None = None,
        slow_milliseconds: float = 1.0,
    ) -> None:
        """`key` is the one that is accepted, or says of any whether it is; None: any key will do. `model` is what stands in the list of models; any is answered.

        With `socket`, a path of at most 107 bytes, no port is opened.
        """
        if mode not in MODES:
            raise ValueError(f"no mode {mode!r}; one of {', '.join(MODES)}")
        self.script, self.mode, self.key, self.slow_milliseconds = script, mode, key, slow_milliseconds
        self.model, self._port, self._socket = model, port, socket
        self._lock = threading.Lock()
        self._requests: list[Request] = []
        self._server: ThreadingHTTPServer | _SocketServer | None = None

    def __enter__(self) -> ModelServer:
        made = handler(self, by_port=self._socket is None)
        server = _SocketServer(str(self._socket), made) if self._socket else _Server(("127.0.0.1", self._port), made)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self._server = server
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server
        self._server.shutdown()
        self._server.server_close()
        if self._socket:
            self._socket.unlink(missing_ok=True)

    @property
    def address(self) -> str:
        """Where the interfaces are below /v1. Raises ValueError where the server has a socket and no port."""
        if not isinstance(self._server, ThreadingHTTPServer):
            raise ValueError("the server is not open, or on a socket")
        return f"http://127.0.0.1:{self._server.server_port}"

    def at(self, mode: Mode) -> str:
        """Address at which it behaves as `mode`."""
        return f"{self.address}/m/{mode}"

    @property
    def requests(self) -> list[Request]:
        """What has arrived, in order."""
        with self._lock:
            return list(self._requests)

    def arrived(self, request: Request) -> int:
        """Keeps `request`; its number, from 1."""
        with self._lock:
            self._requests.append(request)
            return len(self._requests)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no trouble of the server's."""


class _SocketServer(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """As `_Server.handle_error`."""
