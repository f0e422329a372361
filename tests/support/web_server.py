"""A web server on loopback: a folder as it is, or whatever a test answers."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

Answering = Callable[[BaseHTTPRequestHandler], None]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def serving(handler: Callable[..., BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server whose requests `handler` answers."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def folder(path: Path) -> Iterator[str]:
    """The files below `path`."""
    with serving(partial(_Quiet, directory=str(path))) as address:
        yield address


@contextlib.contextmanager
def answers(answer: Answering) -> Iterator[str]:
    """A server that does with each GET whatever `answer` does."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with contextlib.suppress(ConnectionError):
                answer(self)

        def log_message(self, *_: object) -> None:
            pass

    with serving(Handler) as address:
        yield address
