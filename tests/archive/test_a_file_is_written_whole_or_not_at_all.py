"""Killed, or with a full disk: the old file stays, or the new one is there; nothing half-written lies in its place."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from archive import atomic

CHECKOUT = Path(__file__).resolve().parents[2]


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`code` in a process of its own, because it is to die or to run out of disk."""
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=60
    )


FULL = """
import resource, sys
from pathlib import Path
from archive import atomic
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    getattr(atomic, sys.argv[1])(Path(sys.argv[2]), b"n" * 10_000)
except OSError as error:
    print("refused:", error.strerror)
"""
KILLED = """
import os, signal, sys
from pathlib import Path
from archive import atomic
Path.rename = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
atomic.write(Path(sys.argv[1]), b"new")
"""


def test_a_new_file_has_its_folder_and_its_content(tmp_path: Path) -> None:
    atomic.write(tmp_path / "a/b/file", b"content")
    assert (tmp_path / "a/b/file").read_bytes() == b"content"
    assert [path.name for path in (tmp_path / "a/b").iterdir()] == ["file"]


def test_a_reader_never_sees_a_mixture(tmp_path: Path) -> None:
    path = tmp_path / "file"
    atomic.write(path, b"old")
    with path.open("rb") as reader:
        atomic.write(path, b"new content")
        assert reader.read() == b"old"
    assert path.read_bytes() == b"new content"


def test_killed_before_the_rename_the_old_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(b"old")
    assert run(KILLED, str(path)).returncode == -9
    assert path.read_bytes() == b"old"
    assert list(tmp_path.glob("*.json")) == [path], "a left-over must not look like a document"


def test_with_a_full_disk_the_old_file_stays_and_nothing_is_left_over(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    assert run(FULL, "write", str(path)).stdout == "refused: File too large\n"
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_with_a_full_disk_nothing_is_appended(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(b"first\n")
    assert run(FULL, "append", str(path)).stdout == "refused: File too large\n"
    assert path.read_bytes() == b"first\n"


def test_lines_are_appended_in_order(tmp_path: Path) -> None:
    path = tmp_path / "a/ledger"
    for line in (b"first\n", b"second\n", b""):
        atomic.append(path, line)
    assert path.read_bytes() == b"first\nsecond\n"


def test_an_equal_file_is_left_untouched(tmp_path: Path) -> None:
    path = tmp_path / "file"
    assert atomic.write_if_new(path, b"content")
    os.utime(path, ns=(1, 1))
    assert not atomic.write_if_new(path, b"content")
    assert path.stat().st_mtime_ns == 1
    assert atomic.write_if_new(path, b"other")
    assert path.read_bytes() == b"other"


def test_a_symbolic_link_is_replaced_and_its_target_is_not_written(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"precious")
    link.symlink_to(target)
    atomic.write(link, b"new")
    assert target.read_bytes() == b"precious"
    assert not link.is_symlink()
    assert link.read_bytes() == b"new"


def test_a_place_that_cannot_be_written_raises_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        atomic.write(tmp_path / "folder", b"content")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
