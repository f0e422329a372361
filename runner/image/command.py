"""Running a program of the build: its words only where it failed, and it never outlives the build."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Mapping

from archive.errors import MachineError

PATIENCE = 30
"""Seconds that a program has to clean up after itself when the build is stopped."""
CAUSES = {
    r"no space left on device|disk quota exceeded|enough free space": (
        "the disk is full; free some, or point TMPDIR elsewhere"
    ),
    r"certificate.verify.failed": "the network intercepts TLS; name its authority in SSL_CERT_FILE and PIP_CERT",
    r"could not resolve|temporary failure|failed to establish|unable to connect|failed to fetch|"
    r"network is unreachable|connection (?:refused|timed out|broken)": (
        "packages could not be reached; is there a network?"
    ),
    r"unable to locate package|no installation candidate": "the suite has no such package; correct variants.toml",
    r"do not match the hashes": "a package is not the one that constraints.txt names by its hash",
    r"no matching distribution|could not find a version": (
        "the index has no such package for this architecture and Python"
    ),
}
"""What a program says, and what that means to a person."""


def run(words: list[str], env: Mapping[str, str]) -> str:
    """Runs a program to its end; what it printed. Raises MachineError with the cause where it failed."""
    process = subprocess.Popen(
        words,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        # Ctrl-C reaches it through us: it is to end before its folder is removed.
        start_new_session=True,
        umask=0o022,
    )
    try:
        said, _ = process.communicate()
    except BaseException:
        _end(process)
        raise
    if process.returncode:
        raise MachineError(explained(words[0], process.returncode, said))
    return said


def explained(program: str, status: int, said: str) -> str:
    """One message of a failure: the cause where its words are known, and the first line that it called an error."""
    name = os.path.basename(program)  # noqa: PTH119
    cause = next((means for pattern, means in CAUSES.items() if re.search(pattern, said, re.IGNORECASE)), None)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"(?:E|ERROR|error|fatal)\b", line)]
    last = (errors[0] if errors else lines[-1] if lines else "it said nothing")[:300]
    return f"{name} ended with {status}: {f'{cause} ({last})' if cause else last}"


def _end(process: subprocess.Popen[str]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(PATIENCE / 2)
            break
        except subprocess.TimeoutExpired:
            continue
    process.communicate()
