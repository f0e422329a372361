"""An MCP server is started by its README's own configuration or command, mapped to what is installed here."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from runner.inside.control_readme.fences import Block
from runner.inside.control_readme.server import starts
from runner.inside.control_readme.task import Task

PYPI = Task("mcp-server", "pypi", "x-server", "1.2", Path("README.md"), Path("project"), Path("report.json"), 90)
NPM = dataclasses.replace(PYPI, ecosystem="npm", name="@me/server-x")


def config(command: str, *arguments: str) -> Block:
    return Block("json", json.dumps({"mcpServers": {"x": {"command": command, "args": list(arguments)}}}))


@pytest.mark.parametrize(
    ("block", "start"),
    [
        (config("uvx", "x-server", "--zone", "UTC"), ".venv/bin/x-server --zone UTC"),
        (config("uvx", "--from", "x-server==9", "x-server"), ".venv/bin/x-server"),
        (config("uvx", "X_Server@latest"), ".venv/bin/x-server"),
        (config("python", "-m", "x_server"), ".venv/bin/python -m x_server"),
        (config("x-server", "a b"), ".venv/bin/x-server 'a b'"),
        (Block("shell", "python3 -m x_server --stdio"), ".venv/bin/python -m x_server --stdio"),
        (Block("json", '"x": {"command": "uvx", "args": ["x-server",], // the server\n}'), ".venv/bin/x-server"),
    ],
)
def test_each_documented_start_becomes_one_of_the_installed_server(block: Block, start: str) -> None:
    assert starts(PYPI, [block], ["x-server"]) == [start]


@pytest.mark.parametrize(
    "block", [config("npx", "-y", "@me/server-x@1.0.0", "hi"), config("cmd", "/c", "npx", "-y", "@me/server-x", "hi")]
)
def test_npx_starts_the_packages_only_program(block: Block) -> None:
    assert starts(NPM, [block], ["mcp-x"]) == ["node_modules/.bin/mcp-x hi"]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("/Users/someone/Desktop", "."),
        ("C:\\Users\\someone\\notes.db", "notes.db"),
        ("~/data/store.sqlite", "store.sqlite"),
        ("path/to/git/repo", "."),
        ("${workspaceFolder}", "."),
        ("--zone=Asia/Seoul", "--zone=Asia/Seoul"),
    ],
)
def test_a_path_of_the_authors_machine_becomes_one_of_the_project(theirs: str, ours: str) -> None:
    assert starts(PYPI, [config("uvx", "x-server", theirs)], ["x-server"]) == [f".venv/bin/x-server {ours}"]


def test_a_configuration_comes_before_a_typed_command() -> None:
    found = [Block("shell", "python -m x_server"), config("docker", "run", "x"), config("uvx", "x-server")]
    assert starts(PYPI, found, ["x-server"]) == [".venv/bin/x-server", ".venv/bin/python -m x_server"]


@pytest.mark.parametrize("block", [config("docker", "run", "x"), config("uvx", "other"), config("node", "/x/index.js")])
def test_a_start_of_something_else_is_not_taken(block: Block) -> None:
    assert starts(PYPI, [block], ["x-server"]) == [".venv/bin/x-server"]


def test_a_package_without_a_program_has_no_start() -> None:
    assert starts(PYPI, [], []) == []


@pytest.mark.parametrize("text", ["{" * 5_000, '{"command": 1, "args": {}}', '{"a":' * 3_000 + "1" + "}" * 3_000, "{]"])
def test_a_hostile_configuration_is_passed_over(text: str) -> None:
    assert starts(PYPI, [Block("json", text)], []) == []
