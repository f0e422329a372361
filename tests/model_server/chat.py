"""OpenAI's chat completions, as pi, opencode, qwen and LiteLLM ask for them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.model_server.conversation import FENCE, Answer, Asked, Tool, Usage
from tests.model_server.modes import KEY_LIMIT
from tests.model_server.wire import CREATED, Event, halves, objects, text_of

DONE = "[DONE]"


def asked(body: dict[str, Any]) -> Asked:
    """The request of `body`."""
    messages = list(objects(body.get("messages")))
    told = "\n".join(text_of(one.get("content")) for one in messages if one.get("role") not in ("assistant", "tool"))
    functions = [tool["function"] for tool in objects(body.get("tools")) if isinstance(tool.get("function"), dict)]
    tools = tuple(Tool(str(one.get("name")), one.get("parameters") or {}) for one in functions)
    results = sum(one.get("role") == "tool" for one in messages)
    if not tools:
        spoken = (text_of(one.get("content")) for one in messages if one.get("role") == "assistant")
        results += sum(f"```{FENCE}" in text for text in spoken)
    options = body.get("stream_options")
    in_stream = isinstance(options, dict) and options.get("include_usage") is True
    return Asked(str(body.get("model")), body.get("stream") is True, in_stream, told, tools, results)


def whole(answer: Answer) -> dict[str, Any]:
    """The answer that is not streamed."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or (None if answer.call else "")}
    if answer.call:
        message["tool_calls"] = [_call(answer)]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(answer)}
    made = _top(answer, "chat.completion") | {"choices": [choice]}
    return made | ({"usage": _usage(answer.usage)} if answer.usage else {})


def events(answer: Answer, usage_in_stream: bool) -> Iterator[Event]:
    """The answer as a stream."""
    yield _delta(answer, {"role": "assistant", "content": ""})
    if answer.call:
        call = _call(answer)
        first, second = halves(call["function"]["arguments"])
        yield _delta(answer, {"tool_calls": [{"index": 0} | call | {"function": call["function"] | {"arguments": ""}}]})
        for part in (first, second):
            yield _delta(answer, {"tool_calls": [{"index": 0, "function": {"arguments": part}}]})
    for part in halves(answer.text):
        yield _delta(answer, {"content": part})
    yield _delta(answer, {}, _reason(answer))
    if answer.usage and usage_in_stream:
        yield None, _top(answer, "chat.completion.chunk") | {"choices": [], "usage": _usage(answer.usage)}
    yield None, DONE


def failing(answer: Answer) -> Iterator[Event]:
    """A stream that says in its middle that nothing more will come: OpenRouter's way."""
    yield _delta(answer, {"role": "assistant", "content": ""})
    yield None, _delta(answer, {"content": ""}, "error")[1] | {"error": {"code": 402, "message": KEY_LIMIT}}
    yield None, DONE


def _top(answer: Answer, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{answer.number}", "object": kind, "created": CREATED, "model": answer.model}


def _delta(answer: Answer, delta: dict[str, Any], reason: str | None = None) -> Event:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
    return None, _top(answer, "chat.completion.chunk") | {"choices": [choice]}


def _call(answer: Answer) -> dict[str, Any]:
    assert answer.call
    function = {"name": answer.call.tool, "arguments": json.dumps(answer.call.arguments)}
    return {"id": f"call_{answer.number}", "type": "function", "function": function}


def _reason(answer: Answer) -> str:
    return "tool_calls" if answer.call else "stop"


def _usage(usage: Usage) -> dict[str, Any]:
    """Input includes what came from the cache, output includes reasoning; of writing nothing is told."""
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }
