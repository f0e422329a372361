"""Serves by hand: `python -m tests.model_server --commands FILE.json [--port N | --socket PATH] [--mode MODE]`.

FILE.json is a list of commands, or an object with "commands" and "closing".
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from pathlib import Path

from tests.model_server import MODES, ModelServer, Script

KEY_VARIABLE = "ARGUSIC_MODEL_SERVER_KEY"


def main(arguments: list[str]) -> int:
    """Serves until it is told to stop."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.model_server", description="A model over HTTP that says what a script says."
    )
    parser.add_argument("--commands", type=Path, required=True, help='a list, or {"commands": [...], "closing": "..."}')
    parser.add_argument("--port", type=int, default=0, help="of loopback; without it a free one")
    parser.add_argument("--socket", type=Path, help="a socket in place of a port")
    parser.add_argument("--mode", choices=MODES, default="ok")
    parser.add_argument("--slow-milliseconds", type=float, default=1.0, help="between two bytes in mode slow")
    given = parser.parse_args(arguments)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    server = ModelServer(
        script(given.commands),
        given.mode,
        os.environ.get(KEY_VARIABLE),
        port=given.port,
        socket=given.socket,
        slow_milliseconds=given.slow_milliseconds,
    )
    with server:
        print(given.socket or server.address, flush=True)
        stop.wait()
    return 0


def script(path: Path) -> Script:
    """The script in a file."""
    read = json.loads(path.read_text())
    if isinstance(read, list):
        return Script(tuple(read))
    return Script(tuple(read["commands"]), read.get("closing", "All done."))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
