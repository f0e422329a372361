"""Each mode over real HTTP, the check of the key, and what is kept of requests."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from archive.reasons import Limit, Reason
from runner.agents.trouble import condition_of
from tests.model_server import MODES, Mode, ModelServer, Script
from tests.model_server.asking import APIS, PATHS, Api, ask, request, speak

SCRIPT = Script(("echo one",), "All done.")
KEY = "-".join(("sk", "test", "1"))
CHECKOUT = Path(__file__).parents[2]
REFUSALS: list[tuple[Mode, int, Reason | Limit]] = [
    ("401", 401, Reason.KEY_REFUSED),
    ("402", 402, Reason.KEY_UNFUNDED),
    ("403-key-limit", 403, Limit.KEY_CAP),
    ("429", 429, Reason.PROVIDER_RATE_LIMITED),
    ("500", 500, Reason.PROVIDER_ERROR),
    ("budget-400", 400, Limit.KEY_CAP),
    ("budget-422", 422, Limit.KEY_CAP),
    ("budget-429", 429, Limit.KEY_CAP),
]
LAST = {"responses": "response.completed", "messages": "message_stop"}
LASTS = ("response.completed", "message_stop", "[DONE]")


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(SCRIPT, key=KEY) as made:
        yield made


def at(server: ModelServer, mode: Mode, api: Api, results: int = 0, *, stream: bool = True) -> Any:
    return speak(server.at(mode), api, results, stream=stream, Authorization=f"Bearer {KEY}")


def ended(events: list[tuple[str | None, Any]]) -> bool:
    """Whether a stream came to its end."""
    kind, data = events[-1]
    return kind in LASTS or data in LASTS


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(("mode", "status", "condition"), REFUSALS, ids=[row[0] for row in REFUSALS])
def test_a_refusal_has_the_status_and_the_shape_that_its_provider_sends(
    server: ModelServer, mode: Mode, status: int, condition: Reason | Limit, api: Api, stream: bool
) -> None:
    got = at(server, mode, api, stream=stream)
    assert (got.status, got.events) == (status, [])
    error = got.body["error"]
    assert error["message"]
    assert ("type" in got.body) is (api == "messages" and not mode.startswith("budget"))
    assert condition_of(json.dumps(got.body), status=status) is condition


def test_a_spent_budget_has_its_type_whatever_its_status(server: ModelServer) -> None:
    for mode in ("budget-400", "budget-422", "budget-429"):
        error = at(server, mode, "chat").body["error"]
        assert (error["type"], error["code"]) == ("budget_exceeded", mode.removeprefix("budget-"))


@pytest.mark.parametrize("api", APIS)
def test_after_one_answer_nothing_is_left(server: ModelServer, api: Api) -> None:
    assert [at(server, "402-after-one", api, results).status for results in (0, 1, 2)] == [200, 402, 402]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("results", [0, 1])
def test_a_cut_stream_begins_well_and_does_not_end(server: ModelServer, api: Api, results: int) -> None:
    whole, cut = at(server, "ok", api, results), at(server, "cut", api, results)
    assert ended(whole.events)
    assert not ended(cut.events)
    assert (cut.status, cut.broken, len(cut.events)) == (200, False, (len(whole.events) + 1) // 2)
    assert [kind for kind, _ in cut.events] == [kind for kind, _ in whole.events[: len(cut.events)]]
    if api == "chat":
        assert all(choice["finish_reason"] is None for _, chunk in cut.events for choice in chunk["choices"])
    broken = at(server, "cut-connection", api, results)
    assert broken.broken
    assert len(broken.events) == len(cut.events)
    assert at(server, "cut", api, results, stream=False).body


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("api", APIS)
def test_a_claim_without_a_call_and_an_empty_answer_are_whole_answers(
    server: ModelServer, api: Api, stream: bool
) -> None:
    for mode, claims in (("no-tool", True), ("empty", False)):
        got = at(server, mode, api, stream=stream)
        everything = json.dumps(got.body or got.events)
        assert got.status == 200
        assert ("I have installed and" in everything or "I have installed an" in everything) is claims
        assert "echo one" not in everything
        if stream:
            assert ended(got.events)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("api", APIS)
def test_a_provider_may_tell_no_usage(server: ModelServer, api: Api, stream: bool) -> None:
    got = at(server, "no-usage", api, stream=stream)
    text = json.dumps(got.body or got.events)
    assert "_tokens" not in text
    assert "echo" in text


def test_a_stream_that_fails_says_so_in_the_way_of_its_interface(server: ModelServer) -> None:
    chunk = at(server, "error-in-stream", "chat").events[-2][1]
    assert (chunk["error"]["code"], chunk["choices"][0]["finish_reason"]) == (402, "error")
    kind, event = at(server, "error-in-stream", "responses").events[-1]
    assert (kind, event["response"]["status"]) == ("response.failed", "failed")
    kind, event = at(server, "error-in-stream", "messages").events[-1]
    assert (kind, event["error"]["type"]) == ("error", "overloaded_error")


@pytest.mark.parametrize("api", APIS)
def test_a_slow_answer_is_the_same_answer_byte_by_byte(api: Api) -> None:
    with ModelServer(SCRIPT, "slow", slow_milliseconds=0.2) as slow, ModelServer(SCRIPT) as usual:
        began = time.monotonic()
        got = speak(slow.address, api)
        took = time.monotonic() - began
        assert got == speak(usual.address, api)
        assert took >= 0.2 / 1000 * sum(len(json.dumps(data)) for _, data in got.events)


@pytest.mark.parametrize("api", APIS)
def test_the_mode_of_the_server_holds_where_the_address_says_none(api: Api) -> None:
    with ModelServer(SCRIPT, "429") as limited:
        assert speak(limited.address, api).status == 429
        assert speak(f"{limited.address}/router/api", api).status == 429
        assert speak(limited.at("ok"), api).status == 200
        assert [one.mode for one in limited.requests] == ["429", "429", "ok"]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("header", ["Authorization", "X_Api_Key", "X_Goog_Api_Key"])
def test_a_key_is_taken_from_each_header_and_another_is_refused(server: ModelServer, api: Api, header: str) -> None:
    before = len(server.requests)
    beginning = "Bearer " if header == "Authorization" else ""
    right = speak(server.address, api, **{header: beginning + KEY})
    wrong = speak(server.address, api, **{header: f"{beginning}{KEY}x"})
    none = speak(server.at("429"), api)
    assert [got.status for got in (right, wrong, none)] == [200, 401, 401]
    kind = wrong.body["error"]["type"], wrong.body["error"].get("code")
    assert kind == (
        ("authentication_error", None) if api == "messages" else ("invalid_request_error", "invalid_api_key")
    )
    arrived = server.requests[before:]
    assert [one.key_ok for one in arrived] == [True, False, False]
    assert KEY not in json.dumps([one.headers for one in arrived])
    assert arrived[0].body == request(api)


def test_models_are_listed_for_the_right_key(server: ModelServer) -> None:
    (model,) = ask(server.address, "/v1/models", Authorization=f"Bearer {KEY}").body["data"]
    assert model["id"] == "mock-1"
    assert ask(server.address, "/v1/models").status == 401
    assert ask(server.at("500"), "/v1/models", Authorization=f"Bearer {KEY}").status == 500


def test_what_is_no_request_is_answered_and_kept(server: ModelServer) -> None:
    key = {"Authorization": f"Bearer {KEY}"}
    for path, body, status in (
        ("/v1/elsewhere", {}, 404),
        ("/", None, 404),
        ("/v1/chat/completions", None, 404),
        ("/v1/models", {}, 404),
        ("/m/sometimes/v1/messages", {}, 404),
        ("/v1/messages", b"no JSON", 400),
        ("/v1/responses", [1], 400),
    ):
        before = len(server.requests)
        assert ask(server.address, path, body, **key).status == status
        assert server.requests[before].path == path
    assert ask(server.address, "/v1/messages/count_tokens?beta=true", {}, **key).body == {"input_tokens": 1000}


def test_a_mode_that_is_none_is_refused_with_all_that_there_are() -> None:
    with pytest.raises(ValueError, match=r"no mode 'odd'; one of ok, 401, 402"):
        ModelServer(SCRIPT, "odd")  # type: ignore[arg-type]


@pytest.mark.parametrize("by", ["port", "socket"])
def test_it_is_started_by_hand_with_commands_from_a_file(tmp_path: Path, by: str) -> None:
    commands = tmp_path / "commands.json"
    commands.write_text(json.dumps(["echo by hand"] if by == "port" else {"commands": ["echo by hand"]}))
    # A path of a socket is short.
    with tempfile.TemporaryDirectory(prefix="a-", dir="/tmp") as short:
        words = [sys.executable, "-m", "tests.model_server", "--commands", str(commands), "--mode", "no-usage"]
        words += ["--socket", f"{short}/model"] if by == "socket" else []
        environment = os.environ | {"ARGUSIC_MODEL_SERVER_KEY": KEY}
        process = subprocess.Popen(words, cwd=CHECKOUT, stdout=subprocess.PIPE, env=environment, text=True)
        try:
            assert process.stdout
            place = process.stdout.readline().strip()
            if by == "port":
                assert "echo by hand" in str(speak(place, "messages", stream=False, X_Api_Key=KEY).body)
            else:
                assert "echo by hand" in over_socket(place)
        finally:
            process.terminate()
            assert process.wait(10) == 0
        assert not Path(short, "model").exists()


def over_socket(place: str) -> str:
    body = json.dumps(request("chat", stream=False)).encode()
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(20)
        client.connect(place)
        top = f"POST {PATHS['chat']} HTTP/1.1\r\nHost: model\r\nAuthorization: Bearer {KEY}\r\nConnection: close\r\n"
        client.sendall(f"{top}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        return b"".join(iter(lambda: client.recv(65536), b"")).decode()


def test_every_mode_is_in_a_test_here() -> None:
    text = Path(__file__).read_text()
    assert [mode for mode in MODES if f'"{mode}"' not in text] == []
