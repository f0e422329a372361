"""Lays the pinned commit into the project folder, before the agent's time begins; standard library and git only.

Runs in the agent's machine. Every object is given its name anew from its bytes, so what is checked out is what the pin
names. The repository has that one commit and the address it is cloned from, as a shallow clone has. Nothing of the
subject runs: there are no hooks and no filters, and links are laid down, never followed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

GIVEN = Path("/argusic/subject")
PROJECT = Path("/home/agent/project")


def main(given: Path, project: Path) -> int:
    os.environ |= {
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
    }
    # Nobody may ask the network while the harness works.
    os.environ["GIT_ALLOW_PROTOCOL"] = "none"
    for part in json.loads((given / "checkout.json").read_bytes()):
        place = project / part["path"]
        # The commit laid a folder down for each submodule; a link in its place is not followed.
        if not place.is_dir() or place.resolve() != project.resolve() / part["path"]:
            sys.stderr.write(f"{part['path']!r} is no folder of the commit\n")
            return 1
        check_out(place, given / part["pack"], part["commit"], part["url"])
        if part["path"]:
            top = Path(os.fsdecode(git(place.parent, "rev-parse", "--show-toplevel")).rstrip("\n"))
            git(top, "submodule", "--quiet", "init", "--", str(place.resolve().relative_to(top)), check=False)
    return 0


def check_out(place: Path, pack: Path, commit: str, url: str) -> None:
    git(place, "init", "--quiet", "--template=", "--initial-branch=main")
    packs = place / ".git/objects/pack"
    packs.mkdir(exist_ok=True)
    name = shutil.copyfile(pack, packs / f"pack-{commit}.pack")
    git(place, "index-pack", str(name))
    (place / ".git/shallow").write_text(f"{commit}\n")
    git(place, "remote", "add", "origin", url)
    git(place, "checkout", "--quiet", "--detach", commit)


def git(place: Path, *words: str, check: bool = True) -> bytes:
    """What git prints. Its own words on trouble stay on the terminal."""
    calm = ["-c", "core.hooksPath=/dev/null", "-c", "advice.detachedHead=false"]
    command = ["git", "-C", str(place), *calm, *words]
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=check).stdout


if __name__ == "__main__":
    sys.exit(main(GIVEN, PROJECT))
