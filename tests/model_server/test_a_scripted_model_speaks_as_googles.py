"""Google's interface over real HTTP: model and stream stand in the path, and reasoning is not in the output."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from archive.reasons import Limit, Reason
from runner.agents.trouble import condition_of
from tests.model_server import Mode, ModelServer, Script
from tests.model_server.asking import TOOLS, Got, ask

WHOLE = "/v1beta/models/mock-1:generateContent"
STREAM = "/v1beta/models/mock-1:streamGenerateContent?alt=sse"
SCRIPT = Script(("echo one", "echo two"), "All done.")
KEY = "-".join(("sk", "test", "1"))


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(SCRIPT, key=KEY) as made:
        yield made


def speak(server: ModelServer, mode: Mode, path: str, results: int = 0, key: str = KEY) -> Got:
    contents: list[dict[str, Any]] = [{"role": "user", "parts": [{"text": "Install the project."}]}]
    for _ in range(results):
        contents += [{"role": "model", "parts": [{"functionCall": {"name": "run_shell_command", "args": {}}}]}]
        contents += [{"role": "user", "parts": [{"functionResponse": {"name": "run_shell_command", "response": {}}}]}]
    tool = {"name": "run_shell_command", "parametersJsonSchema": TOOLS["run_shell_command"]}
    body = {"contents": contents, "tools": [{"functionDeclarations": [tool]}]}
    return ask(server.at(mode), path, body, X_Goog_Api_Key=key)


def candidates(got: Got) -> list[dict[str, Any]]:
    return [chunk["candidates"][0] for chunk in ([got.body] if got.body else [data for _, data in got.events])]


@pytest.mark.parametrize("path", [WHOLE, STREAM])
def test_each_result_brings_the_next_command_and_the_last_the_closing_text(server: ModelServer, path: str) -> None:
    found = []
    for results in range(3):
        parts = [part for one in candidates(speak(server, "ok", path, results)) for part in one["content"]["parts"]]
        calls = [part["functionCall"]["args"]["command"] for part in parts if "functionCall" in part]
        found.append((calls, "".join(part.get("text", "") for part in parts)))
    assert found == [(["echo one"], ""), (["echo two"], ""), ([], "All done.")]


@pytest.mark.parametrize("path", [WHOLE, STREAM])
def test_reasoning_is_told_beside_the_output(server: ModelServer, path: str) -> None:
    got = speak(server, "ok", path)
    last = got.body or got.events[-1][1]
    assert last["candidates"][0]["finishReason"] == "STOP"
    assert last["usageMetadata"] == {
        "promptTokenCount": 1000,
        "cachedContentTokenCount": 400,
        "candidatesTokenCount": 30,
        "thoughtsTokenCount": 20,
        "totalTokenCount": 1050,
    }
    silent = speak(server, "no-usage", path)
    assert "usageMetadata" not in (silent.body or silent.events[-1][1])


@pytest.mark.parametrize("path", [WHOLE, STREAM])
@pytest.mark.parametrize(
    ("mode", "status", "condition"),
    [
        ("401", 401, Reason.KEY_REFUSED),
        ("402", 402, Reason.KEY_UNFUNDED),
        ("403-key-limit", 403, Limit.KEY_CAP),
        ("429", 429, Reason.PROVIDER_RATE_LIMITED),
        ("500", 500, Reason.PROVIDER_ERROR),
        ("budget-422", 422, Limit.KEY_CAP),
    ],
)
def test_it_refuses_as_its_provider_does(
    server: ModelServer, path: str, mode: Mode, status: int, condition: Reason | Limit
) -> None:
    got = speak(server, mode, path)
    assert got.status == status
    if mode in ("401", "429", "500"):
        assert set(got.body["error"]) == {"code", "message", "status"}
    assert condition_of(str(got.body["error"]["message"]), status=status) is condition
    assert speak(server, "ok", path, key=f"{KEY}x").status == 401


def test_a_cut_stream_has_no_reason_to_finish(server: ModelServer) -> None:
    for results in (0, 2):
        found = candidates(speak(server, "cut", STREAM, results))
        assert found
        assert not any("finishReason" in one for one in found)
    assert "error" in speak(server, "error-in-stream", STREAM).events[-1][1]
