"""OpenAI's interface "chat completions", which most providers speak."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

TEXT_COMMAND = "mswea_bash_command"
"""Where no tools are offered, and the system's words ask for commands in such a block."""


def results(body: Any) -> int:
    """Tool results in the history of a request; where commands are text, the answers that the model has given."""
    counted = "tool" if body.get("tools") else "assistant"
    return sum(1 for message in body.get("messages") or [] if message.get("role") == counted)


def events(body: Any, turn: Any) -> Iterator[bytes]:
    """The answer as a stream."""
    answer = whole(body, turn)
    message = answer["choices"][0]["message"]
    head = {name: answer[name] for name in ("id", "created", "model")} | {"object": "chat.completion.chunk"}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        return _data(head | {"choices": choices})

    yield chunk({"role": "assistant", "content": ""})
    if message.get("content"):
        yield chunk({"content": message["content"]})
    for number, call in enumerate(message.get("tool_calls") or []):
        yield chunk({"tool_calls": [{"index": number, **call}]})
    yield chunk({}, answer["choices"][0]["finish_reason"])
    if turn.usage:
        yield _data(head | {"choices": [], "usage": answer["usage"]})
    yield b"data: [DONE]\n\n"


def broken() -> bytes:
    """An error in the middle of a stream, as OpenRouter sends it."""
    error = {"code": 402, "message": "Insufficient credits", "metadata": {"limit_source": "openrouter_credits"}}
    choices = [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]
    return _data({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "error": error, "choices": choices})  # fmt: skip


def whole(body: Any, turn: Any) -> dict[str, Any]:
    """The answer in one piece."""
    message: dict[str, Any] = {"role": "assistant", "content": turn.text}
    finish = "stop"
    if turn.command is not None:
        tool = _tool(body)
        if tool:
            function = {"name": tool, "arguments": json.dumps({"command": turn.command, "description": "the next one"})}
            message["tool_calls"] = [{"id": f"call_{turn.number}", "type": "function", "function": function}]
            finish = "tool_calls"
        else:
            message["content"] = f"THOUGHT: the next one.\n\n```{TEXT_COMMAND}\n{turn.command}\n```"
    answer: dict[str, Any] = {
        "id": f"chatcmpl-{turn.number}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": body.get("model"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    if turn.usage:
        read, cached, written, reasoning = turn.usage
        answer["usage"] = {
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read + written,
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        }
    return answer


def _tool(body: Any) -> str | None:
    names = [tool.get("function", {}).get("name") for tool in body.get("tools") or []]
    return next((name for name in ("bash", "run_shell_command", "shell") if name in names), None)


def _data(data: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()
