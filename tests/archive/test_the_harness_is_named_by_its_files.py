"""A cycle pins the program that measures: any file that takes part in an attempt changes its digest."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from archive.harness import CODE, ROOMS, harness


@pytest.fixture
def code(tmp_path: Path) -> Path:
    for room in ROOMS:
        (tmp_path / room).mkdir()
        (tmp_path / room / "part.py").write_text(f"# {room}\n")
    (tmp_path / "constraints.txt").write_text("pydantic==2\n")
    (tmp_path / "bot").mkdir()
    return tmp_path


def moved(code: Path, to: Path) -> Path:
    """The same files elsewhere: what is known of one place is not asked again."""
    shutil.copytree(code, to)
    return to


def test_the_digest_does_not_depend_on_the_place(code: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = moved(code, tmp_path_factory.mktemp("other") / "code")
    assert harness(code).digest == harness(other).digest


@pytest.mark.parametrize(
    "file", ["archive/part.py", "runner/part.py", "scoring/part.py", "runner/new.md", "constraints.txt"]
)
def test_a_changed_or_new_file_changes_it(code: Path, file: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = moved(code, tmp_path_factory.mktemp("other") / "code")
    (other / file).write_text("changed\n")
    assert harness(code).digest != harness(other).digest


@pytest.mark.parametrize("file", ["bot/page.py", "README.md", "runner/part.pyc"])
def test_what_takes_no_part_in_an_attempt_does_not(
    code: Path, file: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = moved(code, tmp_path_factory.mktemp("other") / "code")
    (other / file).write_text("changed\n")
    assert harness(code).digest == harness(other).digest


def test_outside_of_git_there_is_no_commit(code: Path) -> None:
    assert harness(code).commit is None


def test_in_a_checkout_the_commit_is_the_one_that_is_checked_out(code: Path) -> None:
    def git(*words: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        return subprocess.run(["git", *identity, *words], cwd=code, check=True, capture_output=True, text=True).stdout

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    assert harness(code).commit == git("rev-parse", "HEAD").strip()


def test_the_program_runs_from_this_checkout() -> None:
    assert (CODE / "archive/harness.py").is_file()
