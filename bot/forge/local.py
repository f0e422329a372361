"""A forge in a folder: a bare repository with branches, and pull requests as files beside it.

    <folder>/repo.git         main, and a branch for each pull request
    <folder>/pulls/<n>.json   what the pull request is
    <folder>/pulls/<n>.md     the same for people

A person merges with git, or decides by the `state` of the JSON file. Every step can be cut off: objects nobody names do
no harm, the branch moves in one step, and a file that is missing behind it is written by the next run.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from archive import atomic
from bot.forge import BranchTaken, Proposal, PullRequest
from bot.forge.git import EMAIL, Commit, Git
from bot.forge.pulls import Pull, load, save
from bot.forge.seed import seed

_BUILDING = "refs/argusic/building"
_ZERO = "0" * 40


class LocalForge:
    """The embedded `Forge`. `origin` is the checkout that a new forge's main branch is taken from."""

    def __init__(self, folder: Path, origin: Path) -> None:
        self.folder, self.origin = folder, origin
        self.git = Git(folder / "repo.git")

    def open_or_update(self, proposal: Proposal) -> PullRequest:
        """As `Forge.open_or_update`."""
        with self._locked():
            new = not self.git.folder.is_dir()
            self._ready(proposal)
            pulls = load(self.folder / "pulls")
            last = next((pull for pull in reversed(pulls) if pull.branch == proposal.branch), None)
            head = self.git.commit_of(f"refs/heads/{proposal.branch}")
            if last and (settled := self._settled(last, head, proposal, new)):
                return settled
            if head:
                self._refuse_foreign(proposal.branch, head)
            if last and last.state == "open" and (last.content, last.head) == (proposal.content, head):
                save(self.folder / "pulls", last)
                return PullRequest(last.number, last.branch, "open", "unchanged")
            commit = self._commit(proposal, head)
            if commit is None:
                return PullRequest(last.number if last else 0, proposal.branch, "merged", "unchanged")
            again = last is not None and last.state == "open" and not self._merged(last, proposal)
            number = last.number if last and again else max([0, *(pull.number for pull in pulls)]) + 1
            save(self.folder / "pulls", _pull(number, proposal, commit))
            return PullRequest(number, proposal.branch, "open", "updated" if again else "created")

    def _settled(self, last: Pull, head: str | None, proposal: Proposal, new: bool) -> PullRequest | None:
        """What a person decided about `last`, where that ends the matter."""
        merged = last.state == "merged" or self._merged(last, proposal)
        if last.state == "closed" and not merged:
            return PullRequest(last.number, last.branch, "closed", "unchanged")
        if merged:
            same = last.content == proposal.content
            return PullRequest(last.number, last.branch, "merged", "unchanged") if same else None
        # A branch that is gone under an open pull request was deleted by a person, unless the whole forge was.
        return PullRequest(last.number, last.branch, "closed", "unchanged") if head is None and not new else None

    def _merged(self, pull: Pull, proposal: Proposal) -> bool:
        return self.git.true("merge-base", "--is-ancestor", pull.head, f"refs/heads/{proposal.base}")

    def _refuse_foreign(self, branch: str, head: str) -> None:
        committer, author, name = self.git("log", "-1", "--format=%ce%n%ae%n%an", head, "--").split("\n")
        if (committer, author) != (EMAIL, EMAIL):
            raise BranchTaken(branch, head, name)

    def _commit(self, proposal: Proposal, head: str | None) -> str | None:
        """The branch's commit with the proposal's content; None where the base has all of it already."""
        mark = f"Argusic-Content: {proposal.content}"
        base = self.git.commit_of(f"refs/heads/{proposal.base}")
        assert base
        if head and mark in self.git("log", "-1", "--format=%B", head, "--"):
            return head  # a run before this one was cut off behind it
        behind = head is not None and not self.git.true("merge-base", "--is-ancestor", base, head)
        parents = [head, base] if head and behind else [head or base]
        message = f"{proposal.title}\n\n{mark}\n"
        branch = f"refs/heads/{proposal.branch}"
        for ref in (_BUILDING, branch):
            # Nobody else writes these two: a lock that lies there is of a run that was killed.
            (self.git.folder / f"{ref}.lock").unlink(missing_ok=True)
        listed = self.git("ls-tree", "-r", "-z", "--name-only", base, "--", f"{proposal.whole}/").split("\0")
        files = dict.fromkeys(filter(None, listed)) | dict(proposal.files)
        made = self.git.commit(_BUILDING, Commit(parents, base, message, proposal.day), sorted(files.items()))
        if self.git("rev-parse", f"{made}^{{tree}}") == self.git("rev-parse", f"{base}^{{tree}}"):
            self.git("update-ref", "-d", _BUILDING)
            return None
        self.git("update-ref", branch, made, head or _ZERO)
        self.git("update-ref", "-d", _BUILDING)
        return made

    def _ready(self, proposal: Proposal) -> None:
        """Makes the repository beside its place and moves it there whole."""
        if not self.git.folder.is_dir():
            unfinished = Git(self.folder / "repo.git.part")
            shutil.rmtree(unfinished.folder, ignore_errors=True)
            seed(unfinished, self.origin, proposal.base, proposal.day)
            unfinished.folder.rename(self.git.folder)
            atomic.sync_folder(self.folder)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One writer at a time; the lock is on the folder itself, so that locking writes nothing."""
        self.folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def _pull(number: int, proposal: Proposal, commit: str) -> Pull:
    return Pull(
        schema_version=1,
        number=number,
        branch=proposal.branch,
        base=proposal.base,
        title=proposal.title,
        state="open",
        head=commit,
        content=proposal.content,
        body=f"{proposal.body}\n<!-- argusic content {proposal.content} -->\n",
    )
