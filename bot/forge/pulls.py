"""Pull requests of a local forge on disk: pulls/<n>.json, and pulls/<n>.md for people."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from archive import atomic
from archive.canonical import canonical
from archive.model import Digest, Model
from archive.pools import read_json
from bot.escape import text


class Pull(Model):
    """pulls/<n>.json. A person decides by writing "closed" or "merged" for `state`."""

    schema_version: Literal[1]
    number: Annotated[int, Field(ge=1)]
    branch: str
    base: str
    title: str
    state: Literal["open", "closed", "merged"]
    head: Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]
    """Last commit of the branch that this program made."""
    content: Digest
    """What the pull request says, as one digest."""
    body: str


def load(folder: Path) -> list[Pull]:
    """All pull requests by number. Raises DataErrors where a file is not what it must be."""
    paths = sorted(folder.glob("[0-9]*.json"), key=lambda path: (len(path.name), path.name))
    return [read_json(Pull, path) for path in paths]


def save(folder: Path, pull: Pull) -> None:
    """Writes both files where they differ; the readable one follows from the other and is repaired by it."""
    atomic.write_if_new(folder / f"{pull.number}.json", canonical(pull))
    atomic.write_if_new(folder / f"{pull.number}.md", _readable(pull).encode())


def _readable(pull: Pull) -> str:
    state = f"Pull request {pull.number}, {pull.state}: {text(pull.branch)} into {text(pull.base)}."
    return f"# {text(pull.title)}\n\n{state}\n\n{pull.body}"
