"""Anthropic's messages, as Claude Code asks for them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.model_server.conversation import Answer, Asked, Tool, Usage
from tests.model_server.wire import Event, halves, objects, text_of


def asked(body: dict[str, Any]) -> Asked:
    """The request of `body`."""
    messages = list(objects(body.get("messages")))
    told = [text_of(body.get("system"))]
    told += [text_of(one.get("content")) for one in messages if one.get("role") == "user"]
    offered = objects(body.get("tools"))
    tools = tuple(Tool(str(one.get("name")), one.get("input_schema") or {}) for one in offered)
    blocks = [block for one in messages for block in objects(one.get("content"))]
    results = sum(block.get("type") == "tool_result" for block in blocks)
    return Asked(str(body.get("model")), body.get("stream") is True, True, "\n".join(told), tools, results)


def whole(answer: Answer) -> dict[str, Any]:
    """The answer that is not streamed."""
    return _message(answer, [block] if (block := _block(answer)) else [], _reason(answer), _usage(answer.usage))


def events(answer: Answer, usage_in_stream: bool) -> Iterator[Event]:
    """The answer as a stream."""
    for event in _plain(answer):
        yield event["type"], event


def _plain(answer: Answer) -> Iterator[dict[str, Any]]:
    begun = _usage(answer.usage)
    if begun:
        # The output is known at the end.
        begun["output_tokens"] = 1
    yield {"type": "message_start", "message": _message(answer, [], None, begun)}
    if block := _block(answer):
        nothing: dict[str, Any] = {"input": {}} if answer.call else {"text": ""}
        yield {"type": "content_block_start", "index": 0, "content_block": block | nothing}
        text = json.dumps(block["input"]) if answer.call else answer.text
        kind, place = ("input_json_delta", "partial_json") if answer.call else ("text_delta", "text")
        for part in halves(text):
            yield {"type": "content_block_delta", "index": 0, "delta": {"type": kind, place: part}}
        yield {"type": "content_block_stop", "index": 0}
    delta = {"stop_reason": _reason(answer), "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta} | ({"usage": usage} if (usage := _usage(answer.usage)) else {})
    yield {"type": "message_stop"}


def failing(answer: Answer) -> Iterator[Event]:
    """A stream that says in its middle that nothing more will come."""
    start = next(_plain(answer))
    yield start["type"], start
    yield "error", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


def _message(
    answer: Answer, content: list[dict[str, Any]], reason: str | None, usage: dict[str, Any] | None
) -> dict[str, Any]:
    top = {"id": f"msg_{answer.number}", "type": "message", "role": "assistant", "model": answer.model}
    made = top | {"content": content, "stop_reason": reason, "stop_sequence": None}
    return made | ({"usage": usage} if usage else {})


def _block(answer: Answer) -> dict[str, Any] | None:
    if answer.call:
        top = {"type": "tool_use", "id": f"toolu_{answer.number}", "name": answer.call.tool}
        return top | {"input": answer.call.arguments}
    return {"type": "text", "text": answer.text} if answer.text else None


def _reason(answer: Answer) -> str:
    return "tool_use" if answer.call else "end_turn"


def _usage(usage: Usage | None) -> dict[str, Any] | None:
    """Input excludes what came from a cache and what was written to it; of reasoning nothing is told."""
    return usage and {
        "input_tokens": usage.input - usage.cached - usage.written,
        "cache_creation_input_tokens": usage.written,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
    }
