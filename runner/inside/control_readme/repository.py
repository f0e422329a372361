"""A repository that lies in the project folder already: what kind of project it is, and how its README builds it."""

import configparser
import dataclasses
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from .commands import NOT_FOR_USERS, PIP, PLACEHOLDER, Step, commands
from .fences import Block
from .task import Task

FILE_BYTES = 1 << 20
MAX_BUILDS = 5
_KINDS = {
    "pypi": ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt"),
    "npm": ("package.json",),
    "make": ("Makefile", "makefile", "GNUmakefile"),
}
"""Ecosystem -> the files by which one knows it; the first that is there decides."""
_BUILDS = re.compile(
    r"(?:python3?\s+-m\s+)?pip3?\s+install\s+(?:-\S+\s+)*(?:\.\S*|['\"]\.\[[\w,-]+\]['\"]|\S+\.txt)\s*$"
    r"|(?:npm\s+(?:ci|install|i|run\s+build)|yarn(?:\s+install|\s+build)?|pnpm\s+(?:install|i|build))\s*$"
    r"|make(?:\s+(?:all|build|install|-j\s*\d*))*\s*$|\./(?:configure|autogen\.sh|bootstrap)\b|cmake\s|meson\s|ninja\b"
    r"|go\s+build\b|cargo\s+build\b|(?:gcc|cc|g\+\+|clang|javac)\s"
)
_EXTRAS = re.compile(r"\.\[[\w,-]+\]")
_ON_THE_WAY = re.compile(r"(?:mkdir|cd)\s+(?:-p\s+)?[\w./-]+\s*$")
_THERE_ALREADY = re.compile(
    r"git\s+(?:clone|submodule|checkout)\b|(?:python3?|virtualenv|uv)\s.*venv\b|(?:source|\.)\s"
)


def recognised(task: Task) -> Task:
    """The task with the ecosystem and the name that the repository's own files state. Nothing of it runs."""
    there = {path.name for path in task.project.iterdir()}
    kind = next((kind for kind, files in _KINDS.items() if there & set(files)), "")
    bare = task.name.rpartition("/")[2]
    return dataclasses.replace(task, ecosystem=kind, name=_name(task.project, kind) or bare)


def builds(task: Task, found: list[Block], repository: str) -> list[Step]:
    """How to build and install it: the README's own lines; where it has none, what its files call for."""
    steps = [Step(command) for block in found if (command := _build(block, repository))]
    if steps:
        return list(dict.fromkeys(steps))[:MAX_BUILDS]
    setup = any((task.project / name).exists() for name in _KINDS["pypi"][:3])
    usual = {"pypi": f"{PIP} install {'.' if setup else '-r requirements.txt'}", "npm": "npm install", "make": "make"}
    return [Step(usual[task.ecosystem])] if task.ecosystem in usual else []


def _build(block: Block, repository: str) -> str:
    """A block's build as one command, up to its first line of another kind; "" when it builds nothing."""
    kept: list[str] = []
    if NOT_FOR_USERS.search(block.heading):
        return ""
    for part in _parts(block):
        if _BUILDS.match(part) and not PLACEHOLDER.search(_EXTRAS.sub("", part)):
            kept.append(part)
        elif _ON_THE_WAY.match(part):
            if not re.fullmatch(rf"cd\s+(?:\./)?{re.escape(repository)}/?\s*", part, re.IGNORECASE):
                kept.append(part)
        elif not _THERE_ALREADY.match(part):
            break
    return " && ".join(kept) if any(_BUILDS.match(part) for part in kept) else ""


def _parts(block: Block) -> Iterator[str]:
    for line in commands(block):
        yield from (part.strip() for part in re.split(r"&&|;|\s#", line)[:20] if part.strip())


def _name(project: Path, kind: str) -> str:
    """The name that the project's own description states, "" when it states none that can be read."""
    try:
        if kind == "npm":
            return str(json.loads(_text(project / "package.json"))["name"])
        if kind == "pypi" and (project / "pyproject.toml").is_file():
            return str(tomllib.loads(_text(project / "pyproject.toml"))["project"]["name"])
        if kind == "pypi":
            parser = configparser.RawConfigParser()
            parser.read_string(_text(project / "setup.cfg"))
            return parser.get("metadata", "name")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, configparser.Error):
        pass
    return ""


def _text(path: Path) -> str:
    with path.open("rb") as stream:
        return stream.read(FILE_BYTES).decode("utf-8", errors="replace")
