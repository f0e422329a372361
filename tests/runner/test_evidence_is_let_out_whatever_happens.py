"""Letting evidence out of quarantine, killed at any moment and twice at once: all of it is out in the end, and nothing
is lost."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from archive import places, releases
from archive.backends import parcel
from archive.store import FolderStore, file_digest
from tests.audit.making import certified, checkout, evidence, made, rewrite

CHECKOUT = Path(__file__).resolve().parents[2]
RELEASE = """
import sys
from pathlib import Path
from runner.release import release
print("ready", flush=True)
sys.stdin.readline()
for one in release(Path(sys.argv[1]), "first", lambda record: True):
    print(one.run, flush=True)
"""
KEY = {"kind": "own", "deletion_confirmed": False, "cap_micro_usd": 1, "expires_at": "2030-01-01T00:00:00Z"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs whose evidence waits."""
    root = checkout(tmp_path_factory.mktemp("whole"), agents=["agent-a"], records_until=6)
    rewrite(root, lambda one: certified(root, evidence(root, one)) | {"key": KEY})
    store = places.store(root)
    for record in made(root):
        held = FolderStore(places.held(root) / record.run)
        for digest, most in parcel(record).objects.items():
            assert store.fetch(digest, root / ".argusic/one", most)
            held.put(root / ".argusic/one")
    shutil.rmtree(store.folder)
    return root


@pytest.fixture
def root(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "root")
    return tmp_path / "root"


def started(root: Path) -> subprocess.Popen[str]:
    """A process that lets evidence out once it is sent a line."""
    words = [sys.executable, "-c", RELEASE, str(root)]
    process = subprocess.Popen(
        words, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    return process


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.flush()


def all_is_out(root: Path) -> None:
    store = places.store(root)
    for record in made(root):
        assert not releases.waits(root, record)
        for digest, most in parcel(record).objects.items():
            assert store.fetch(digest, root / "back", most)
            assert file_digest(root / "back") == digest
    assert list(places.held(root).iterdir()) == []


def test_one_that_is_killed_at_any_moment_is_finished_by_the_next(root: Path) -> None:
    chance = random.Random(20261201)
    for _ in range(8):
        process = started(root)
        go(process)
        time.sleep(chance.uniform(0, 0.03))
        process.kill()
        process.communicate()
        store = places.store(root)
        for record in made(root):
            held = FolderStore(places.held(root) / record.run)
            out = not releases.waits(root, record)
            for digest in parcel(record).objects:
                assert store.has(digest) if out else held.has(digest)
    process = started(root)
    _, said = process.communicate("\n", timeout=60)
    assert (process.returncode, said) == (0, "")
    all_is_out(root)


def test_several_at_once_do_not_disturb_each_other(root: Path) -> None:
    processes = [started(root) for _ in range(4)]
    for process in processes:
        go(process)
    said = [process.communicate(timeout=60)[1] for process in processes]
    assert (said, [process.returncode for process in processes]) == ([""] * 4, [0] * 4)
    all_is_out(root)
