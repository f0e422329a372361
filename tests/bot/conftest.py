"""A checkout and the local forge beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.forge.local import LocalForge
from tests.support.people import git


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """A checkout with one commit."""
    folder = tmp_path / "origin"
    (folder / "pools").mkdir(parents=True)
    (folder / "pools/a.toml").write_text("a = 1\n")
    (folder / "README.md").write_text("Read me.\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "First")
    return folder


@pytest.fixture
def forge(tmp_path: Path, origin: Path) -> LocalForge:
    return LocalForge(tmp_path / "forge", origin)
