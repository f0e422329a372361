"""Anthropic's interface "messages", as claude speaks it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


def results(body: Any) -> int:
    """Tool results in the history of a request."""
    found = 0
    for message in body.get("messages") or []:
        content = message.get("content")
        if isinstance(content, list):
            found += sum(1 for block in content if isinstance(block, dict) and block.get("type") == "tool_result")
    return found


def events(body: Any, turn: Any) -> Iterator[bytes]:
    """The answer as a stream."""
    answer = whole(body, turn)
    usage = answer["usage"]
    yield _event("message_start", {"message": answer | {"content": [], "stop_reason": None, "usage": usage | {"output_tokens": 1}}})  # fmt: skip
    for number, block in enumerate(answer["content"]):
        if block["type"] == "tool_use":
            yield _event("content_block_start", {"index": number, "content_block": block | {"input": {}}})
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        else:
            yield _event("content_block_start", {"index": number, "content_block": {"type": "text", "text": ""}})
            delta = {"type": "text_delta", "text": block["text"]}
        yield _event("content_block_delta", {"index": number, "delta": delta})
        yield _event("content_block_stop", {"index": number})
    yield _event(
        "message_delta",
        {"delta": {"stop_reason": answer["stop_reason"], "stop_sequence": None}, "usage": {"output_tokens": usage["output_tokens"]}},
    )  # fmt: skip
    yield _event("message_stop", {})


def broken() -> bytes:
    """An error in the middle of a stream."""
    return _event("error", {"error": {"type": "overloaded_error", "message": "Overloaded"}})


def whole(body: Any, turn: Any) -> dict[str, Any]:
    """The answer in one piece; input there excludes what came from a cache or was written to one."""
    read, cached, written, _ = turn.usage or (0, 0, 0, 0)
    if turn.command is not None:
        block: dict[str, Any] = {
            "type": "tool_use",
            "id": f"toolu_{turn.number}",
            "name": "Bash",
            "input": {"command": turn.command, "description": "the next one", "timeout": 600_000},
        }
    else:
        block = {"type": "text", "text": turn.text}
    return {
        "id": f"msg_{turn.number}",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": [block],
        "stop_reason": "tool_use" if turn.command is not None else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": read - cached,
            "cache_read_input_tokens": cached,
            "cache_creation_input_tokens": 100 * min(turn.number + 1, 2) if turn.usage else 0,
            "output_tokens": written,
        },
    }


def _event(kind: str, data: dict[str, Any]) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()
