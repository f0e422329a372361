"""Puts together what an agent's program left in its session files; runs inside its machine, after its end.

Usage: agent_left.py TARGET MOST PATTERN…. The regular files below the home that match one of the patterns, in the order
of their names, one after another, each ended by a line break; files beyond MOST bytes in all are left out and named.
Standard library only.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

HOME = Path("/home/agent")


def main(target: str, most: int, patterns: list[str]) -> int:
    names = sorted({path for pattern in patterns for path in HOME.glob(pattern)})
    with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as out:
        for path in names:
            try:
                handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            except OSError as error:
                print(f"left out: {str(path)!r}, {error.strerror}")
                continue
            try:
                found = os.fstat(handle)
                if not stat.S_ISREG(found.st_mode) or found.st_size > most:
                    print(f"left out: {str(path)!r}, {found.st_size} bytes")
                    continue
                data = read(handle, most)
            finally:
                os.close(handle)
            most -= len(data)
            out.write(data if data.endswith(b"\n") or not data else data + b"\n")
    return 0


def read(handle: int, most: int) -> bytes:
    parts = []
    while most and (part := os.read(handle, min(most, 1 << 20))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
