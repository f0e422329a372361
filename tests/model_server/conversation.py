"""What the model does next: it follows from the request's own history, and the server remembers nothing.

A request with n results of tools in its history gets the command n + 1 of the script, and the closing text after the
last one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.model_server.modes import CLAIM, Mode

TOOLS = ("exec_command", "shell", "shell_command", "Bash", "bash", "run_shell_command")
"""Tools that run a command, as programs call them."""
SUBMIT = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""mini-SWE-agent ends by a command that prints this word."""
FENCE = "mswea_bash_command"
"""Its block for a command where it gives the model no tools."""

WAIT_MILLISECONDS = 30_000
"""The longest that codex waits for a command in one call."""
MOST_MILLISECONDS = 600_000
"""The longest that Claude Code lets a command run."""


class Script(NamedTuple):
    """What the model has the program do, and what it says at the end."""

    commands: tuple[str, ...]
    closing: str = "All done."


class Tool(NamedTuple):
    """A tool that a request offers."""

    name: str
    parameters: Mapping[str, Any]
    """JSON schema of its arguments."""


class Asked(NamedTuple):
    """A request, whatever its interface."""

    model: str
    stream: bool
    usage_in_stream: bool
    """Whether a stream is to tell the usage."""
    told: str
    """Text of the system and of the person, not of the model or its tools."""
    tools: tuple[Tool, ...]
    results: int
    """Of tools that have come to their end."""
    running: int | None = None
    """Session of a command that the last result says is still running; only codex has such."""


class Usage(NamedTuple):
    """Tokens of one answer: `cached` is a part of `input`, `written` is what is told of a cache, `reasoning` is a part
    of `output`."""

    input: int
    cached: int
    written: int
    output: int
    reasoning: int


FIRST = Usage(1000, 400, 100, 50, 20)
LATER = Usage(1500, 900, 200, 70, 30)


class Call(NamedTuple):
    """A tool that the model calls."""

    tool: str
    arguments: dict[str, Any]


class Answer(NamedTuple):
    """One answer, whatever the interface."""

    number: int
    """Of the request at this server: what makes its ids."""
    model: str
    text: str
    call: Call | None
    usage: Usage | None
    """None where the provider tells nothing."""


def answer(script: Script, asked: Asked, mode: Mode, number: int) -> Answer:
    """The answer of the model to a request that is not refused."""
    usage = None if mode == "no-usage" else LATER if asked.results else FIRST
    if mode == "empty":
        return Answer(number, asked.model, "", None, usage)
    if mode == "no-tool":
        return Answer(number, asked.model, CLAIM, None, usage)
    commands = script.commands + ((f"echo {SUBMIT}",) if SUBMIT in asked.told else ())
    if asked.running is not None:
        # Written nothing to, it is waited for.
        waits = {"session_id": asked.running, "chars": "", "yield_time_ms": WAIT_MILLISECONDS}
        return Answer(number, asked.model, "", Call("write_stdin", waits), usage)
    tool = next((tool for name in TOOLS for tool in asked.tools if tool.name == name), None)
    if asked.results >= len(commands) or (tool is None and not _in_text(asked)):
        return Answer(number, asked.model, script.closing, None, usage)
    command = commands[asked.results]
    if tool is None:
        return Answer(number, asked.model, f"The next step.\n\n```{FENCE}\n{command}\n```", None, usage)
    return Answer(number, asked.model, "", Call(tool.name, _arguments(tool, command)), usage)


def _in_text(asked: Asked) -> bool:
    return not asked.tools and FENCE in asked.told


def _arguments(tool: Tool, command: str) -> dict[str, Any]:
    """The command, and something for whatever else the tool demands."""
    properties = tool.parameters.get("properties") or {}
    place = "cmd" if "cmd" in properties else "command"
    in_words = (properties.get(place) or {}).get("type") == "array"
    made: dict[str, Any] = {place: ["bash", "-lc", command] if in_words else command}
    # What a program does not wait for it leaves running, and goes on.
    if "yield_time_ms" in properties:
        made["yield_time_ms"] = WAIT_MILLISECONDS
    if tool.name == "Bash" and "timeout" in properties:
        made["timeout"] = MOST_MILLISECONDS
    for name in tool.parameters.get("required") or ():
        kind = str((properties.get(name) or {}).get("type"))
        made.setdefault(
            name,
            {"boolean": False, "integer": WAIT_MILLISECONDS, "number": WAIT_MILLISECONDS}.get(kind, "Run a command"),
        )
    return made
