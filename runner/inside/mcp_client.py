"""`argusic-mcp [--timeout SECONDS] -- COMMAND [ARGS...]`: connect a real client to an MCP server over stdio.

It starts the server, initializes, lists its tools, calls one and ends the server. Standard output is one JSON object:
    {"server": {"name", "version"}, "protocol", "tools": [names], "called": {"tool", "arguments", "is_error", "text"}}
with null for what was not reached. The server's standard error passes through.
Exit codes: 0 a call was answered without an error; 2 wrong usage; 3 connected and listed, but no call was answered
without an error; 4 no connection; 5 the time was over.
The PyPI package `mcp` is found by PYTHONPATH, which is not handed on to the server.
"""

import runpy
import sys
from pathlib import Path

if not __package__:  # started by its path: start again as a module, which ends the process; relative imports need that
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    runpy.run_module("inside.mcp_client", run_name="__main__", alter_sys=True)

import argparse
import asyncio
import importlib
import json
import logging
import os
import signal
import threading
from dataclasses import asdict, dataclass
from typing import Any

from .mcp_choice import Call, Tool, calls

ANSWERED, USAGE, NO_ANSWER, NO_CONNECTION, TIME_OVER = 0, 2, 3, 4, 5
TIMEOUT_SECONDS = 60
CALL_SECONDS = 20
MAX_CALLS = 5
MAX_TOOLS = 500
MAX_TEXT = 4_000
_GRACE_SECONDS = 15
_CONNECTION_CLOSED = -32000
_NOT_FOR_THE_SERVER = {"PYTHONPATH", "PYTHONHOME", "PYTHONSAFEPATH"}


@dataclass
class Seen:
    """What the client saw, in the form that is printed."""

    server: dict[str, str] | None = None
    protocol: str | None = None
    tools: list[str] | None = None
    called: dict[str, Any] | None = None

    @property
    def code(self) -> int:
        """The exit code, for a session that ended by itself."""
        if self.tools is None:
            return NO_CONNECTION
        return ANSWERED if self.called and not self.called["is_error"] else NO_ANSWER


async def talk(sdk: Any, command: list[str], seconds: float, seen: Seen) -> bool:
    """One session with the server. True when the time was over, or the client was told to stop, before its end."""
    anyio = importlib.import_module("anyio")
    with anyio.move_on_after(seconds) as scope:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, scope.cancel)
        # The handshake that every published server knows comes first; one that only knows the newer refuses it.
        for mode in ("legacy", "auto"):
            try:
                await _session(sdk, command, mode, seen)
                break
            except Exception as error:  # noqa: BLE001 - a server can break its client in any way
                cause = _first_cause(error)
                _complain(f"argusic-mcp: no connection: {type(cause).__name__}: {cause}")
            if seen.server is not None or not isinstance(cause, sdk.MCPError) or cause.code == _CONNECTION_CLOSED:
                break
    return bool(scope.cancelled_caught)


async def _session(sdk: Any, command: list[str], mode: str, seen: Seen) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in _NOT_FOR_THE_SERVER}
    server = sdk.StdioServerParameters(
        command=command[0], args=command[1:], env=environment, encoding_error_handler="replace"
    )
    async with sdk.Client(server, mode=mode) as client:
        info = client.server_info
        seen.server = (
            {"name": _cut(info.name, 200), "version": _cut(info.version, 200)} if info else {"name": "", "version": ""}
        )
        seen.protocol = str(client.protocol_version)
        tools = await _tools(client)
        seen.tools = [_cut(tool.name, 200) for tool in tools]
        for call in calls(tools, MAX_CALLS):
            seen.called = await _called(sdk, client, call)
            if not seen.called["is_error"]:
                break


async def _tools(client: Any) -> list[Tool]:
    tools: list[Tool] = []
    cursor: str | None = None
    while len(tools) < MAX_TOOLS:
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            hints = tool.annotations
            reads, destroys = (hints.read_only_hint, hints.destructive_hint) if hints else (None, None)
            tools.append(Tool(tool.name, tool.input_schema, reads, destroys))
        if not page.next_cursor or page.next_cursor == cursor:
            break
        cursor = page.next_cursor
    return tools[:MAX_TOOLS]


async def _called(sdk: Any, client: Any, call: Call) -> dict[str, Any]:
    answer = {"tool": call.tool, "arguments": call.arguments}
    try:
        result = await client.call_tool(call.tool, call.arguments, read_timeout_seconds=CALL_SECONDS)
    except (sdk.MCPError, RuntimeError, ValueError) as error:
        return {**answer, "is_error": True, "text": _cut(str(error), MAX_TEXT)}
    parts = [str(getattr(part, "text", f"[{part.type}]")) for part in result.content]
    if not parts and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False)]
    return {**answer, "is_error": bool(result.is_error), "text": _cut("\n".join(parts), MAX_TEXT)}


def _first_cause(error: BaseException) -> BaseException:
    return _first_cause(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


def _complain(words: str) -> None:
    """One line on standard error."""
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in words).split())
    print(_cut(line, 500), file=sys.stderr, flush=True)


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="argusic-mcp", description="Connect a client to an MCP server over stdio.")
    parser.add_argument("--timeout", type=float, default=TIMEOUT_SECONDS, metavar="SECONDS")
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="after --, the server's command and arguments")
    given = parser.parse_args(words)
    if not 0 < given.timeout <= 3600:
        parser.error("--timeout takes more than 0 and at most 3600 seconds")
    return given


def main(words: list[str]) -> int:
    """One connection; prints what was seen and returns the exit code."""
    given = _arguments(words)
    try:
        sdk = importlib.import_module("mcp")
    except ImportError as error:
        print(f"argusic-mcp: the PyPI package mcp cannot be imported here ({error}); put its folder on PYTHONPATH")
        return NO_CONNECTION
    logging.disable(logging.CRITICAL)
    seen = Seen()
    # Nothing may outlive the time by much, not even a client stuck in a server's schema.
    watchdog = threading.Timer(given.timeout + _GRACE_SECONDS, os._exit, [TIME_OVER])
    watchdog.daemon = True
    watchdog.start()
    time_over = asyncio.run(talk(sdk, given.command, given.timeout, seen))
    print(json.dumps(asdict(seen)), flush=True)
    code = TIME_OVER if time_over else seen.code
    if code == TIME_OVER:
        _complain(f"error: the session was not over after {given.timeout:g} seconds")
    elif code == NO_ANSWER and seen.called:
        _complain(f"error: the tool {seen.called['tool']} answered: {seen.called['text']}")
    elif code == NO_ANSWER:
        _complain("error: it lists no tool that can be called with care")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
