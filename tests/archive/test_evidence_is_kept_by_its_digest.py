"""The store: equal bytes once, whole or not at all, found by digest and by nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive import places
from archive.canonical import digest
from archive.store import FolderStore, file_digest

CHECKOUT = Path(__file__).resolve().parents[2]
FULL = """
import resource, sys
from pathlib import Path
from archive.store import FolderStore
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    FolderStore(Path(sys.argv[1])).put(Path(sys.argv[2]))
except OSError as error:
    print("refused:", error.strerror)
"""


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def source(folder: Path, content: bytes, name: str = "source") -> Path:
    (folder / name).write_bytes(content)
    return folder / name


def test_a_file_is_found_by_the_digest_of_its_bytes(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "store")
    found = store.put(source(tmp_path, b"evidence"))
    assert found == digest(b"evidence")
    path = store.path(found)
    assert path == tmp_path / "store/sha256" / found[7:9] / found[7:]
    assert path.read_bytes() == b"evidence"


def test_equal_bytes_are_kept_once(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "store")
    first = store.put(source(tmp_path, b"evidence"))
    assert store.put(source(tmp_path, b"evidence", "other")) == first
    assert len(files(tmp_path / "store")) == 1


def test_what_is_not_there_is_none(tmp_path: Path) -> None:
    assert FolderStore(tmp_path).path(digest(b"nothing")) is None


@pytest.mark.parametrize(
    "text", ["", "abc", "md5:00", "sha256:" + "A" * 64, "sha256:" + "a" * 63, "sha256:../../" + "a" * 58]
)
def test_what_is_no_digest_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValueError, match="is no digest"):
        FolderStore(tmp_path).path(text)


def test_a_damaged_copy_is_replaced_by_a_whole_one(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "store")
    found = store.put(source(tmp_path, b"evidence"))
    path = store.path(found)
    assert path is not None
    for damage in (b"evidencf", b"evid", b""):
        path.write_bytes(damage)
        assert store.put(tmp_path / "source") == found
        assert path.read_bytes() == b"evidence"


def test_with_a_full_disk_nothing_is_kept_and_nothing_is_left_over(tmp_path: Path) -> None:
    big = source(tmp_path, os.urandom(10_000))
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(tmp_path / "store"), str(big)],
        cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.stdout == "refused: File too large\n"
    assert files(tmp_path / "store") == []


def test_a_source_that_is_not_there_raises(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        FolderStore(tmp_path / "store").put(tmp_path / "nothing")


@given(content=st.binary(max_size=300))
def test_any_bytes_come_back_as_they_went_in(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("store")
    store = FolderStore(folder / "store")
    found = store.put(source(folder, content))
    path = store.path(found)
    assert path is not None
    assert (path.read_bytes(), file_digest(path)) == (content, found)


def test_a_checkout_keeps_its_evidence_outside_of_git(tmp_path: Path) -> None:
    assert places.store(tmp_path).folder == tmp_path / ".argusic/evidence"
    assert places.spool(tmp_path) == tmp_path / ".argusic/spool"
    assert places.private(tmp_path) == tmp_path / ".argusic/private"
