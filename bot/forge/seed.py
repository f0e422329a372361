"""The first commit of a new local forge: what the checkout has committed, or its declared pools."""

from __future__ import annotations

import subprocess
from pathlib import Path

from archive.errors import MachineError
from bot.forge.git import Commit, Git, environment


def seed(git: Git, origin: Path, base: str, day: str) -> None:
    """Makes the bare repository `git` with branch `base`: the commit that `origin` has checked out, or, where it has
    none, one commit of its pools/. Reads `origin` and writes nothing there."""
    git.folder.mkdir(parents=True)
    # No template: it would bring hooks of the machine.
    git("init", "--quiet", "--bare", "--template=", f"--initial-branch={base}")
    if checked_out(origin):
        # A checkout may be shallow, as those of CI are; its last commit is enough.
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--update-shallow")
        git("fetch", *options, str(origin.absolute()), f"HEAD:refs/heads/{base}")
        return
    pools = sorted(path for path in (origin / "pools").rglob("*") if path.is_file() and path.name != "plan.json")
    files = [(path.relative_to(origin).as_posix(), path) for path in pools]
    git.commit(f"refs/heads/{base}", Commit([], None, "The declared pools\n", day), files)


def checked_out(origin: Path) -> str | None:
    """The commit that `origin` has checked out; None where it is no checkout of its own or has no commit yet."""
    if not (origin / ".git").exists():
        return None
    known = environment(origin) | {"GIT_DIR": str((origin / ".git").absolute())}
    asked = ["git", "rev-parse", "--verify", "--quiet", "HEAD^{commit}"]
    try:
        done = subprocess.run(asked, env=known, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    except FileNotFoundError:
        raise MachineError("git is not installed; publishing needs it") from None
    return done.stdout.strip() if done.returncode == 0 else None
