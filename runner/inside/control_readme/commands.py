"""What to run: the README's own install command with the version pinned, and its own examples, in README order."""

import dataclasses
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from .expected import announces_output
from .fences import Block
from .snippet import EXTENSION, snippet
from .task import Task

MAX_EXAMPLES = 5
MAX_RESULTS = 200
PIP = ".venv/bin/python -m pip"
_LANGUAGES = {"pypi": {"python"}, "npm": {"javascript", "typescript"}}
_INSTALLERS = {
    "pypi": re.compile(r"(?:python3?\s+-m\s+)?(?:uv\s+)?pip3?\s+install\s|(?:uv|poetry|pdm)\s+add\s"),
    "npm": re.compile(r"(?:npm\s+(?:install|i|add)|yarn\s+add|pnpm\s+(?:add|install|i)|bun\s+add)\s"),
}
_RUNNERS = re.compile(
    r"^(?:uvx|pipx\s+run|uv\s+tool\s+run|npx|npm\s+exec|bunx|pnpm\s+dlx|yarn\s+dlx)(?:\s+(?:-y|--yes|--))*\s+"
)
PLACEHOLDER = re.compile(r"<[\w .:/-]+>|\[[\w .-]+\]|\.\.\.|…|path/to|\byour[-_ ]|\bYOUR", re.IGNORECASE)
_ITS_OWN = re.compile(
    r"\./(?!configure\b|autogen|bootstrap)\S|(?:python3?|node|sh|bash|ruby|perl|php|java|deno\s+run)\s+[\w./]*\w\.\w+"
    r"|python3?\s+-m\s+(?!pip\b|venv\b|build\b)\w|npm\s+(?:start|test|run\s+(?!build\b)\w)|go\s+(?:run|test)\b"
    r"|cargo\s+(?:run|test)\b|make\s+(?:run|start|test|check|demo|example)"
)
"""How a README starts what lies in its repository."""
_ASKS_ONLY = re.compile(r"\s(?:--?help|-h|--?version|-V|-v|help|version)\s*$")
_LOADS = re.compile(r"^\s*(?:import\s+(?!sys$)|from\s+\S+\s+import\s|.*\brequire\()", re.M)
NOT_FOR_USERS = re.compile(
    r"contribut|develop|test|licen[cs]e|changelog|release|migrat|upgrad|benchmark", re.IGNORECASE
)


@dataclass(frozen=True)
class Step:
    """One command for `sh -c` in the project folder; `file` is written with `source` before it runs."""

    command: str
    file: str = ""
    source: str = ""
    results: tuple[str, ...] = ()
    """What the README says it prints, in order."""
    asks_only: bool = False
    """It asks for a version or for help: that starts a program and shows nothing of what it makes."""


def install(task: Task, found: list[Block]) -> str:
    """The install command: the first of the README that names the package (without extras if there is one), pinned."""
    named = [words for block in found for line in commands(block) if (words := _requirements(task, line))]
    plain = [words for words in named if not any("[" in word for word in words)]
    words = (plain or named or [[task.pinned]])[0]
    return f"{PIP if task.ecosystem == 'pypi' else 'npm'} install {shlex.join(words)}"


def _requirements(task: Task, line: str) -> list[str]:
    """What an install line installs, this package pinned; empty when the line does not install this package."""
    installer = _INSTALLERS[task.ecosystem].search(line)
    if not installer:
        return []
    words = [word for word in _words(re.split(r"[;&|#]", line[installer.end() :])[0]) if not word.startswith("-")]
    if any("/" in word.removeprefix("@").partition("/")[2] or "://" in word or word == "." for word in words):
        return []
    pinned = [_pin(task, word) for word in words]
    return pinned if pinned != words else []


def _pin(task: Task, word: str) -> str:
    """`x`, `x[extra]>=1`, `x@latest` -> this package's pinned requirement; another package's word stays as it is."""
    if task.ecosystem == "npm":
        return task.pinned if is_package(task, re.sub(r"(?<=.)@[^@/]*$", "", word)) else word
    parts = re.match(r"^([\w.-]+)(\[[\w,. -]*\])?\s*(?:[=<>!~@].*)?$", word)
    return f"{task.name}{parts[2] or ''}=={task.version}" if parts and is_package(task, parts[1]) else word


def is_package(task: Task, name: str) -> bool:
    """Whether a word names this package, as its registry compares names."""
    return normal(name) == normal(task.name) if task.ecosystem == "pypi" else name == task.name


def is_pinned(task: Task, version: str) -> bool:
    """Whether an installer's version is the pinned one; PyPI takes 1.0 and 1.0.0, 2025.08 and 2025.8 as the same."""
    if task.ecosystem == "npm":
        return version == task.version
    shown, pinned = (re.sub(r"\b0+(?=\d)", "", text.lower().removeprefix("v")) for text in (version, task.version))
    return re.sub(r"(\.0)+$", "", shown) == re.sub(r"(\.0)+$", "", pinned)


def normal(name: str) -> str:
    """PEP 503: the form in which PyPI compares names."""
    return re.sub(r"[-_.]+", "-", name).lower()


def examples(task: Task, found: list[Block], scripts: list[str]) -> list[Step]:
    """The README's first five examples: code in the package's language, and lines that call one of its programs."""
    steps: list[Step] = []
    for block, following in zip(found, [*found[1:], Block("other", "")], strict=True):
        if len(steps) >= MAX_EXAMPLES:
            break
        if NOT_FOR_USERS.search(block.heading):
            continue
        says_output = following.language in {"output", ""} and announces_output(
            f"{following.before} {following.language}"
        )
        printed = (following.text,) if says_output else ()
        if block.language in _LANGUAGES.get(task.ecosystem, set()):
            made = snippet(block)
            file = f"quickstart_{len(steps) + 1}.{EXTENSION[block.language]}"
            results = (made.results or printed)[:MAX_RESULTS]
            steps.append(Step(run_file(task.ecosystem, file), file, made.source, results))
        elif block.language == "shell":
            steps.extend(_shell_steps(task, block, scripts, printed))
    return steps[:MAX_EXAMPLES]


def after(before: Step, step: Step) -> Step:
    """An example that loads nothing by itself goes on where the one before ended, and owes that one's results too."""
    if not step.file or not before.file or _LOADS.search(step.source):
        return step
    return dataclasses.replace(step, source=f"{before.source}\n{step.source}", results=before.results + step.results)


def run_file(ecosystem: str, file: str) -> str:
    """The command that runs an example's file."""
    return f"{'.venv/bin/python' if ecosystem == 'pypi' else 'node'} {file}"


def is_module(step: Step) -> bool:
    """Whether an example for Node loads something by an import statement."""
    return bool(re.search(r"^import\s", step.source, re.M)) and not step.file.endswith(".py")


def renamed(step: Step, extension: str) -> Step:
    """The same example in a JavaScript file of another kind; TypeScript stays TypeScript."""
    file = str(PurePosixPath(step.file).with_suffix(extension))
    file = f"{file[:-2]}ts" if step.file.endswith("ts") else file
    return dataclasses.replace(step, file=file, command=run_file("npm", file))


def _shell_steps(task: Task, block: Block, scripts: list[str], printed: tuple[str, ...]) -> Iterator[Step]:
    for line, output in commands(block).items():
        command = _runnable(task, line, scripts)
        if command and not PLACEHOLDER.search(line):
            results = (output,) if output else printed
            yield Step(command, results=results, asks_only=bool(_ASKS_ONLY.search(line)))


def _runnable(task: Task, line: str, scripts: list[str]) -> str:
    """The line as it runs in this project, "" when it calls none of the package's programs."""
    runner = _RUNNERS.match(line)
    if runner:
        program, _, rest = line[runner.end() :].partition(" ")
        name = re.sub(r"(?<=.)@[^@/]*$", "", program)
        if name not in scripts and not is_package(task, name):
            return ""
        line = f"{program_of(task, name, scripts)} {rest}".strip()
    elif task.source_type == "repository" and _ITS_OWN.match(line):
        pass
    elif not any(_words(part)[:1] in [[script] for script in scripts] for part in re.split(r"[|;&]+", line)):
        return ""
    activate = {"pypi": ". .venv/bin/activate && ", "npm": 'PATH="$PWD/node_modules/.bin:$PATH" && '}
    return f"{activate.get(task.ecosystem, '')}{line}"


def program_of(task: Task, name: str, scripts: list[str]) -> str:
    """Which of the package's programs `uvx NAME` or `npx NAME` starts: the one of that name, else its only one."""
    bare = name.rpartition("/")[2]
    return bare if bare in scripts or len(scripts) != 1 else scripts[0]


def commands(block: Block) -> dict[str, str]:
    """The command lines of a block with the output shown under each: after `$ ` prompts, or else every line."""
    if block.language not in {"shell", "", "output"} or "<<" in block.text:
        return {}
    lines = re.sub(r"\\\n\s*", " ", block.text).split("\n")
    prompted = any(line.startswith("$ ") for line in lines)
    found: dict[str, str] = {}
    last = ""
    for line in lines:
        if line.startswith("$ ") or (not prompted and line.strip() and not line.lstrip().startswith("#")):
            last = line.removeprefix("$ ").strip()
            found.setdefault(last, "")
        elif prompted and last:
            found[last] = f"{found[last]}\n{line}".strip("\n")
    return found


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        return []
