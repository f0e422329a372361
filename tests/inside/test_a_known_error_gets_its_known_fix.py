"""The table of known fixes: pure rows from an error's own words to a command or a changed example."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from runner.inside.control_readme import fixes
from runner.inside.control_readme.commands import Step
from runner.inside.control_readme.task import Task

PYPI = Task("package", "pypi", "my-tool", "1.2", Path("README.md"), Path("project"), Path("report.json"), 90)
NPM = dataclasses.replace(PYPI, ecosystem="npm", name="@me/my-tool")
PY = Step(".venv/bin/python a.py", "a.py", "x()")
JS = Step("node a.js", "a.js", "x()")


def propose(task: Task, output: str, step: Step) -> fixes.Fix:
    fix = fixes.propose(task, f"Traceback\n{output}\n", step)
    assert fix is not None
    assert fix.error == output
    return fix


@pytest.mark.parametrize(
    ("error", "requirement"),
    [
        ("ModuleNotFoundError: No module named 'yaml'", "pyyaml"),
        ("ModuleNotFoundError: No module named 'PIL.Image'", "pillow"),
        ("ModuleNotFoundError: No module named 'requests'", "requests"),
        ("bs4.FeatureNotFound: Couldn't find a tree builder with the features you requested: xml. Do", "lxml"),
        ("bs4.FeatureNotFound: Couldn't find a tree builder with the features you requested: html5lib. Do", "html5lib"),
        ("ImportError: x needs y. Please run pip install y", "y"),
        ("ImportError: Missing optional dependency. Use pip or conda to install openpyxl.", "openpyxl."),
        ("ImportError: cannot import name 'McpError' from 'mcp.shared.exceptions' (x.py)", "'mcp<2'"),
        ("ModuleNotFoundError: No module named 'mcp.server.fastmcp'", "'mcp<2'"),
        ("ModuleNotFoundError: No module named 'pkg_resources'", "'setuptools<81'"),
        ("zoneinfo._common.ZoneInfoNotFoundError: 'No time zone found with key UTC'", "tzdata"),
    ],
)
def test_a_python_package_that_is_missing_or_too_new_is_installed(error: str, requirement: str) -> None:
    fix = propose(PYPI, error, PY)
    assert (fix.first, fix.again) == (f".venv/bin/python -m pip install {requirement}", PY)


def test_a_module_that_may_be_the_readers_own_is_not_installed() -> None:
    assert fixes.propose(PYPI, "ModuleNotFoundError: No module named 'myapp'", PY) is None


@pytest.mark.parametrize("name", ["json", "my_tool"])
def test_an_import_that_the_example_takes_for_granted_is_added(name: str) -> None:
    fix = propose(PYPI, f"NameError: name '{name}' is not defined", PY)
    assert (fix.first, fix.again.source) == ("", f"import {name}\nx()")


def test_a_name_that_is_nobodys_module_is_not_imported() -> None:
    assert fixes.propose(PYPI, "NameError: name 'client' is not defined", PY) is None


def test_top_level_await_is_run_in_a_coroutine() -> None:
    fix = propose(PYPI, "SyntaxError: 'await' outside function", dataclasses.replace(PY, source="await x()"))
    compile(fix.again.source, "a.py", "exec")
    assert "    await x()\n" in fix.again.source


def test_a_missing_ensurepip_is_met_with_virtualenv() -> None:
    fix = propose(PYPI, "ensurepip is not available", Step("python3 -m venv .venv"))
    assert fix.again.command == "PYTHONPATH=.tools python3 -m virtualenv .venv"


def test_an_externally_managed_python_is_left_alone() -> None:
    fix = propose(PYPI, "error: externally-managed-environment", Step("pip install x==1"))
    assert fix.again.command == ".venv/bin/python -m pip install x==1"


def test_a_machine_without_a_time_zone_gets_a_named_one_once() -> None:
    fix = propose(PYPI, "Could not determine local timezone", Step("argusic-mcp -- x"))
    assert fix.again.command == "TZ=UTC argusic-mcp -- x"
    assert fixes.propose(PYPI, "Could not determine local timezone", fix.again) is None


@pytest.mark.parametrize(
    ("error", "file"),
    [
        ("SyntaxError: Cannot use import statement outside a module", "a.mjs"),
        ("SyntaxError: await is only valid in async functions and the top level bodies of modules", "a.mjs"),
        ("ReferenceError: require is not defined in ES module scope, you can use import instead", "a.cjs"),
    ],
)
def test_a_javascript_file_gets_the_extension_that_its_syntax_needs(error: str, file: str) -> None:
    fix = propose(NPM, error, JS)
    assert (fix.again.file, fix.again.command) == (file, f"node {file}")
    assert fixes.propose(NPM, error, fix.again) is None


def test_typescript_stays_typescript() -> None:
    fix = propose(
        NPM, "SyntaxError: Cannot use import statement outside a module", Step("node a.ts", "a.ts", "import x")
    )
    assert fix.again.file == "a.mts"


@pytest.mark.parametrize(
    ("error", "command"),
    [
        ("Error: Cannot find module 'chalk'", "npm install chalk"),
        ("Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@a/b' imported from /x/a.mjs", "npm install @a/b"),
        ("Error: Cannot find module '@a/b/c/d.js'", "npm install @a/b"),
    ],
)
def test_a_node_module_that_is_missing_is_installed(error: str, command: str) -> None:
    assert propose(NPM, error, JS).first == command


@pytest.mark.parametrize("module", ["./config", "/etc/x", "../y", "#z"])
def test_a_missing_file_of_the_readers_own_is_not_a_module(module: str) -> None:
    assert fixes.propose(NPM, f"Error: Cannot find module '{module}'", JS) is None


def test_a_peer_dependency_conflict_is_met_once_with_the_older_rules() -> None:
    fix = propose(NPM, "npm error ERESOLVE unable to resolve dependency tree", Step("npm install x@1"))
    assert fix.again.command == "npm install --legacy-peer-deps x@1"
    assert fixes.propose(NPM, "npm error ERESOLVE", fix.again) is None


def test_of_two_ways_to_load_the_same_name_the_import_is_kept() -> None:
    both = dataclasses.replace(JS, source="import x from 'x'\nconst x = require('x')\nx()")
    fix = propose(NPM, "SyntaxError: Identifier 'x' has already been declared", both)
    assert fix.again.source == "import x from 'x'\nx()"


def test_the_packages_own_require_is_added_in_the_form_of_the_file() -> None:
    error = "ReferenceError: MyTool is not defined"
    assert propose(NPM, error, JS).again.source == "const MyTool = require('@me/my-tool')\nx()"
    module = dataclasses.replace(JS, file="a.mjs")
    assert propose(NPM, error, module).again.source == "import MyTool from '@me/my-tool'\nx()"
    assert fixes.propose(NPM, "ReferenceError: app is not defined\n", JS) is None


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (
            "Traceback\n  File x\nrequests.exceptions.ConnectionError: no route\nbye",
            "requests.exceptions.ConnectionError: no route",
        ),
        ("    throw e\n\nError: no file\n    at Object.x\n\nNode.js v24.1.0", "Error: no file"),
        ('Please set A_TOKEN\nargusic-mcp: no connection: closed\n{"server": null}', "Please set A_TOKEN"),
        ("", "no output"),
    ],
)
def test_an_error_is_named_by_the_line_a_person_would_choose(output: str, line: str) -> None:
    assert fixes.last_error(output) == line
