"""The table of known fixes: an error's own words -> what an engineer does about it.

Each row is a pure matcher: it reads the end of a failed command's output and the step, and says what to run first and
how to run the step again. Rows name languages, installers and modules, never a subject.
"""

import dataclasses
import re
import shlex
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass

from .commands import PIP, Step, normal, renamed
from .task import Task

DISTRIBUTIONS = {
    "OpenSSL": "pyopenssl", "PIL": "pillow", "attr": "attrs", "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless", "dateutil": "python-dateutil", "docx": "python-docx",
    "dotenv": "python-dotenv", "fitz": "pymupdf", "git": "gitpython", "google.protobuf": "protobuf",
    "jose": "python-jose", "jwt": "pyjwt", "magic": "python-magic", "serial": "pyserial",
    "skimage": "scikit-image", "sklearn": "scikit-learn", "slugify": "python-slugify",
    "websocket": "websocket-client", "yaml": "pyyaml", "zmq": "pyzmq",
}  # fmt: skip
"""Modules whose distribution has another name."""
SAME_NAME = {
    "aiohttp", "anyio", "attrs", "click", "colorama", "django", "fastapi", "flask", "html5lib", "httpx", "jinja2",
    "jsonschema", "lxml", "markdown", "matplotlib", "msgpack", "networkx", "numpy", "openpyxl", "orjson", "pandas",
    "psutil", "pyarrow", "pydantic", "pygments", "pytest", "redis", "requests", "rich", "scipy", "setuptools",
    "simplejson", "six", "sqlalchemy", "starlette", "sympy", "tabulate", "toml", "tornado", "tqdm", "trio", "typer",
    "tzdata", "ujson", "urllib3", "uvicorn", "websockets", "xmltodict",
}  # fmt: skip
"""Modules whose distribution has the same name. Any other name in an example may be a reader's own module."""

TOO_NEW = (
    (r"cannot import name '\w+' from 'mcp[.']|No module named 'mcp\.\w", "mcp<2"),
    (r"compiled using NumPy 1\.x cannot be run|was removed in the NumPy 2\.0 release", "numpy<2"),
    (r"`?BaseSettings`? has been moved to|PydanticImportError", "pydantic<2"),
    (r"cannot import name 'url_quote' from 'werkzeug", "werkzeug<3"),
    (r"No module named 'pkg_resources'", "setuptools<81"),
    (r"cannot import name '\w+' from 'urllib3", "urllib3<2"),
    (r"cannot import name '\w+' from 'click[.']", "click<8.2"),
    (r"cannot import name '\w+' from 'marshmallow", "marshmallow<4"),
)
"""What an error says when a dependency is newer than the pinned version knows -> the last line that it knew."""


@dataclass(frozen=True)
class Fix:
    """What to do about one error: a command to run first ("" for none), then the step to run again."""

    error: str
    what: str
    first: str
    again: Step


Row = Callable[[re.Match[str], Step, Task], tuple[str, str, Step] | None]
"""(match, failed step, subject) -> (the fix in words, the command to run first, the step to run again), or None."""


def propose(task: Task, output: str, step: Step) -> Fix | None:
    """The first row of the table that knows this error, None when none does."""
    for pattern, row in TABLE.get(task.ecosystem, ()):
        if (match := re.search(pattern, output)) and (change := row(match, step, task)):
            return Fix(_line_of(output, match), *change)
    return None


_NAMES_AN_ERROR = re.compile(r"(?:[\w.]*(?:Error|Exception|NotFound)\b|error\b|ERROR\b|npm (?:error|ERR!) code)")
_NOT_THE_ERROR = re.compile(r"\s+at |Node\.js v|argusic-mcp: no connection|\{\"server\": ")


def last_error(output: str) -> str:
    """The line by which a person would name the error: the last one that says so, else the last one there is."""
    lines = [line.strip() for line in output.splitlines() if line.strip() and not _NOT_THE_ERROR.match(line)]
    naming = [line for line in lines if _NAMES_AN_ERROR.match(line)]
    return (naming or lines or ["no output"])[-1]


def _line_of(output: str, match: re.Match[str]) -> str:
    end = output.find("\n", match.start() + 1)
    return output[output.rfind("\n", 0, match.start() + 1) + 1 : end if end > 0 else len(output)].strip()


def _pip(requirement: str, step: Step) -> tuple[str, str, Step]:
    return f"installed {requirement}", f"{PIP} install {shlex.quote(requirement)}", step


def _older(requirement: str) -> Row:
    return lambda _, step, __: _pip(requirement, step)


def _module(match: re.Match[str], step: Step, _: Task) -> tuple[str, str, Step] | None:
    top = match[1].partition(".")[0]
    requirement = DISTRIBUTIONS.get(match[1]) or DISTRIBUTIONS.get(top) or (top if top in SAME_NAME else None)
    return _pip(requirement, step) if requirement else None


def _left_out_import(match: re.Match[str], step: Step, task: Task) -> tuple[str, str, Step] | None:
    """An example that takes `import json`, or the import of the package itself, for granted."""
    name = match[1]
    if name not in sys.stdlib_module_names and normal(name) != normal(task.name):
        return None
    return f"added import {name}", "", dataclasses.replace(step, source=f"import {name}\n{step.source}")


def _tree_builder(match: re.Match[str], step: Step, _: Task) -> tuple[str, str, Step]:
    return _pip("html5lib" if "html5lib" in match[1] else "lxml", step)


def _node_module(match: re.Match[str], step: Step, _: Task) -> tuple[str, str, Step] | None:
    parts = match[1].split("/")
    name = "/".join(parts[:2] if match[1].startswith("@") else parts[:1])
    return None if name[:1] in {".", "", "#"} else (f"installed {name}", f"npm install {shlex.quote(name)}", step)


def _renamed(extension: str) -> Row:
    def row(match: re.Match[str], step: Step, _: Task) -> tuple[str, str, Step] | None:
        if not step.file or renamed(step, extension).file == step.file:
            return None
        return f"ran it as {extension}", "", renamed(step, extension)

    return row


def _left_out_require(match: re.Match[str], step: Step, task: Task) -> tuple[str, str, Step] | None:
    """An example that takes the package's own import for granted."""
    bare = re.sub(r"^.*/|[^a-z0-9]|js$", "", task.name.lower())
    if re.sub(r"js$", "", match[1].lower()) != bare or not step.file:
        return None
    load = (
        f"import {match[1]} from '{task.name}'"
        if step.file.endswith(".mjs")
        else f"const {match[1]} = require('{task.name}')"
    )
    return f"added {load}", "", dataclasses.replace(step, source=f"{load}\n{step.source}")


def _one_import_style(match: re.Match[str], step: Step, _: Task) -> tuple[str, str, Step] | None:
    """Examples often show both ways to load the package in one block; a file can have one."""
    kept = re.sub(rf"^(?:const|let|var)\s+\{{?\s*{re.escape(match[1])}\b.*require\(.*\n?", "", step.source, flags=re.M)
    if kept == step.source or "import " not in kept:
        return None
    return "kept the import, left out the require of the same name", "", dataclasses.replace(step, source=kept)


def _in_a_coroutine(match: re.Match[str], step: Step, _: Task) -> tuple[str, str, Step] | None:
    if not step.file.endswith(".py"):
        return None
    body = textwrap.indent(step.source, "    ")
    source = f"import asyncio\n\n\nasync def main():\n{body}\n\n\nasyncio.run(main())\n"
    return "ran it inside asyncio.run", "", dataclasses.replace(step, source=source)


def _command(words: str, change: Callable[[str], str], first: str = "") -> Row:
    def row(match: re.Match[str], step: Step, _: Task) -> tuple[str, str, Step] | None:
        changed = change(step.command)
        return None if changed == step.command else (words, first, dataclasses.replace(step, command=changed))

    return row


_VIRTUALENV = "PYTHONPATH=.tools python3 -m virtualenv"

TABLE: dict[str, tuple[tuple[str, Row], ...]] = {
    "pypi": (
        (r"FeatureNotFound: Couldn't find a tree builder with the features you requested: ([\w, -]+)", _tree_builder),
        (
            r"(?:pip3? install|[Uu]se pip or conda to install) ['\"`]?([A-Za-z][\w.-]*(?:\[[\w,-]+\])?)",
            lambda m, s, _: _pip(m[1], s),
        ),
        (r"ModuleNotFoundError: No module named '([\w.]+)'", _module),
        (
            r"[Cc]ould not determine (?:the )?local time ?zone",
            _command("named the time zone", lambda c: f"TZ=UTC {c.removeprefix('TZ=UTC ')}"),
        ),
        (r"ZoneInfoNotFoundError", lambda _, s, __: _pip("tzdata", s)),
        *((pattern, _older(requirement)) for pattern, requirement in TOO_NEW),
        (r"NameError: name '(\w+)' is not defined", _left_out_import),
        (r"SyntaxError: 'await' outside function", _in_a_coroutine),
        (
            r"ensurepip is not\s+available|No module named '?ensurepip",
            _command(
                "made the environment with virtualenv",
                lambda command: command.replace("python3 -m venv", _VIRTUALENV),
                first="python3 -m pip install --target .tools virtualenv",
            ),
        ),
        (r"No module named pip\b", lambda _, s, __: ("added pip", ".venv/bin/python -m ensurepip", s)),
        (
            r"externally-managed-environment",
            _command(
                "installed into the environment", lambda command: re.sub(r"^(python3? -m )?pip3?\b", PIP, command)
            ),
        ),
        (r"\b(uvx?|pipx): (?:command )?not found", lambda m, s, _: _pip("pipx" if m[1] == "pipx" else "uv", s)),
    ),
    "npm": (
        (
            r"\bERESOLVE\b",
            _command(
                "installed with --legacy-peer-deps",
                lambda command: re.sub(r"^npm install (?!--legacy)", "npm install --legacy-peer-deps ", command),
            ),
        ),
        (r"ReferenceError: (\w+) is not defined\n", _left_out_require),
        (r"Identifier '(\w+)' has already been declared", _one_import_style),
        (r"Cannot use import statement outside a module|Unexpected token 'export'", _renamed(".mjs")),
        (r"await is only valid in async functions and the top level bodies of modules", _renamed(".mjs")),
        (r"require is not defined in ES module scope", _renamed(".cjs")),
        (r"Cannot find (?:module|package) '([^'\s]+)'", _node_module),
    ),
}
"""By ecosystem, in the order in which the rows are tried."""
