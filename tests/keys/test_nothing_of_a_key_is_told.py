"""No key stands in an error, whatever a broker says; and the management key goes to one address only."""

from __future__ import annotations

import contextlib
import json
import traceback
from collections.abc import Callable

import pytest

from archive.errors import ArgusicError
from runner.keys import ADDRESS_VARIABLES, BrokerError, broker
from runner.keys import http as http_module
from runner.keys.http import Client
from runner.keys.openrouter import OpenRouter
from tests.keys.conftest import CAP, Side
from tests.keys.fakes import FakeOpenRouter, Sent, running

ENDS = "2126-12-01T10:00:00Z"


def every_call(at: Side, secret: str) -> dict[str, Callable[[], object]]:
    return {
        "create": lambda: at.broker.create("argusic-x", CAP, ENDS),
        "show": lambda: at.broker.account("some-id"),
        "delete": lambda: at.broker.delete("some-id"),
        "try": lambda: at.broker.refused(secret),
        "list": lambda: list(at.broker.ours()),
    }


def error_of(call: Callable[[], object]) -> str:
    with pytest.raises(BrokerError) as caught:
        call()
    return "".join(traceback.format_exception(caught.value))


def test_a_key_that_a_broker_repeats_in_its_error_is_not_repeated(at: Side) -> None:
    secret = at.open().secret
    told = {"error": {"message": f"bad key {secret} and {at.fake.management}", "param": secret, "code": "500"}}
    for what, call in every_call(at, secret).items():
        for body in (told, json.dumps(told).encode()[:-1], f"<html>{secret} {at.fake.management}</html>".encode()):
            at.fake.instead[what] = [Sent(500, body)]
            said = error_of(call)
            assert "answered 500" in said
            assert secret not in said
            assert at.fake.management not in said


def test_an_expired_key_that_its_proxy_shows_in_plain_text_is_refused_and_not_told(litellm: Side) -> None:
    lease = litellm.open()
    litellm.fake.keys[lease.id]["expires"] = "2020-01-01T00:00:00+00:00"
    assert litellm.broker.refused(lease.secret) is True


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\xfe\x00not text",
        b'{"data": NaN, "keys": NaN, "info": NaN}',
        b"[" * 100_000,
        b'{"data": ' + b"9" * 5000 + b"}",
        b"null",
        b"[]",
        '{"data": "\u202e", "keys": "\u202e", "info": "\u202e", "key": "\u202e"}'.encode(),
        b'{"data": {"hash": 7}, "keys": [7], "info": 7, "key": {"a": 1}}',
    ],
    ids=["no-utf8", "nan", "deep", "long-number", "null", "list", "unicode", "wrong-types"],
)
def test_garbage_is_an_error_in_words(at: Side, body: bytes) -> None:
    secret = at.open().secret
    for what, call in every_call(at, secret).items():
        at.fake.instead[what] = [Sent(200, body)]
        if what in ("delete", "try"):  # Their status is the answer; the deletion is confirmed by other calls.
            with contextlib.suppress(BrokerError):
                assert not call()
        else:
            assert at.fake.name in error_of(call)


def test_numbers_that_would_fill_memory_are_unknown(at: Side) -> None:
    lease = at.open()
    field = {"openrouter": "usage", "litellm": "spend"}[at.fake.name]
    facts = json.dumps({"hash": lease.id, "info": {}, field: "BIG"}).replace('"BIG"', "1e999999999")
    body = f'{{"data": {facts}, "info": {facts}}}'.encode()
    at.fake.instead["show"] = [Sent(200, body)]
    account = at.broker.account(lease.id)
    assert account is not None
    assert account.spent_micro_usd is None


def test_an_answer_without_end_is_cut(at: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_module, "MOST_BYTES", 1 << 20)
    at.fake.instead["list"] = [Sent(200, b" " * (2 << 20))]
    assert "more than 1 MiB" in error_of(lambda: list(at.broker.ours()))


def test_an_answer_that_trickles_is_given_up(at: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_module, "SECONDS_IN_ALL", -1.0)
    assert "too slowly" in error_of(lambda: list(at.broker.ours()))


def test_a_redirect_to_another_host_gets_no_key(at: Side) -> None:
    other = FakeOpenRouter()
    secret = at.open().secret
    with running(other) as address:
        for status in (301, 302, 303, 307, 308):
            for what, call in every_call(at, secret).items():
                at.fake.instead[what] = [Sent(status, b"", {"Location": address + "/keys"})]
                assert f"answered {status}" in error_of(call)
    assert other.asked == []


def test_a_redirect_is_explained(at: Side) -> None:
    at.fake.instead["list"] = [Sent(301, b"", {"Location": "/elsewhere"})]
    assert f"correct {ADDRESS_VARIABLES[at.fake.name]}" in error_of(lambda: list(at.broker.ours()))


def test_a_machine_that_is_not_there_is_told_without_its_words(at: Side) -> None:
    gone = broker(at.fake.name, at.environ | {ADDRESS_VARIABLES[at.fake.name]: "http://127.0.0.1:1"})
    said = error_of(lambda: gone.account("x"))
    assert "show a key: no answer" in said
    assert at.fake.management not in said


def test_a_proxy_of_the_surroundings_sees_nothing_that_goes_to_loopback(
    at: Side, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(FakeOpenRouter()) as proxy:
        monkeypatch.setenv("http_proxy", proxy)
        monkeypatch.setenv("HTTP_PROXY", proxy)
        again = broker(at.fake.name, at.environ)
    assert list(again.ours()) == []


@pytest.mark.parametrize(
    "address",
    [
        "http://broker.example",
        "http://10.0.0.1/api",
        "http://127.0.0.1.broker.example",
        "ftp://127.0.0.1",
        "file:///etc/passwd",
        "broker.example",
        "https://me:word@broker.example",
        "https://broker.example/?key=1",
        "https://broker.example/#x",
        "https://[::1",
        "https://broker.example:99999",
        "",
    ],
)
def test_a_management_key_travels_by_tls_or_stays_here(address: str) -> None:
    with pytest.raises(ArgusicError, match="ARGUSIC_OPENROUTER_ADDRESS"):
        Client("openrouter", address, "k")


@pytest.mark.parametrize("address", ["http://localhost:4000", "http://[::1]:4000/", "https://broker.example/api/v1/"])
def test_these_are_addresses(address: str) -> None:
    assert OpenRouter(Client("openrouter", address, "k")).name == "openrouter"


def test_each_call_carries_the_key_that_it_is_for(at: Side) -> None:
    lease = at.open()
    lease.close()
    keys = {asked.what: asked.key for asked in at.fake.asked}
    assert keys["try"] == lease.secret
    assert {keys[what] for what in ("create", "show", "delete")} == {at.fake.management}


def test_an_id_cannot_name_another_path(openrouter: Side) -> None:
    openrouter.broker.delete("../credits?x=1")
    assert openrouter.fake.asked[-1].argument == "../credits?x=1"


@pytest.mark.parametrize("secret", ["", "two words", "line" + chr(10) + "break", "schlüssel"])
def test_what_cannot_be_a_key_is_sent_nowhere_and_not_told(at: Side, secret: str) -> None:
    said = error_of(lambda: at.broker.refused(secret))
    assert "this is no key" in said
    assert not secret or secret not in said
    assert at.fake.asked == []
