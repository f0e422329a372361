"""A person with git beside a local forge, what is proposed to it, and what "nothing was written" means."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from bot.forge import Proposal

BRANCH = "argusic/publish-first"
PERSON = {
    "GIT_AUTHOR_NAME": "A Person",
    "GIT_AUTHOR_EMAIL": "person@example.org",
    "GIT_COMMITTER_NAME": "A Person",
    "GIT_COMMITTER_EMAIL": "person@example.org",
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
}


def git(where: Path, *arguments: str) -> str:
    """git as a person has it."""
    asked = ["git", *arguments]
    return subprocess.run(asked, cwd=where, env=PERSON, capture_output=True, text=True, check=True).stdout.strip()


def state_of(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    """Every file with its bytes, time and number: what "nothing was written" means."""
    return {
        path.relative_to(folder).as_posix(): (
            path.read_bytes() if path.is_file() else b"",
            path.stat().st_mtime_ns,
            path.stat().st_ino,
        )
        for path in [folder, *sorted(folder.rglob("*"))]
    }


def proposal(text: str = "one", **changes: object) -> Proposal:
    values: dict[str, object] = {
        "branch": BRANCH,
        "base": "main",
        "title": "Publish cycle first",
        "body": "What changed.\n",
        "files": {"docs/a.md": text.encode(), "results/r.json": b"{}\n"},
        "whole": "docs/cycles",
        "day": "2026-12-02",
    }
    return Proposal(**(values | changes))  # type: ignore[arg-type]
