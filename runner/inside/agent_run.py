"""Starts an agent's program in its machine: its files laid down, its two outputs shown and kept apart.

Usage: agent_run.py SETTING, a JSON file with argv and files. Runs inside the machine, standard library only; ends with
the exit status of the program, 128 and its number after a signal.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

KEPT = Path("/home/agent/.agent")
"""Where the outputs are kept: stdout and stderr."""


def main(setting: str) -> int:
    wanted = json.loads(Path(setting).read_text())
    for name, text in wanted["files"].items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    # Most programs run commands in a login shell, which sets another path before it reads this.
    (KEPT.parent / ".profile").write_text(f"export PATH={shlex.quote(os.environ['PATH'])}\n")
    KEPT.mkdir(exist_ok=True)
    # The terminal's own signals are for the program.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        program = subprocess.Popen(
            wanted["argv"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
    except OSError as error:
        (KEPT / "stderr").write_text(f"{wanted['argv'][0]}: {error.strerror}\n")
        sys.stderr.write(f"{wanted['argv'][0]}: {error.strerror}\n")
        return 127
    copies = [
        threading.Thread(target=copy, args=(stream, name), daemon=True)
        for stream, name in ((program.stdout, "stdout"), (program.stderr, "stderr"))
    ]
    for thread in copies:
        thread.start()
    status = program.wait()
    for thread in copies:
        # Something that it left running may hold its outputs open: its own are read by then.
        thread.join(2)
    return status if status >= 0 else 128 - status


def copy(stream: IO[bytes], name: str) -> None:
    with (KEPT / name).open("wb", 0) as kept:
        while data := os.read(stream.fileno(), 1 << 16):
            kept.write(data)
            while data:
                data = data[os.write(1, data) :]


if __name__ == "__main__":
    os._exit(main(sys.argv[1]))
