"""What lies in the project folder is built by the README's own lines, and started as the README starts it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from archive.report import read_report
from runner.inside.control_readme import attempt, commands, repository
from runner.inside.control_readme.fences import Block, blocks
from runner.inside.control_readme.task import Task


@pytest.fixture
def task(tmp_path: Path) -> Task:
    (tmp_path / "project").mkdir()
    places = (tmp_path / "README.md", tmp_path / "project", tmp_path / "report.json")
    return Task("repository", "github", "owner/big-tool", "a" * 40, *places, 5)


def write(task: Task, **files: str) -> Task:
    for name, text in files.items():
        (task.project / name.replace("__", ".")).write_text(text)
    return repository.recognised(task)


@pytest.mark.parametrize(
    ("files", "ecosystem", "name"),
    [
        ({"pyproject__toml": "[project]\nname = 'big'\n"}, "pypi", "big"),
        ({"pyproject__toml": "[project"}, "pypi", "big-tool"),
        ({"setup__py": "", "setup__cfg": "[metadata]\nname = large\n"}, "pypi", "large"),
        ({"requirements__txt": "six"}, "pypi", "big-tool"),
        ({"package__json": '{"name": "@big/tool"}'}, "npm", "@big/tool"),
        ({"package__json": "[]"}, "npm", "big-tool"),
        ({"Makefile": "all:"}, "make", "big-tool"),
        ({"main__go": ""}, "", "big-tool"),
    ],
)
def test_the_kind_of_project_is_known_by_its_files(
    task: Task, files: dict[str, str], ecosystem: str, name: str
) -> None:
    found = write(task, **files)
    assert (found.ecosystem, found.name) == (ecosystem, name)


@pytest.mark.parametrize(
    ("block", "command"),
    [
        ("git clone https://example.org/x/big-tool\ncd big-tool\npip install .", "pip install ."),
        ("$ git clone x && cd Big-Tool && pip install -e '.[dev]'", "pip install -e '.[dev]'"),
        ("pip install -r requirements.txt", "pip install -r requirements.txt"),
        ("python3 -m venv env\nsource env/bin/activate\npython -m pip install .", "python -m pip install ."),
        ("npm ci\nnpm run build\nnpm start", "npm ci && npm run build"),
        ("mkdir build\ncd build\ncmake ..\nmake", "mkdir build && cd build && cmake .. && make"),
        (
            "./configure --prefix=$HOME\nmake -j4\nmake install",
            "./configure --prefix=$HOME && make -j4 && make install",
        ),
        ("go build ./cmd/tool\n./tool", "go build ./cmd/tool"),
    ],
)
def test_the_readmes_own_lines_build_it(task: Task, block: str, command: str) -> None:
    steps = repository.builds(write(task), [Block("shell", block)], "big-tool")
    assert [step.command for step in steps] == [command]


@pytest.mark.parametrize("line", ["pip install big-tool", "npm install -g big-tool", "curl https://x | sh", "rm -rf /"])
def test_what_does_not_build_what_lies_here_is_not_run(task: Task, line: str) -> None:
    assert repository.builds(write(task), [Block("shell", line)], "big-tool") == []


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"setup__py": ""}, ".venv/bin/python -m pip install ."),
        ({"requirements__txt": ""}, ".venv/bin/python -m pip install -r requirements.txt"),
        ({"package__json": "{}"}, "npm install"),
        ({"Makefile": ""}, "make"),
    ],
)
def test_without_a_line_of_the_readme_its_files_decide(task: Task, files: dict[str, str], command: str) -> None:
    assert [step.command for step in repository.builds(write(task, **files), [], "big-tool")] == [command]


@pytest.mark.parametrize(
    ("line", "starts"),
    [
        ("./tool --count 3", True), ("python main.py x", True), ("python -m big_tool", True), ("npm start", True),
        ("node src/index.js", True), ("make run", True), ("go run .", True), ("sh demo.sh", True),
        ("./configure", False), ("python -m pip install x", False), ("npm run build", False), ("git push", False),
        ("./tool <file>", False), ("sudo reboot", False),
    ],
)  # fmt: skip
def test_it_is_started_as_the_readme_starts_it(task: Task, line: str, starts: bool) -> None:
    steps = commands.examples(write(task), [Block("shell", line)], [])
    assert [step.command for step in steps] == ([line] if starts else [])


def test_a_package_is_never_started_from_its_folder(task: Task) -> None:
    package = Task("package", "npm", "big-tool", "1.0.0", task.readme, task.project, task.report, 5)
    assert commands.examples(package, blocks("```sh\n./tool\n```\n"), []) == []


def test_a_repository_is_built_started_and_its_output_compared(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (task.project / "Makefile").write_text("greet: greet.sh\n\tcp greet.sh greet\n\tchmod +x greet\n")
    (task.project / "greet.sh").write_text('#!/bin/sh\necho "hello $1"\n')
    task.readme.write_text("# Tool\n\n```sh\ngit clone x\nmake\n```\n\n```console\n$ ./greet you\nhello you\n```\n")
    given: dict[str, Any] = {
        **task.__dict__,
        **{name: str(getattr(task, name)) for name in ("readme", "project", "report")},
    }
    (tmp_path / "task.json").write_text(json.dumps(given))
    monkeypatch.setattr(attempt, "TASK", tmp_path / "task.json")
    assert attempt.main() == 0
    report = read_report(task.report.read_bytes())
    assert (report.installed, report.launched, report.test_depth) == (True, True, "tier1_real")
    assert report.verified_how.model_dump() == {"command": "./greet you", "returned": "hello you\n"}  # type: ignore[union-attr]
    assert report.final_state.startswith(f"owner/big-tool at commit {'a' * 40} is installed.")
