"""The three interfaces over real HTTP: what follows from a request's history, and in which shape."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.model_server import ModelServer, Script
from tests.model_server.asking import APIS, PATHS, STRING, TOOLS, Api, Got, ask, request, speak

SCRIPT = Script(("echo one", "echo two; exit 3"), "All done.")


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(SCRIPT) as made:
        yield made


def said(api: Api, got: Got) -> tuple[str, str | None, Any, str]:
    """Text, tool, its arguments, and the reason of the end, from a stream or a whole answer."""
    assert got.status == 200
    if api == "chat":
        return _chat(got)
    if api == "responses":
        return _responses(got)
    return _messages(got)


def _chat(got: Got) -> tuple[str, str | None, Any, str]:
    if got.body:
        (choice,) = got.body["choices"]
        calls = choice["message"].get("tool_calls", [])
        text, reason = choice["message"]["content"] or "", choice["finish_reason"]
        name = calls[0]["function"]["name"] if calls else None
        arguments = calls[0]["function"]["arguments"] if calls else "null"
        return text, name, json.loads(arguments), reason
    choices = [choice for _, chunk in got.events if chunk != "[DONE]" for choice in chunk["choices"]]
    functions = [call["function"] for choice in choices for call in choice["delta"].get("tool_calls", [])]
    arguments = "".join(function["arguments"] for function in functions) or "null"
    text = "".join(choice["delta"].get("content", "") for choice in choices)
    return text, functions[0]["name"] if functions else None, json.loads(arguments), choices[-1]["finish_reason"]


def _responses(got: Got) -> tuple[str, str | None, Any, str]:
    response = got.body or got.events[-1][1]["response"]
    text, name, arguments = "", None, None
    for item in response["output"]:
        if item["type"] == "function_call":
            name, arguments = item["name"], json.loads(item["arguments"])
        else:
            text += "".join(part["text"] for part in item["content"])
    if got.events:
        deltas = "".join(event["delta"] for kind, event in got.events if kind and kind.endswith(".delta"))
        assert deltas == (json.dumps(arguments) if name else text)
    return text, name, arguments, response["status"]


def _messages(got: Got) -> tuple[str, str | None, Any, str]:
    if got.body:
        blocks, reason = got.body["content"], got.body["stop_reason"]
    else:
        data = [event for _, event in got.events]
        blocks = [event["content_block"] for event in data if event["type"] == "content_block_start"]
        for event in data:
            if event["type"] == "content_block_delta" and event["delta"]["type"] == "text_delta":
                blocks[event["index"]]["text"] += event["delta"]["text"]
        parts = [event["delta"].get("partial_json", "") for event in data if event["type"] == "content_block_delta"]
        if json_text := "".join(parts):
            blocks[0]["input"] = json.loads(json_text)
        (reason,) = (event["delta"]["stop_reason"] for event in data if event["type"] == "message_delta")
    calls = [block for block in blocks if block["type"] == "tool_use"]
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    return text, calls[0]["name"] if calls else None, calls[0]["input"] if calls else None, reason


ENDS = {"responses": ("completed", "completed"), "chat": ("tool_calls", "stop"), "messages": ("tool_use", "end_turn")}


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("api", APIS)
def test_each_result_brings_the_next_command_and_the_last_the_closing_text(
    server: ModelServer, api: Api, stream: bool
) -> None:
    called, ended = ENDS[api]
    answers = [said(api, speak(server.address, api, results, stream=stream)) for results in range(4)]
    assert answers == [
        ("", "bash", {"command": "echo one"}, called),
        ("", "bash", {"command": "echo two; exit 3"}, called),
        ("All done.", None, None, ended),
        ("All done.", None, None, ended),
    ]


def test_a_stream_of_each_interface_has_its_events_in_order(server: ModelServer) -> None:
    kinds = [kind for kind, _ in speak(server.address, "responses", 2).events]
    assert kinds == [
        *("response.created", "response.in_progress", "response.output_item.added", "response.content_part.added"),
        *("response.output_text.delta", "response.output_text.delta", "response.output_text.done"),
        *("response.content_part.done", "response.output_item.done", "response.completed"),
    ]
    numbered = speak(server.address, "responses").events
    assert [event["sequence_number"] for _, event in numbered] == list(range(8))
    assert all(event["type"] == kind for kind, event in numbered)
    kinds = [kind for kind, _ in speak(server.address, "messages").events]
    assert kinds == [
        *("message_start", "content_block_start", "content_block_delta", "content_block_delta"),
        *("content_block_stop", "message_delta", "message_stop"),
    ]
    chunks = [data for _, data in speak(server.address, "chat").events]
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert chunks[-2]["choices"] == []
    assert chunks[-1] == "[DONE]"


@pytest.mark.parametrize(("results", "numbers"), [(0, (1000, 400, 50, 20)), (1, (1500, 900, 70, 30))])
@pytest.mark.parametrize("stream", [True, False])
def test_usage_is_told_in_the_meaning_of_each_interface(
    server: ModelServer, results: int, numbers: tuple[int, ...], stream: bool
) -> None:
    read, cached, written, reasoning = numbers
    got = speak(server.address, "responses", results, stream=stream)
    usage = (got.body or got.events[-1][1]["response"])["usage"]
    details = usage["input_tokens_details"]["cached_tokens"], usage["output_tokens_details"]["reasoning_tokens"]
    assert (usage["input_tokens"], usage["output_tokens"], *details) == (read, written, cached, reasoning)
    got = speak(server.address, "chat", results, stream=stream)
    usage = (got.body or got.events[-2][1])["usage"]
    details = usage["prompt_tokens_details"]["cached_tokens"], usage["completion_tokens_details"]["reasoning_tokens"]
    assert (usage["prompt_tokens"], usage["completion_tokens"], *details) == (read, written, cached, reasoning)
    got = speak(server.address, "messages", results, stream=stream)
    usage = (got.body or got.events[-2][1])["usage"]
    assert usage["cache_read_input_tokens"] == cached
    assert sum(usage.values()) - usage["output_tokens"] == read
    assert usage["output_tokens"] == written


def test_a_chat_stream_tells_usage_only_where_it_is_asked_to(server: ModelServer) -> None:
    body = request("chat")
    del body["stream_options"]
    assert not any("usage" in data for _, data in ask(server.address, PATHS["chat"], body).events)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("exec_command", {"cmd": "echo one"}),
        ("shell", {"command": ["bash", "-lc", "echo one"]}),
        ("bash", {"command": "echo one"}),
        ("Bash", {"command": "echo one", "description": "Run a command"}),
        ("run_shell_command", {"command": "echo one", "is_background": False}),
    ],
)
@pytest.mark.parametrize("api", APIS)
def test_the_tool_is_one_that_the_request_offers_with_the_arguments_that_it_demands(
    server: ModelServer, api: Api, tool: str, arguments: dict[str, Any]
) -> None:
    got = ask(server.address, PATHS[api], request(api, tools=("read", tool)))
    assert said(api, got)[1:3] == (tool, arguments)
    assert set(TOOLS[tool]["required"]) <= set(arguments)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("tools", [(), ("read",)])
def test_without_a_tool_for_commands_there_is_only_the_closing_text(
    server: ModelServer, api: Api, tools: tuple[str, ...]
) -> None:
    assert said(api, ask(server.address, PATHS[api], request(api, tools=tools)))[:2] == ("All done.", None)


def test_a_command_that_still_runs_is_waited_for_and_the_next_one_comes_after_it(server: ModelServer) -> None:
    """codex answers after some seconds that a command runs on; a script that went on would work beside it."""
    body = request("responses", 1, tools=("exec_command",))
    body["input"][-1]["output"] = "Wall time: 30.0 seconds\nProcess running with session ID 4711\nOutput:\n"
    name, arguments = said("responses", ask(server.address, PATHS["responses"], body))[1:3]
    assert (name, arguments) == ("write_stdin", {"session_id": 4711, "chars": "", "yield_time_ms": 30_000})
    body["input"] += [{"type": "function_call_output", "call_id": "call_x", "output": "Process exited with code 0"}]
    assert said("responses", ask(server.address, PATHS["responses"], body))[2] == {"cmd": "echo two; exit 3"}


def test_a_tool_that_can_be_told_how_long_to_wait_is_told_its_longest(server: ModelServer) -> None:
    body = request("responses", tools=("exec_command",))
    body["tools"][0]["parameters"] = {"properties": {"cmd": STRING, "yield_time_ms": {"type": "number"}}}
    assert said("responses", ask(server.address, PATHS["responses"], body))[2]["yield_time_ms"] == 30_000
    body = request("messages", tools=("Bash",))
    body["tools"][0]["input_schema"] = {"properties": {"command": STRING, "timeout": {"type": "number"}}}
    assert said("messages", ask(server.address, PATHS["messages"], body))[2]["timeout"] == 600_000


def test_commands_stand_in_a_block_where_a_program_reads_them_there(server: ModelServer) -> None:
    """mini-SWE-agent without tools: each answer is a block of one command, each result a message of its person."""
    told = "Answer with one ```mswea_bash_command block; end by echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
    messages: list[dict[str, Any]] = [{"role": "system", "content": told}]
    found = []
    for _ in range(4):
        got = ask(server.address, PATHS["chat"], {"model": "m", "messages": messages})
        text = got.body["choices"][0]["message"]["content"]
        found.append(text.partition("```mswea_bash_command\n")[2].partition("\n```")[0])
        messages += [{"role": "assistant", "content": text}, {"role": "user", "content": "<returncode>0</returncode>"}]
    assert found == ["echo one", "echo two; exit 3", "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", ""]


@pytest.mark.parametrize("api", APIS)
def test_ids_are_new_with_each_request_and_the_rest_is_the_same_on_every_server(api: Api) -> None:
    made = []
    for _ in range(2):
        with ModelServer(SCRIPT) as fresh:
            made.append([speak(fresh.address, api, stream=False).body for _ in range(2)])
    assert made[0] == made[1]
    assert made[0][0]["id"] != made[0][1]["id"]


def test_many_ask_at_once_and_nothing_that_arrived_is_lost() -> None:
    with ModelServer(SCRIPT) as fresh, ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda number: speak(fresh.address, "chat", number % 3), range(40)))
        assert [said("chat", got)[0] for got in answers] == ["", "", "All done."] * 13 + [""]
        assert len(fresh.requests) == 40
        assert len({events[0][1]["id"] for events in (got.events for got in answers)}) == 40


def test_a_body_in_chunks_is_read_too(server: ModelServer) -> None:
    import http.client

    data = json.dumps(request("chat", stream=False)).encode()
    connection = http.client.HTTPConnection("127.0.0.1", int(server.address.rpartition(":")[2]), timeout=20)
    try:
        for _ in range(2):
            connection.request("POST", PATHS["chat"], iter((data[:7], data[7:])), encode_chunked=True)
            assert json.loads(connection.getresponse().read())["object"] == "chat.completion"
    finally:
        connection.close()
