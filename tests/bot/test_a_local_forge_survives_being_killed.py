"""The embedded forge is whole after any interruption (real git, real SIGKILL)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bot.forge import PullRequest
from bot.forge.local import LocalForge
from bot.forge.pulls import load
from tests.support.make import CHECKOUT
from tests.support.people import BRANCH, git, proposal, state_of


def test_a_lock_of_a_killed_run_does_not_stop_the_next(forge: LocalForge) -> None:
    forge.open_or_update(proposal())
    lock = forge.folder / f"repo.git/refs/heads/{BRANCH}.lock"
    lock.write_text("")
    assert forge.open_or_update(proposal("two")).change == "updated"
    assert not lock.exists()


def test_a_branch_without_its_files_is_completed(forge: LocalForge) -> None:
    """Cut off between the branch and the files that describe it."""
    forge.open_or_update(proposal())
    head = git(forge.folder / "repo.git", "rev-parse", BRANCH)
    for name in ("1.json", "1.md"):
        (forge.folder / "pulls" / name).unlink()
    assert forge.open_or_update(proposal()) == PullRequest(1, BRANCH, "open", "created")
    assert git(forge.folder / "repo.git", "rev-parse", BRANCH) == head
    (forge.folder / "pulls/1.md").unlink()
    assert forge.open_or_update(proposal()).change == "unchanged"
    assert (forge.folder / "pulls/1.md").is_file()


RUN = """
import sys
from pathlib import Path
from bot.forge import Proposal
from bot.forge.local import LocalForge
folder, origin, count = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
files = {f"results/{n}.json": b"x" * 2000 + str(n).encode() for n in range(count)}
print("ready", flush=True)
made = LocalForge(folder, origin).open_or_update(
    Proposal("argusic/publish-first", "main", "Title", "Body", files, "docs/cycles", "2026-12-02")
)
print(made.change, flush=True)
"""


@pytest.mark.parametrize("after", [0.0, 0.01, 0.03, 0.06, 0.1, 0.2, 0.4])
def test_killed_at_any_moment_the_next_run_completes(tmp_path: Path, origin: Path, after: float) -> None:
    folder, count = tmp_path / "forge", 3000
    command = [sys.executable, "-c", RUN, str(folder), str(origin), str(count)]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout
        assert process.stdout.readline() == b"ready\n"
        time.sleep(after)
        os.killpg(process.pid, signal.SIGKILL)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split()[1] in ("created", "unchanged")
    bare = folder / "repo.git"
    git(bare, "fsck", "--strict")
    assert len(git(bare, "ls-tree", "--name-only", BRANCH, "results/").split("\n")) == count
    (pull,) = load(folder / "pulls")
    assert pull.head == git(bare, "rev-parse", BRANCH)
    assert git(bare, "rev-list", "--count", f"main..{BRANCH}") == "1"
    before = state_of(folder)
    again = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert again.stdout.split()[1] == "unchanged"
    assert state_of(folder) == before


def test_two_at_once_make_one_pull_request(tmp_path: Path, origin: Path) -> None:
    command = [sys.executable, "-c", RUN, str(tmp_path / "forge"), str(origin), "500"]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    running = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = sorted(process.communicate()[0].split()[1] for process in running)
    assert said == ["created", "unchanged", "unchanged"]
    assert len(load(tmp_path / "forge/pulls")) == 1
