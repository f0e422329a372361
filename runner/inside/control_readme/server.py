"""How the README starts an MCP server, as a command that starts the installed, pinned version."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from .commands import commands, is_package, program_of
from .fences import Block
from .task import Task

MAX_STARTS = 3
_COMMENT = re.compile(r"^\s*//.*$", re.M)
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_ELSEWHERE = re.compile(r"^(?:~|/|path/|[A-Za-z]:[\\/]|\$\{?\w|%\w|<)")


def starts(task: Task, found: list[Block], scripts: list[str]) -> list[str]:
    """Up to three ways to start the server: those of a client's configuration before those typed in a shell.

    The package's first program when the README gives none.
    """
    ways: list[str] = []
    configured = [words for block in found if block.language == "json" for words in _configured(block)]
    typed = [words for block in found if block.language != "json" for words in _typed(block)]
    for words in configured + typed:
        command = _installed(task, words, scripts)
        if command and command not in ways:
            ways.append(command)
    return ways[:MAX_STARTS] or [_program(task, script) for script in scripts[:1]]


def _configured(block: Block) -> Iterator[list[str]]:
    """Every `"command"` with its `"args"` in a client's configuration, however deep it lies."""
    text = _TRAILING_COMMA.sub("", _COMMENT.sub("", block.text))
    for form in (text, "{" + text + "}"):
        try:
            tree = json.loads(form)
        except (ValueError, RecursionError):
            continue
        return _commands_in(tree, 0)
    return iter(())


def _commands_in(tree: Any, depth: int) -> Iterator[list[str]]:
    if not isinstance(tree, dict) or depth > 6:
        return
    command, arguments = tree.get("command"), tree.get("args", [])
    if isinstance(command, str) and isinstance(arguments, list):
        yield [command, *(str(argument) for argument in arguments)]
    for value in tree.values():
        yield from _commands_in(value, depth + 1)


def _typed(block: Block) -> Iterator[list[str]]:
    for line in commands(block):
        try:
            yield shlex.split(line, comments=True)
        except ValueError:
            continue


def _installed(task: Task, words: list[str], scripts: list[str]) -> str:
    """`uvx x`, `npx -y x`, `python -m x` or `x` -> the same of what is installed here; "" for any other start."""
    if [word.lower() for word in words[:2]] == ["cmd", "/c"]:
        words = words[2:]
    if not words:
        return ""
    tool, rest = words[0], words[1:]
    if tool in {"python", "python3"} and rest[:1] == ["-m"] and task.ecosystem == "pypi" and rest[1:2] != ["pip"]:
        return _line([".venv/bin/python", *rest])
    if tool in {"uvx", "npx", "bunx"}:
        while rest and rest[0].startswith("-"):
            rest = rest[2:] if rest[0] in {"--from", "--with", "--python", "-p", "--package"} else rest[1:]
        tool, rest = (re.sub(r"(?<=.)(?:@|==)[^@/]*$", "", rest[0]), rest[1:]) if rest else ("", [])
        if tool not in scripts and not is_package(task, tool):
            return ""
        tool = program_of(task, tool, scripts)
    return _line([_program(task, tool), *rest]) if tool in scripts else ""


def _program(task: Task, script: str) -> str:
    return f"{'.venv/bin' if task.ecosystem == 'pypi' else 'node_modules/.bin'}/{script}"


def _line(words: list[str]) -> str:
    return shlex.join(words[:1] + [_here(word) for word in words[1:]])


def _here(argument: str) -> str:
    """A path of the README author's machine becomes one in the project folder: a file by its name, a folder as `.`."""
    if not _ELSEWHERE.match(argument):
        return argument
    name = PurePath(argument.replace("\\", "/")).name
    return name if re.fullmatch(r"[\w-]+\.[A-Za-z]\w*", name) else "."
