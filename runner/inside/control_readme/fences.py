"""Code blocks of a README: Markdown fences, reStructuredText directives and literal blocks, bare doctests."""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

MAX_BLOCKS = 200
MAX_BLOCK_CHARACTERS = 20_000

_FENCE = re.compile(r"^(\s*(?:>\s?)?)(`{3,}|~{3,})\s*([^`]*)$")
_DIRECTIVE = re.compile(r"^(\s*)\.\. (?:code-block|code|sourcecode)::\s*(\S*)\s*$")
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*$")
_UNDERLINE = re.compile(r"^([=\-~^\"'`*+#])\1{2,}\s*$")
_COMMAND = re.compile(r"(?:\$ )?(?:pip3?|npm|npx|uvx?|pipx|yarn|pnpm|python3? -m) ")
_LANGUAGES = {
    "python": "py python python3 py3 pycon ipython doctest python-repl",
    "javascript": "js javascript mjs cjs node jsx es6",
    "typescript": "ts typescript",
    "shell": "sh bash shell console shell-session shellsession zsh terminal cmd powershell",
    "json": "json jsonc json5",
    "output": "text txt output plaintext plain none log",
}
LANGUAGE = {alias: language for language, aliases in _LANGUAGES.items() for alias in aliases.split()}


@dataclass(frozen=True)
class Block:
    """One code block: its language ("" when it cannot be told), its dedented text, and what stands before it."""

    language: str
    text: str
    heading: str = ""
    before: str = ""


def blocks(readme: str) -> list[Block]:
    """Every code block in README order, at most 200; one longer than 20,000 characters is left out."""
    found: list[Block] = []
    for block in _scan(readme.split("\n")):
        if block.text.strip() and len(block.text) <= MAX_BLOCK_CHARACTERS:
            found.append(block)
        if len(found) == MAX_BLOCKS:
            break
    return found


def _scan(lines: list[str]) -> Iterator[Block]:
    heading = before = ""
    at = 0
    while at < len(lines):
        line = lines[at]
        if fence := _FENCE.match(line):
            body, at = _fenced(lines, at + 1, fence[1], fence[2])
            yield _block(fence[3], body, heading, before)
            before = ""
            continue
        directive = _DIRECTIVE.match(line)
        if directive or (line.rstrip().endswith("::") and not line.lstrip().startswith(("..", "#"))):
            body, at = _indented(lines, at + 1, len(line) - len(line.lstrip()))
            yield _block(directive[2] if directive else "", body, heading, before if directive else line)
            before = ""
            continue
        if line.lstrip().startswith(">>> "):
            end = next((n for n in range(at, len(lines)) if not lines[n].strip()), len(lines))
            yield _block("python", lines[at:end], heading, before)
            at, before = end, ""
            continue
        if title := _HEADING.match(line):
            heading = before = title[1]
        elif _UNDERLINE.match(line) and at and lines[at - 1].strip():
            heading = lines[at - 1].strip()
        elif line.strip():
            before = line.strip()
        at += 1


def _fenced(lines: list[str], at: int, margin: str, mark: str) -> tuple[list[str], int]:
    """Up to a closing fence at least as long as the opening one, so that a longer fence can hold a shorter one."""
    body: list[str] = []
    while at < len(lines):
        line = lines[at]
        rule = line.strip("> \t")
        if len(rule) >= len(mark) and set(rule) == {mark[0]}:
            break
        body.append(line[len(margin) :] if line.startswith(margin) else line.lstrip())
        at += 1
    return body, at + 1


def _indented(lines: list[str], at: int, margin: int) -> tuple[list[str], int]:
    """The lines further to the right than `margin`, without the `:option:` lines of a directive."""
    body: list[str] = []
    while at < len(lines) and (not lines[at].strip() or len(lines[at]) - len(lines[at].lstrip()) > margin):
        body.append(lines[at])
        at += 1
    while body and (not body[0].strip() or re.match(r"^\s+:[\w-]+:", body[0])):
        body.pop(0)
    return body, at


def _block(info: str, body: list[str], heading: str, before: str) -> Block:
    text = textwrap.dedent("\n".join(body)).strip("\n")
    word = re.split(r"[\s,{}:]", info.strip().strip("{.").lower(), maxsplit=1)[0]
    named = LANGUAGE.get(word, "other" if word else "")
    # Authors give commands and code one label; the mark of a command is believed over the label.
    language = guess(text) if not named or (named == "python" and _COMMAND.match(text)) else named
    return Block(language, text, heading, before)


def guess(text: str) -> str:
    """The language of a block that names none, by the marks that only that language has; "" when there is none."""
    if re.search(r"^>>> ", text, re.M):
        return "python"
    if re.search(r"^\$ ", text, re.M) or _COMMAND.match(text):
        return "shell"
    if text.lstrip().startswith("{"):
        return "json"
    if re.search(r"\brequire\(['\"]|^import .+ from ['\"]|^(const|let|var) \w+ = ", text, re.M):
        return "javascript"
    if re.search(r"^(from [\w.]+ import |import [\w.]+( as \w+)?$)", text, re.M):
        return "python"
    return ""
