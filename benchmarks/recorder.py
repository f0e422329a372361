"""The recorder against asciinema 2.4 on the same 200 MB of mixed terminal output, in turn."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import Measured, median, process
from runner.recorder import RECORDING, TERMINAL, Recorder
from runner.watch import Halt, drain, watch

MEGABYTES = 200
RATIO, MEMORY_MB = 1.3, 80


def bench() -> list[Measured]:
    """Five runs of each, in turn; throughput by the medians, exactness and memory by the worst."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        output = folder / "output"
        output.write_bytes(mixed(MEGABYTES * 1_000_000))
        command = f"stty -opost; exec cat {output}"
        ours, theirs, memory, exact = [], [], 0.0, True
        for _ in range(5):
            run = process([sys.executable, "-m", "benchmarks.recorder", str(folder), command])
            ours.append(run.seconds)
            memory = max(memory, run.peak_mb)
            exact = exact and same(folder, output)
            rec = [str(Path(sys.executable).with_name("asciinema")), "rec", "-q", "--overwrite", "-c", command]
            env = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm-256color", "ASCIINEMA_CONFIG_HOME": name}
            theirs.append(process([*rec, str(folder / "theirs.cast")], env=env).seconds)
    speed, other = MEGABYTES / median(ours), MEGABYTES / median(theirs)
    value = f"{speed:.0f} MB/s against {other:.0f} MB/s of asciinema 2.4: {speed / other:.2f} ×"
    return [
        Measured("recorder, 200 MB of mixed terminal output", value, f"≥ {RATIO} ×", speed / other >= RATIO),
        Measured("recorder, raw bytes and cast text", "exact" if exact else "DIFFERENT", "exact", exact),
        Measured("recorder, memory", f"{memory:.0f} MB", f"< {MEMORY_MB} MB", memory < MEMORY_MB),
    ]


def mixed(size: int) -> bytes:
    """Numbers, colours, progress bars, titles, wide characters and emoji: always the same."""
    chance = random.Random(1)
    lines = [
        f"\x1b[38;2;{n % 256};10;20mline {n} {chance.random()}\x1b[0m 漢字かな 🚀 naïve\r\n"
        f"\x1b]0;title {n}\x07 {n % 100} %\r"
        for n in range(4000)
    ]
    block = "".join(lines).encode()
    return (block * (size // len(block) + 1))[:size]


def same(folder: Path, output: Path) -> bool:
    """Whether the raw file equals the output and the cast's text is the same characters."""
    wanted = output.read_bytes()
    if (folder / TERMINAL).read_bytes() != wanted:
        return False
    text = hashlib.sha256()
    with (folder / RECORDING).open(encoding="utf-8") as cast:
        next(cast)
        for line in cast:
            text.update(json.loads(line)[2].encode())
    return text.digest() == hashlib.sha256(wanted.decode("utf-8", "replace").encode()).digest()


class Local:
    """A program on a terminal of this computer, as a `Session`."""

    def __init__(self, command: str) -> None:
        import pty

        self.terminal, theirs = pty.openpty()
        self.process = subprocess.Popen(["sh", "-c", command], stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        self.memory_events: list[object] = []

    def fileno(self) -> int:
        return self.terminal

    def poll(self) -> int | None:
        return self.process.poll()


def record(folder: Path, command: str) -> None:
    """Records `command` into `folder` with the parts that an attempt uses."""
    recorder = Recorder(folder, b"benchmark", 0)
    session = Local(command)
    watch(session, recorder, seconds=600, most_bytes=1 << 40, halt=Halt())  # type: ignore[arg-type]
    drain(session, recorder)  # type: ignore[arg-type]
    recorder.close()


if __name__ == "__main__":
    record(Path(sys.argv[1]), sys.argv[2])
