"""Asking whether a model's endpoint is there, for programs that wait for one without end.

Nothing but budget and limits ends an attempt, with this one exception: a program known to wait for ever, while the
harness itself finds the endpoint unreachable (MEASUREMENT §5: a silent build is not a hang; this is no build).
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from archive.reasons import Reason
from runner.watch import Halt

EVERY_SECONDS = 30.0
UNREACHABLE_SECONDS = 300.0
"""So long without a single connection, an endpoint is gone and no passing trouble."""
CONNECT_SECONDS = 10.0


class Watchman:
    """Looks at an endpoint again and again, and ends one attempt once it was unreachable for long."""

    def __init__(
        self,
        endpoint: str,
        halt: Halt,
        every: float = EVERY_SECONDS,
        patience: float = UNREACHABLE_SECONDS,
        reachable: Callable[[str], bool] | None = None,
    ) -> None:
        self._endpoint, self._halt, self._every, self._patience = endpoint, halt, every, patience
        self._reachable = reachable or answers
        self._over = threading.Event()
        threading.Thread(target=self._look, daemon=True).start()

    def end(self) -> None:
        """It looks no more."""
        self._over.set()

    def _look(self) -> None:
        last = time.monotonic()
        while not self._over.wait(self._every):
            if self._reachable(self._endpoint):
                last = time.monotonic()
            elif time.monotonic() - last >= self._patience and not self._over.is_set():
                detail = f"{urlsplit(self._endpoint).hostname} took no connection for {int(self._patience)} seconds"
                self._halt.now(Reason.PROVIDER_UNREACHABLE, detail)
                return


def answers(endpoint: str) -> bool:
    """Whether something takes a connection at `endpoint`."""
    parts = urlsplit(endpoint)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        with socket.create_connection((parts.hostname or "", port), CONNECT_SECONDS):
            return True
    except OSError:
        return False
