"""OpenAI's interface "responses", as codex speaks it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

RUNNING = re.compile(r"Process running with session ID (\d+)")
"""What the program says of a command that has not ended yet: that is no result, and is asked for once more."""


def results(body: Any) -> int:
    """Commands that have ended, by the history of a request."""
    return sum(1 for said in _outputs(body) if not RUNNING.search(said))


def _outputs(body: Any) -> list[str]:
    history = body.get("input") or []
    found = [item for item in history if isinstance(item, dict) and item.get("type") == "function_call_output"]
    return [json.dumps(item.get("output")) for item in found]


def events(body: Any, turn: Any) -> Iterator[bytes]:
    """The answer as a stream."""
    whole_answer = whole(body, turn)
    started = whole_answer | {"status": "in_progress", "output": []}
    yield _event("response.created", {"response": started})
    for number, item in enumerate(whole_answer["output"]):
        yield _event("response.output_item.added", {"output_index": number, "item": item})
        yield _event("response.output_item.done", {"output_index": number, "item": item})
    yield _event("response.completed", {"response": whole_answer})


def broken() -> bytes:
    """An error in the middle of a stream."""
    return _event("response.failed", {"response": {"error": {"code": "server_error", "message": "The server had an error."}}})  # fmt: skip


def whole(body: Any, turn: Any) -> dict[str, Any]:
    """The answer in one piece."""
    outputs = _outputs(body)
    running = RUNNING.search(outputs[-1]) if outputs else None
    if running:
        arguments = {"session_id": int(running[1]), "chars": "", "yield_time_ms": 30_000}
        item = _call(len(outputs), "write_stdin", arguments)
    elif turn.command is not None:
        names = [tool.get("name") for tool in body.get("tools") or []]
        if "exec_command" in names or "shell" not in names:
            name, arguments = "exec_command", {"cmd": turn.command, "yield_time_ms": 30_000}
        else:
            name, arguments = "shell", {"command": ["sh", "-c", turn.command]}
        item = _call(len(outputs), name, arguments)
    else:
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        item = {"type": "message", "id": f"msg_{turn.number}", "role": "assistant", "content": content}
    answer: dict[str, Any] = {
        "id": f"resp_{len(outputs)}",
        "object": "response",
        "status": "completed",
        "model": body.get("model"),
        "output": [item],
    }
    if turn.usage:
        read, cached, written, reasoning = turn.usage
        answer["usage"] = {
            "input_tokens": read,
            "input_tokens_details": {"cached_tokens": cached},
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": reasoning},
            "total_tokens": read + written,
        }
    return answer


def _call(number: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    written = json.dumps(arguments)
    return {
        "type": "function_call",
        "id": f"fc_{number}",
        "call_id": f"call_{number}",
        "name": name,
        "arguments": written,
    }


def _event(kind: str, data: dict[str, Any]) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()
