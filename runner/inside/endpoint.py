"""Passes connections of this machine's loopback on to the runner's socket; runs inside, standard library only.

Usage: endpoint.py PORT. Says "ready" when it listens.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import threading

DOOR = "/argusic/endpoint/socket"


def main(port: int) -> None:
    with socket.create_server(("127.0.0.1", port)) as listener:
        print("ready", flush=True)
        while True:
            client, _ = listener.accept()
            threading.Thread(target=pass_on, args=(client,), daemon=True).start()


def pass_on(client: socket.socket) -> None:
    with client, socket.socket(socket.AF_UNIX) as runner:
        try:
            runner.connect(DOOR)
        except OSError:
            return
        back = threading.Thread(target=pump, args=(runner, client), daemon=True)
        back.start()
        pump(client, runner)
        back.join()


def pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


if __name__ == "__main__":
    main(int(sys.argv[1]))
