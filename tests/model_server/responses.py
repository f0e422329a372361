"""OpenAI's responses, as codex asks for them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.model_server.conversation import Answer, Asked, Tool, Usage
from tests.model_server.wire import CREATED, Event, halves, objects, text_of

RESULTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_RUNNING = re.compile(r"Process running with session ID (\d+)")
"""What codex says of a command that has not come to its end."""


def asked(body: dict[str, Any]) -> Asked:
    """The request of `body`."""
    items = list(objects(body.get("input")))
    told = [text_of(body.get("instructions")), text_of(body.get("input"))]
    told += [text_of(one.get("content")) for one in items if one.get("role") in ("user", "system", "developer")]
    offered = [one for one in objects(body.get("tools")) if one.get("type") == "function"]
    tools = tuple(Tool(str(one.get("name")), one.get("parameters") or {}) for one in offered)
    outputs = [_RUNNING.search(json.dumps(one.get("output"))) for one in items if one.get("type") in RESULTS]
    last = outputs[-1] if outputs else None
    running = int(last[1]) if last else None
    text = "\n".join(told)
    return Asked(str(body.get("model")), body.get("stream") is True, True, text, tools, outputs.count(None), running)


def whole(answer: Answer) -> dict[str, Any]:
    """The answer that is not streamed."""
    return _response(answer, "completed", [_item(answer)] if answer.call or answer.text else [])


def events(answer: Answer, usage_in_stream: bool) -> Iterator[Event]:
    """The answer as a stream."""
    for number, (kind, event) in enumerate(_unnumbered(answer)):
        yield kind, {"type": kind, "sequence_number": number} | event


def _unnumbered(answer: Answer) -> Iterator[tuple[str, dict[str, Any]]]:
    begun = _response(answer, "in_progress", [])
    yield "response.created", {"response": begun}
    yield "response.in_progress", {"response": begun}
    if answer.call or answer.text:
        item = _item(answer)
        place = {"item_id": item["id"], "output_index": 0}
        empty: dict[str, Any] = {"arguments": ""} if answer.call else {"content": []}
        yield "response.output_item.added", {"output_index": 0, "item": item | empty | {"status": "in_progress"}}
        yield from _of_call(item, place) if answer.call else _of_text(item, place | {"content_index": 0})
        yield "response.output_item.done", {"output_index": 0, "item": item}
    yield "response.completed", {"response": whole(answer)}


def _of_call(item: dict[str, Any], place: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in halves(item["arguments"]):
        yield "response.function_call_arguments.delta", place | {"delta": part}
    yield "response.function_call_arguments.done", place | {"arguments": item["arguments"]}


def _of_text(item: dict[str, Any], place: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    (part,) = item["content"]
    yield "response.content_part.added", place | {"part": part | {"text": ""}}
    for piece in halves(part["text"]):
        yield "response.output_text.delta", place | {"delta": piece, "logprobs": []}
    yield "response.output_text.done", place | {"text": part["text"], "logprobs": []}
    yield "response.content_part.done", place | {"part": part}


def failing(answer: Answer) -> Iterator[Event]:
    """A stream that says in its middle that nothing more will come."""
    begun = _response(answer, "in_progress", [])
    yield "response.created", {"type": "response.created", "sequence_number": 0, "response": begun}
    error = {"code": "server_error", "message": "The model had an error while processing your request"}
    failed = _response(answer, "failed", []) | {"error": error, "usage": None}
    yield "response.failed", {"type": "response.failed", "sequence_number": 1, "response": failed}


def _response(answer: Answer, status: str, output: list[dict[str, Any]]) -> dict[str, Any]:
    done = status == "completed"
    return {
        "id": f"resp_{answer.number}",
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "model": answer.model,
        "output": output,
        "usage": _usage(answer.usage) if done and answer.usage else None,
    }


def _item(answer: Answer) -> dict[str, Any]:
    if answer.call:
        return {
            "type": "function_call",
            "id": f"fc_{answer.number}",
            "call_id": f"call_{answer.number}",
            "name": answer.call.tool,
            "arguments": json.dumps(answer.call.arguments),
            "status": "completed",
        }
    part = {"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}
    top = {"type": "message", "id": f"msg_{answer.number}", "role": "assistant"}
    return top | {"content": [part], "status": "completed"}


def _usage(usage: Usage) -> dict[str, Any]:
    """Input includes what came from the cache, output includes reasoning; of writing nothing is told."""
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }
