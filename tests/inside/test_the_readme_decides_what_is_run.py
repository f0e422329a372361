"""The control agent runs the README's own commands, with the version pinned and nothing of its own invention."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from runner.inside.control_readme import commands
from runner.inside.control_readme.commands import Step
from runner.inside.control_readme.fences import Block, blocks
from runner.inside.control_readme.snippet import snippet
from runner.inside.control_readme.task import Task

PYPI = Task("package", "pypi", "Big-Tool", "1.2", Path("README.md"), Path("project"), Path("report.json"), 90)
NPM = dataclasses.replace(PYPI, ecosystem="npm", name="@scope/tool")


def sh(*lines: str) -> list[Block]:
    return [Block("shell", "\n".join(lines))]


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("pip install big_tool", "install Big-Tool==1.2"),
        ("python -m pip install --upgrade big.tool", "install Big-Tool==1.2"),
        ("$ pip3 install 'big-tool>=1' other", "install Big-Tool==1.2 other"),
        ("uv add big-tool", "install Big-Tool==1.2"),
        ("pip install big-tool[fast]", "install 'Big-Tool[fast]==1.2'"),
        ("pip install git+https://example.com/big-tool", "install Big-Tool==1.2"),
        ("pip install bigger-tool", "install Big-Tool==1.2"),
        ("pip install -e .", "install Big-Tool==1.2"),
    ],
)
def test_the_install_command_is_the_readmes_own_with_the_version_pinned(line: str, command: str) -> None:
    assert commands.install(PYPI, sh(line)) == f".venv/bin/python -m pip {command}"


@pytest.mark.parametrize(
    "line", ["npm i @scope/tool", "npm install -g @scope/tool@latest", "yarn add @scope/tool", "pnpm add @scope/tool"]
)
def test_each_package_manager_of_npm_becomes_the_same_pinned_install(line: str) -> None:
    assert commands.install(NPM, sh(line)) == "npm install @scope/tool@1.2"


def test_what_the_readme_installs_beside_the_package_is_installed_too() -> None:
    assert commands.install(NPM, sh("npm install react @scope/tool")) == "npm install react @scope/tool@1.2"


def test_an_install_without_extras_is_preferred_to_an_earlier_one_with_extras() -> None:
    found = sh("pip install big-tool[all]", "pip install big-tool")
    assert commands.install(PYPI, found) == ".venv/bin/python -m pip install Big-Tool==1.2"


def test_a_hostile_name_in_an_install_line_stays_one_word() -> None:
    assert commands.install(PYPI, sh("pip install big-tool '$(reboot)'")).endswith("Big-Tool==1.2 '$(reboot)'")


@pytest.mark.parametrize(
    ("shown", "pinned", "same"),
    [("1.0.0", "1.0", True), ("2025.8.4", "2025.08.04", True), ("1.2", "1.20", False), ("1.0rc1", "1.0", False)],
)
def test_an_installed_version_is_compared_as_its_registry_compares(shown: str, pinned: str, same: bool) -> None:
    assert commands.is_pinned(dataclasses.replace(PYPI, version=pinned), shown) is same
    assert commands.is_pinned(dataclasses.replace(NPM, version=pinned), shown) is (shown == pinned)


def test_examples_are_code_in_the_packages_language_and_calls_of_its_programs_in_readme_order() -> None:
    readme = "```js\nx()\n```\n```python\nimport x\n```\n```sh\nbig --run\nrm -rf /\n```\n"
    assert [step.command for step in commands.examples(PYPI, blocks(readme), ["big"])] == [
        ".venv/bin/python quickstart_1.py",
        ". .venv/bin/activate && big --run",
    ]


def test_npx_and_uvx_run_what_is_installed_and_not_what_is_newest() -> None:
    npm = commands.examples(NPM, sh("npx -y @scope/tool@latest hi", "npx other hi"), ["tool"])
    assert [step.command for step in npm] == ['PATH="$PWD/node_modules/.bin:$PATH" && tool hi']
    pypi = commands.examples(PYPI, sh("uvx big-tool hi"), ["big"])
    assert [step.command for step in pypi] == [". .venv/bin/activate && big hi"]


@pytest.mark.parametrize("line", ["big <file>", "big [options]", "big ...", "big path/to/file", "big --key YOUR_KEY"])
def test_a_command_with_a_gap_to_fill_in_is_not_a_command(line: str) -> None:
    assert commands.examples(PYPI, sh(line), ["big"]) == []


def test_output_shown_under_a_prompt_is_what_the_readme_says_is_printed() -> None:
    (step,) = commands.examples(PYPI, sh("$ big hi", "hello", "world"), ["big"])
    assert step.results == ("hello\nworld",)


def test_a_block_announced_as_output_belongs_to_the_example_before_it() -> None:
    readme = "```python\nprint(3)\n```\nThis prints:\n```\n3\n```\n"
    (step,) = commands.examples(PYPI, blocks(readme), [])
    assert step.results == ("3",)


def test_asking_for_help_or_a_version_is_known_as_such() -> None:
    steps = commands.examples(PYPI, sh("big --version", "big -h", "big run"), ["big"])
    assert [step.asks_only for step in steps] == [True, True, False]


def test_sections_for_contributors_are_passed_over() -> None:
    assert commands.examples(PYPI, blocks("## Development\n```python\nimport x\n```\n"), []) == []


def test_no_more_than_five_examples_are_tried() -> None:
    assert len(commands.examples(PYPI, blocks("```python\nimport x\n```\n" * 9), [])) == 5


def test_an_example_that_loads_nothing_goes_on_after_the_one_before() -> None:
    first = Step("run", "a.py", "import x", ("1",))
    assert commands.after(first, Step("run", "b.py", "x.go()", ("2",))) == Step(
        "run", "b.py", "import x\nx.go()", ("1", "2")
    )


def test_an_example_with_its_own_import_stands_alone() -> None:
    alone = Step("run", "b.js", "const x = require('x')")
    assert commands.after(Step("run", "a.js", "y()"), alone) == alone


def test_a_doctest_becomes_a_file_that_shows_what_the_interpreter_would() -> None:
    made = snippet(Block("python", ">>> import x\n>>> x.f(1)\n2\n>>> for i in (1,):\n...     print(i)\n1\n"))
    assert made.source == "import sys\nimport x\nsys.displayhook(x.f(1))\nfor i in (1,):\n    print(i)\n"
    assert made.results == ("2", "1")


def test_an_example_meant_to_raise_is_left_out() -> None:
    made = snippet(Block("python", ">>> 1/0\nTraceback (most recent call last):\nZeroDivisionError: x\n>>> 1\n1\n"))
    assert (made.source, made.results) == ("import sys\nsys.displayhook(1)\n", ("1",))


def test_a_result_in_a_comment_is_made_visible_and_prose_is_not() -> None:
    made = snippet(Block("python", "f(1)  # => 2\nf(2)  # the second\ng = f(3)  # 6\nprint(g)  # 6"))
    shown = ["import sys", "sys.displayhook(f(1))", "f(2)  # the second", "g = f(3)  # 6", "sys.displayhook(g)"]
    assert made.source.split("\n") == [*shown, "print(g)  # 6"]
    assert made.results == ("2", "6", "6")


def test_javascript_results_are_read_beside_and_below_the_expression() -> None:
    made = snippet(Block("javascript", "f('a'); // 'b'\ng(1);\n//=> 2\nconst n = h(); // => [3]\nk(); // does more"))
    assert made.source.split("\n") == [
        "console.log(f('a')); // 'b'",
        "console.log(g(1)); //=> 2",
        "const n = h(); console.log(n); // => [3]",
        "k(); // does more",
    ]
    assert made.results == ("'b'", "2", "[3]")


@pytest.mark.parametrize("text", ["def f(:", ">>> f(\n2", "1+" * 20_000 + "1", "(" * 500, "a = '\x00'"])
def test_what_does_not_parse_is_left_for_the_language_itself_to_refuse(text: str) -> None:
    assert snippet(Block("python", text)).results in ((), ("2",))


def test_a_readme_full_of_odd_bytes_gives_steps_and_no_crash() -> None:
    hostile = "```python\n\x00import x\n\ud7ff\n```\n```js\n" + "(" * 5_000 + "\n```\n$ \n```\n" + "x" * 30_000
    for task in (PYPI, NPM):
        commands.install(task, blocks(hostile))
        assert len(commands.examples(task, blocks(hostile), [""])) <= 5
