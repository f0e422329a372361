"""Which measuring program this is: its commit and a digest over the files that take part in an attempt."""

from __future__ import annotations

import hashlib
import os
import subprocess
from functools import cache
from pathlib import Path

from archive.plan import Harness

CODE = Path(__file__).resolve().parent.parent
"""The checkout the program runs from."""
ROOMS = ("archive", "scoring", "runner")


@cache
def harness(code: Path = CODE) -> Harness:
    """The harness of the checkout at `code`."""
    total = hashlib.sha256()
    for room in ROOMS:
        for path in sorted((code / room).rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                name = path.relative_to(code).as_posix()
                total.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    total.update((code / "constraints.txt").read_bytes())
    # Variables of a surrounding git command name another repository.
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    asked = subprocess.run(["git", "rev-parse", "HEAD"], cwd=code, env=env, capture_output=True, text=True, check=False)
    return Harness(commit=asked.stdout.strip() if asked.returncode == 0 else None, digest=f"sha256:{total.hexdigest()}")
