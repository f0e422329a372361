"""The windows on an X display, asked for over its socket in its own protocol: needs no program and no library."""

from __future__ import annotations

import contextlib
import socket
import struct
from dataclasses import dataclass

VIEWABLE = 2
INPUT_OUTPUT = 1
QUERY_TREE, ATTRIBUTES, GEOMETRY, INTERN, PROPERTY = 15, 3, 14, 16, 20
SECONDS = 5.0
TITLE_BYTES = 400


class NoDisplay(Exception):
    """No display answers, and why."""


@dataclass(frozen=True)
class Window:
    """A window that can be seen: a child of the root, since no window manager puts frames around them."""

    id: int
    title: str
    width: int
    height: int
    pid: int | None
    """Of its process, where the program says so."""


class Display:
    """A connection to one display, as a context."""

    def __init__(self, path: str) -> None:
        """`path` is its socket. Raises NoDisplay."""
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(SECONDS)
        try:
            self._socket.connect(path)
            self._socket.sendall(struct.pack("<BxHHHHxx", ord("l"), 11, 0, 0, 0))
            accepted, length, _, _, units = struct.unpack("<BBHHH", self._exactly(8))
            said = self._exactly(4 * units)
            if accepted != 1:
                raise NoDisplay(f"the display refuses: {said[:length].decode(errors='replace')}")
            vendor, formats = struct.unpack_from("<H", said, 16)[0], said[21]
            self._root: int = struct.unpack_from("<I", said, 32 + (vendor + 3) // 4 * 4 + 8 * formats)[0]
            self._pid, self._name = self._atom("_NET_WM_PID"), self._atom("_NET_WM_NAME")
        except (OSError, struct.error) as error:
            self._socket.close()
            raise NoDisplay(f"no display answers at {path}: {error}") from None
        except NoDisplay:
            self._socket.close()
            raise

    def __enter__(self) -> Display:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def windows(self) -> list[Window]:
        """All that can be seen now, lowest first. Raises NoDisplay where the display has gone."""
        try:
            return [found for window in self._children() if (found := self._window(window))]
        except (OSError, struct.error) as error:
            raise NoDisplay(f"the display has gone: {error}") from None

    def _children(self) -> list[int]:
        answer = self._ask(QUERY_TREE, struct.pack("<I", self._root))
        if answer is None:
            return []
        count = struct.unpack_from("<H", answer, 16)[0]
        return list(struct.unpack_from(f"<{count}I", answer, 32))

    def _window(self, window: int) -> Window | None:
        attributes = self._ask(ATTRIBUTES, struct.pack("<I", window))
        geometry = self._ask(GEOMETRY, struct.pack("<I", window))
        if attributes is None or geometry is None:  # Gone meanwhile.
            return None
        kind, shown = struct.unpack_from("<H", attributes, 12)[0], attributes[26]
        width, height = struct.unpack_from("<HH", geometry, 16)
        # Programs keep windows of one point to talk to each other.
        if kind != INPUT_OUTPUT or shown != VIEWABLE or width < 2 or height < 2:
            return None
        pid = self._property(window, self._pid)
        title = self._property(window, self._name) or self._property(window, 39)  # WM_NAME
        number = struct.unpack("<I", pid)[0] if len(pid) == 4 else None
        return Window(window, title.decode(errors="replace"), width, height, number)

    def _property(self, window: int, name: int) -> bytes:
        request = struct.pack("<IIIII", window, name, 0, 0, TITLE_BYTES // 4)
        answer = self._ask(PROPERTY, request)
        if answer is None:
            return b""
        size, count = answer[1], struct.unpack_from("<I", answer, 16)[0]
        return answer[32 : 32 + count * size // 8]

    def _atom(self, name: str) -> int:
        padded = name.encode().ljust((len(name) + 3) // 4 * 4, b"\0")
        answer = self._ask(INTERN, struct.pack("<Hxx", len(name)) + padded)
        return struct.unpack_from("<I", answer, 8)[0] if answer else 0

    def _ask(self, operation: int, body: bytes) -> bytes | None:
        """The answer to one request; None where it was refused."""
        self._socket.sendall(struct.pack("<BBH", operation, 0, 1 + len(body) // 4) + body)
        while True:
            answer = self._exactly(32)
            if answer[0] == 0:
                return None
            if answer[0] == 1:
                return answer + self._exactly(4 * struct.unpack_from("<I", answer, 4)[0])
            # Anything else is an event, which nobody asked for.

    def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            block = self._socket.recv(size - len(data))
            if not block:
                raise ConnectionResetError("it hung up")
            data += block
        return data


def answers(path: str) -> bool:
    """Whether a display answers at this socket."""
    with contextlib.suppress(NoDisplay), Display(path):
        return True
    return False
