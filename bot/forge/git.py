"""git in a fixed environment: no configuration of the machine or of a person, no prompt, one author."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from archive.errors import MachineError
from bot.forge import Content, read

NAME, EMAIL = "argusic bot", "bot@argusic.invalid"
"""The author of every commit this program makes."""
_REGULAR = "100644"


class Commit(NamedTuple):
    """A commit to be made."""

    parents: list[str]
    base: str | None
    """The commit whose files it begins with."""
    message: str
    day: str


class Git:
    """A bare repository."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, *arguments: str) -> str:
        """What git prints, without the last newline. Raises MachineError with its message where it fails."""
        done = self._run(arguments)
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip()
            raise MachineError(f"git {arguments[0]} failed in {self.folder}: {said}")
        return done.stdout.decode().rstrip("\n")

    def true(self, *arguments: str) -> bool:
        """Whether git exits with 0."""
        return self._run(arguments).returncode == 0

    def commit_of(self, ref: str) -> str | None:
        """The commit that `ref` names; None where there is no such ref."""
        done = self._run(("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"))
        return done.stdout.decode().strip() if done.returncode == 0 else None

    def commit(self, ref: str, commit: Commit, files: Iterable[tuple[str, Content]]) -> str:
        """Makes a commit and lets `ref` name it; its id.

        Objects go through one stream into one pack: 100,000 records as files of their own would take minutes. There
        is no index and no working tree that could be disturbed.
        """
        tree = self("rev-parse", f"{commit.base}^{{tree}}") if commit.base else None
        command = ["git", "fast-import", "--quiet", "--force", "--done", "--date-format=raw"]
        with tempfile.TemporaryFile() as problems:
            with subprocess.Popen(
                command, env=environment(self.folder), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=problems
            ) as process:
                assert process.stdin
                # Where git gives up early it says why below.
                with suppress(BrokenPipeError):
                    for block in _stream(ref, commit, tree, files):
                        process.stdin.write(block)
                    process.stdin.close()
            problems.seek(0)
            said = problems.read().decode(errors="replace").strip()
        made = self.commit_of(ref)
        if process.returncode or made is None:
            raise MachineError(f"git fast-import failed in {self.folder}: {said}")
        return made

    def _run(self, arguments: tuple[str, ...]) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                ["git", *arguments],
                env=environment(self.folder),
                capture_output=True,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        except FileNotFoundError:
            raise MachineError("git is not installed; publishing needs it") from None


def environment(folder: Path) -> dict[str, str]:
    """All that git sees of this machine."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C",
        "TZ": "UTC",
        "GIT_DIR": str(folder.absolute()),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": NAME,
        "GIT_AUTHOR_EMAIL": EMAIL,
        "GIT_COMMITTER_NAME": NAME,
        "GIT_COMMITTER_EMAIL": EMAIL,
    }


def _stream(ref: str, commit: Commit, tree: str | None, files: Iterable[tuple[str, Content]]) -> Iterator[bytes]:
    seconds = int(datetime.fromisoformat(commit.day).replace(tzinfo=UTC).timestamp())
    text = commit.message.encode()
    yield f"commit {ref}\ncommitter {NAME} <{EMAIL}> {seconds} +0000\ndata {len(text)}\n".encode() + text + b"\n"
    for number, parent in enumerate(commit.parents):
        yield f"{'merge' if number else 'from'} {parent}\n".encode()
    if tree:
        # git begins with the files of the first parent; they are to be the base's.
        yield f'M 040000 {tree} ""\n'.encode()
    for path, content in files:
        quoted = '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
        data = read(content)
        if data is None:
            yield f"D {quoted}\n".encode()
        else:
            yield f"M {_REGULAR} inline {quoted}\ndata {len(data)}\n".encode() + data + b"\n"
    yield b"\ndone\n"
