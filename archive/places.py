"""Where a checkout keeps what is not committed."""

from __future__ import annotations

from pathlib import Path

from archive.store import FolderStore


def store(root: Path) -> FolderStore:
    """The evidence store of a checkout: the embedded folder backend."""
    return FolderStore(root / ".argusic/evidence")


def spool(root: Path) -> Path:
    """Folder of attempts that are under way; only the runner's user may read it."""
    return root / ".argusic/spool"


def quarantine(root: Path) -> Path:
    """Folder of what is to be served and is not proven clean yet, a folder a run."""
    return root / ".argusic/quarantine"


def held(root: Path) -> Path:
    """Folder of what is proven clean and waits for the end of its key: a store a run."""
    return root / ".argusic/held"


def private(root: Path) -> Path:
    """Folder of commitment keys and of stages that are not served: kept for an auditor, never published."""
    return root / ".argusic/private"
