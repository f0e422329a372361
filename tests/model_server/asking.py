"""Requests as programs send them, in each interface, and answers read back."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from http.client import IncompleteRead
from typing import Any, Literal, NamedTuple

Api = Literal["responses", "chat", "messages"]
APIS: tuple[Api, ...] = ("responses", "chat", "messages")
PATHS = {"responses": "/v1/responses", "chat": "/v1/chat/completions", "messages": "/v1/messages"}
STRING = {"type": "string"}
TOOLS: dict[str, dict[str, Any]] = {
    "exec_command": {"properties": {"cmd": STRING, "workdir": STRING}, "required": ["cmd"]},
    "shell": {"properties": {"command": {"type": "array", "items": STRING}}, "required": ["command"]},
    "bash": {"properties": {"command": STRING}, "required": ["command"]},
    "Bash": {"properties": {"command": STRING, "description": STRING}, "required": ["command", "description"]},
    "run_shell_command": {
        "properties": {"command": STRING, "is_background": {"type": "boolean"}},
        "required": ["command", "is_background"],
    },
    "read": {"properties": {"path": STRING}, "required": ["path"]},
}
"""As codex, pi, Claude Code and qwen offer them."""


class Got(NamedTuple):
    """An answer."""

    status: int
    body: Any
    """JSON of an answer that is not streamed; None of a stream."""
    events: list[tuple[str | None, Any]]
    """Name and data of each event."""
    broken: bool = False
    """Whether the connection ended before the answer did."""


def request(api: Api, results: int = 0, *, stream: bool = True, tools: tuple[str, ...] = ("read", "bash")) -> Any:
    """The body of a request with `results` results of tools in its history."""
    made: dict[str, Any]
    told: dict[str, Any] = {"role": "user", "content": "Install the project."}
    offered: list[dict[str, Any]] = [{"name": name, "description": name} for name in tools]
    if api == "chat":
        functions = [one | {"parameters": TOOLS[one["name"]]} for one in offered]
        made = {"messages": [told], "tools": [{"type": "function", "function": one} for one in functions]}
        for number in range(results):
            call = {"id": f"call_{number}", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
            made["messages"] += [{"role": "assistant", "content": None, "tool_calls": [call]}]
            made["messages"] += [{"role": "tool", "tool_call_id": f"call_{number}", "content": "done"}]
        made |= {"stream_options": {"include_usage": True}} if stream else {}
    elif api == "responses":
        functions = [{"type": "function"} | one | {"parameters": TOOLS[one["name"]]} for one in offered]
        made = {"instructions": "Be brief.", "input": [{"type": "message"} | told], "tools": functions}
        for number in range(results):
            top = {"call_id": f"call_{number}"}
            made["input"] += [{"type": "function_call", "name": "bash", "arguments": "{}"} | top]
            made["input"] += [{"type": "function_call_output", "output": "done"} | top]
    else:
        made = {"messages": [told], "tools": [one | {"input_schema": TOOLS[one["name"]]} for one in offered]}
        for number in range(results):
            call = {"type": "tool_use", "id": f"toolu_{number}", "name": "bash", "input": {}}
            made["messages"] += [{"role": "assistant", "content": [call]}]
            result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": "done"}
            made["messages"] += [{"role": "user", "content": [result]}]
    return {"model": "mock-1", "stream": stream} | made


def ask(address: str, path: str, body: Any = None, **headers: str) -> Got:
    """The answer to `body`, sent as JSON; without one, to a GET."""
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    sent = {name.replace("_", "-"): value for name, value in headers.items()} | {"Content-Type": "application/json"}
    try:
        with urllib.request.urlopen(urllib.request.Request(address + path, data, sent), timeout=20) as answer:
            try:
                text, broken = answer.read(), False
            except IncompleteRead as error:
                text, broken = error.partial, True
            if answer.headers["Content-Type"] == "text/event-stream":
                return Got(answer.status, None, _events(text.decode()), broken)
            return Got(answer.status, json.loads(text), [], broken)
    except urllib.error.HTTPError as error:
        return Got(error.code, json.loads(error.read()), [])


def speak(address: str, api: Api, results: int = 0, *, stream: bool = True, **headers: str) -> Got:
    """The answer to a request as programs send it."""
    return ask(address, PATHS[api], request(api, results, stream=stream), **headers)


def _events(text: str) -> list[tuple[str | None, Any]]:
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "data" in lines:
            data = lines["data"]
            found.append((lines.get("event"), json.loads(data) if data.startswith("{") else data))
    return found
