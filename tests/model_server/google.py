"""Google's generateContent, as the gemini program asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.model_server.conversation import Answer, Asked, Tool, Usage
from tests.model_server.wire import Event, halves, objects, text_of


def asked(body: dict[str, Any]) -> Asked:
    """The request of `body`, to which model and stream have been added: here they stand in the path."""
    contents = list(objects(body.get("contents")))
    system = body.get("systemInstruction") or {}
    told = [text_of(system.get("parts"))]
    told += [text_of(one.get("parts")) for one in contents if one.get("role") != "model"]
    offered = [one for tool in objects(body.get("tools")) for one in objects(tool.get("functionDeclarations"))]
    tools = tuple(
        Tool(str(one.get("name")), one.get("parametersJsonSchema") or one.get("parameters") or {}) for one in offered
    )
    parts = [part for one in contents for part in objects(one.get("parts"))]
    results = sum("functionResponse" in part for part in parts)
    return Asked(str(body.get("model")), body.get("stream") is True, True, "\n".join(told), tools, results)


def whole(answer: Answer) -> dict[str, Any]:
    """The answer that is not streamed."""
    return _response(answer, [_call(answer)] if answer.call else [{"text": answer.text}], last=True)


def events(answer: Answer, usage_in_stream: bool) -> Iterator[Event]:
    """The answer as a stream."""
    if answer.call:
        yield None, _response(answer, [_call(answer)], last=False)
    for part in halves(answer.text):
        yield None, _response(answer, [{"text": part}], last=False)
    yield None, _response(answer, [{"text": ""}], last=True)


def failing(answer: Answer) -> Iterator[Event]:
    """A stream that says in its middle that nothing more will come."""
    yield None, _response(answer, [{"text": ""}], last=False)
    yield None, {"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}}


def _response(answer: Answer, parts: list[dict[str, Any]], last: bool) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if last:
        candidate["finishReason"] = "STOP"
    top = {"candidates": [candidate], "modelVersion": answer.model, "responseId": f"response-{answer.number}"}
    return top | ({"usageMetadata": _usage(answer.usage)} if last and answer.usage else {})


def _call(answer: Answer) -> dict[str, Any]:
    assert answer.call
    return {"functionCall": {"name": answer.call.tool, "args": answer.call.arguments}}


def _usage(usage: Usage) -> dict[str, Any]:
    """Input includes what came from the cache; output excludes reasoning, which only the total includes."""
    return {
        "promptTokenCount": usage.input,
        "cachedContentTokenCount": usage.cached,
        "candidatesTokenCount": usage.output - usage.reasoning,
        "thoughtsTokenCount": usage.reasoning,
        "totalTokenCount": usage.input + usage.output,
    }
