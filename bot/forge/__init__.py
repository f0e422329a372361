"""Where pull requests live: GitHub, or a local folder. One per purpose, and a person's decision always stands."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from archive.canonical import digest
from archive.errors import ArgusicError

Content = Path | bytes | None
"""A file to read, bytes, or None for a file that goes."""


class PullRequest(NamedTuple):
    """A pull request after `open_or_update`."""

    number: int
    """0 where there is none: the base has everything already."""
    branch: str
    state: Literal["open", "closed", "merged"]
    """Closed and merged are decisions of a person, and stay."""
    change: Literal["created", "updated", "unchanged"]


@dataclass(frozen=True)
class Proposal:
    """What a pull request is to contain."""

    branch: str
    """One branch for each purpose; by it the pull request is found again."""
    base: str
    title: str
    body: str
    """Markdown, under 65,000 characters."""
    files: Mapping[str, Content]
    """By path in the repository; files that are not named stay as they are in the base."""
    whole: str
    """A folder of which nothing stays but what `files` name."""
    day: str
    """Date of the commit, taken from the content, so that equal content makes an equal commit."""

    @cached_property
    def content(self) -> str:
        """Digest of everything that a reader sees; equal ones need no update."""
        total = hashlib.sha256(f"{self.title}\n{self.body}\n{self.base}\n{self.day}\n{self.whole}\n".encode())
        for path in sorted(self.files):
            data = read(self.files[path])
            total.update(f"{path}\0{digest(data) if data is not None else 'gone'}\n".encode())
        return f"sha256:{total.hexdigest()}"


class BranchTaken(ArgusicError):
    """A person's commit stands on the branch; nothing is pushed over it."""

    def __init__(self, branch: str, commit: str, author: str) -> None:
        self.branch, self.commit, self.author = branch, commit, author
        super().__init__(
            f"branch {branch}: its last commit {commit[:12]} is by {author} and not by this program; "
            "merge it, or delete the branch, and run the command again"
        )


class Forge(Protocol):
    """A place for pull requests."""

    def open_or_update(self, proposal: Proposal) -> PullRequest:
        """Makes the pull request of `proposal.branch` say what `proposal` says.

        Equal content writes nothing. One that a person closed stays closed and is returned as it is. Raises
        `BranchTaken` where the branch ends in a commit of somebody else.
        """


def read(content: Content) -> bytes | None:
    """The bytes of a content."""
    return content.read_bytes() if isinstance(content, Path) else content
