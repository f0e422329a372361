"""What git knows of a checkout, asked with plumbing commands: exact bytes of names, no configuration in between."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from archive.errors import ArgusicError

FILE, PROGRAM, LINK, MODULE, SPECIAL = "100644", "100755", "120000", "160000", "000000"
"""Modes of git: a file, a file that can be executed, a symbolic link, a commit of another repository; and what git
cannot hold, such as a pipe."""


class Entry(NamedTuple):
    """What lies at a path: its mode and the id of its content."""

    mode: str
    id: str


Tree = dict[str, Entry]
"""Path, relative to the root, to what lies there; stray bytes of a name as surrogates."""


class GitError(ArgusicError):
    """Git cannot answer; the message says what it said."""


class Git:
    """The checkout at `root`, which may be a folder inside of a larger repository."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._ask("rev-parse", "--is-inside-work-tree")
        self.algorithm = self._ask("rev-parse", "--show-object-format").decode().strip()

    def commit(self, name: str) -> str:
        """The id of a commit. Raises GitError where there is no such one."""
        try:
            return (
                self._ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").decode().strip()
            )
        except GitError:
            hint = "; a shallow clone may lack it, then fetch it first"
            raise GitError(f"there is no commit {name!r} in {self.root}{hint}") from None

    def merge_base(self, one: str, other: str) -> str | None:
        """The newest commit that both come from."""
        try:
            return self._ask("merge-base", one, other).decode().strip() or None
        except GitError:
            return None

    def commits(self, since: str) -> Iterator[tuple[str, list[str]]]:
        """Each commit that HEAD has and `since` has not, oldest first, with its parents."""
        for line in (
            self._ask("rev-list", "--reverse", "--topo-order", "--parents", f"{since}..HEAD").decode().split("\n")
        ):
            if line:
                commit, *parents = line.split()
                yield commit, parents

    def changes(self, before: str | None, after: str, *folders: str) -> tuple[Tree, Tree]:
        """What differs below `folders` between two commits, as it was and as it is; None is the empty tree."""
        old = before or self._ask("hash-object", "-t", "tree", "--stdin").decode().strip()
        parts = self._parts("diff-tree", "-r", "-z", "--no-renames", "--relative", old, after, "--", *folders)
        was: Tree = {}
        now: Tree = {}
        for facts, path in zip(parts[::2], parts[1::2], strict=True):
            mode, new_mode, name, new_name, _ = facts.decode().lstrip(":").split()
            for tree, entry in ((was, Entry(mode, name)), (now, Entry(new_mode, new_name))):
                if entry.mode != "000000":
                    tree[os.fsdecode(path)] = entry
        return was, now

    def tree(self, commit: str, *folders: str) -> Tree:
        """Everything below `folders` in a commit."""
        return {
            path: Entry(mode, name) for path, mode, name in self._listed(0, 2, "ls-tree", "-r", "-z", commit, *folders)
        }

    def index(self, *folders: str) -> Tree:
        """Everything below `folders` in the index; of a path in conflict, one of its versions."""
        return {path: Entry(mode, name) for path, mode, name in self._listed(0, 1, "ls-files", "-s", "-z", *folders)}

    def files(self, *folders: str) -> Tree:
        """Everything below `folders` on disk, untracked and ignored files too, by its real bytes."""
        found: Tree = {}
        for folder in folders:
            steps = [self.root.joinpath(*Path(folder).parts[: n + 1]) for n in range(len(Path(folder).parts))]
            for path in [step for step in steps if step.is_symlink()][:1] or self._below(steps[-1]):
                found[path.relative_to(self.root).as_posix()] = self._on_disk(path)
        return found

    def content(self, name: str) -> bytes:
        """The bytes of a stored file."""
        return self._ask("cat-file", "blob", name)

    def _below(self, top: Path) -> Iterator[Path]:
        for folder, folders, names in os.walk(top):
            yield from (Path(folder, name) for name in names)
            for path in (Path(folder, name) for name in folders):
                if path.is_symlink() or (path / ".git").exists():
                    yield path

    def _on_disk(self, path: Path) -> Entry:
        kind = path.lstat().st_mode
        if stat.S_ISLNK(kind):
            return Entry(LINK, self._id(os.fsencode(path.readlink())))
        if not stat.S_ISREG(kind):
            return Entry(MODULE if stat.S_ISDIR(kind) else SPECIAL, "")
        return Entry(PROGRAM if kind & 0o100 else FILE, self._id(path.read_bytes()))

    def _id(self, data: bytes) -> str:
        return hashlib.new(self.algorithm, b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()

    def _listed(self, mode: int, name: int, *words: str) -> Iterator[tuple[str, str, str]]:
        """Path, mode and id of each line that a command lists; `mode` and `name` say where in a line they stand."""
        for line in self._parts(*words):
            facts, path = line.split(b"\t", 1)
            fields = facts.decode().split()
            yield os.fsdecode(path), fields[mode], fields[name]

    def _parts(self, *words: str) -> list[bytes]:
        return [part for part in self._ask(*words).split(b"\0") if part]

    def _ask(self, *words: str) -> bytes:
        # A repository that the environment names is not the one at `root`, and a replaced object not the real one.
        env = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        env |= {"LC_ALL": "C", "GIT_NO_REPLACE_OBJECTS": "1", "GIT_LITERAL_PATHSPECS": "1", "GIT_OPTIONAL_LOCKS": "0"}
        try:
            done = subprocess.run(["git", *words], cwd=self.root, env=env, capture_output=True, check=False)
        except OSError as error:
            raise GitError(f"git in {self.root}: {error.strerror}") from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip() or f"exit {done.returncode}"
            raise GitError(f"git {words[0]} in {self.root}: {said}")
        return done.stdout
