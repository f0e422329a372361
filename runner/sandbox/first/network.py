"""Closing the network of a container, before anything runs in it."""

from __future__ import annotations

import ctypes
import struct
import subprocess

SUPERUSER_RIGHTS = 1 << 5 | 1 << 6 | 1 << 7
"""What process 1 keeps in a container: CAP_KILL, CAP_SETGID, CAP_SETUID."""


def close_network(rules: str) -> None:
    """Applies firewall rules, then gives up every right but those of SUPERUSER_RIGHTS. Raises OSError."""
    done = subprocess.run(["nft", "-f", "-"], input=rules.encode(), capture_output=True, timeout=20, check=False)
    if done.returncode:
        raise OSError(f"nft: {done.stderr.decode(errors='replace').strip()[:500]}")
    header = struct.pack("=Ii", 0x20080522, 0)
    rights = struct.pack("=IIIIII", SUPERUSER_RIGHTS, SUPERUSER_RIGHTS, 0, 0, 0, 0)
    if ctypes.CDLL(None, use_errno=True).capset(header, rights):
        raise OSError(ctypes.get_errno(), "the rights over the network could not be given up")
