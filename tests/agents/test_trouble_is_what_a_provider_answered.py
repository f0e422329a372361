"""Conditions of failed calls: by structure where there is some, by the provider's words where there is none."""

from __future__ import annotations

import pytest

from archive.reasons import Limit, Reason
from archive.record import Key
from runner.agents import program
from runner.agents.reading import Condition
from runner.agents.trouble import condition_of, settled
from tests.agents.recorded import output

CAP = Limit.KEY_CAP
ALL = ("codex/ok", "pi/ok", "claude/ok-offline", "opencode/ok", "mini-swe-agent/sseerr", "qwen/ok", "gemini/ok")


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("unexpected status 401 Unauthorized: Incorrect API key provided", Reason.KEY_REFUSED),
        ("unexpected status 401 Unauthorized: connection error", Reason.KEY_REFUSED),
        ("unexpected status 403 Forbidden: Not here", Reason.KEY_REFUSED),
        ("unexpected status 402 Payment Required: more", Reason.KEY_UNFUNDED),
        ("exceeded retry limit, last status: 429 Too Many Requests", Reason.PROVIDER_RATE_LIMITED),
        ("exceeded retry limit, last status: 503 Service Unavailable", Reason.PROVIDER_ERROR),
        ("unexpected status 404 Not Found: no such model", Reason.PROVIDER_REQUEST_REFUSED),
        ('400: {"message":"x","type":"budget_exceeded","code":"400"}', CAP),
        ('429: {"message":"You exceeded your current quota","code":"insufficient_quota"}', Reason.KEY_UNFUNDED),
        ('402: {"message":"x","code":402,"metadata":{"limit_source":"openrouter_key_limit"}}', CAP),
        ('402: {"message":"x","code":402,"metadata":{"limit_source":"openrouter_credits"}}', Reason.KEY_UNFUNDED),
        (
            '402: {"message":"x","code":402,"metadata":{"limit_source":"openrouter_in_flight_budget"}}',
            Reason.PROVIDER_RATE_LIMITED,
        ),
        ('{"code":402,"message":"Key limit exceeded (total limit)"}', CAP),
        ('{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"slow down"}}', Reason.PROVIDER_RATE_LIMITED),
        ('400: {"message":"too long","code":"context_length_exceeded"}', Limit.MODEL_CONTEXT),
        ("API Error: 400 prompt is too long: 210000 tokens > 200000 maximum", Limit.MODEL_CONTEXT),
        ("API Error: Request rejected (429) · Rate limit reached", Reason.PROVIDER_RATE_LIMITED),
        ("API Error: 529 Overloaded", Reason.PROVIDER_ERROR),
        ("Connection error.: connect ECONNREFUSED 127.0.0.1:1", Reason.PROVIDER_UNREACHABLE),
        ("getaddrinfo ENOTFOUND models.example", Reason.PROVIDER_UNREACHABLE),
        ("Stream ended without finish_reason", Reason.PROVIDER_STREAM_CUT),
        ("Model stream ended without a finish reason.", Reason.PROVIDER_STREAM_CUT),
        ("terminated: other side closed (UND_ERR_SOCKET)", Reason.PROVIDER_STREAM_CUT),
        ("Cannot read properties of undefined (reading 'length')", None),
        ("it took 500 lines to say 401 things", None),
        ("", None),
        (None, None),
        (7, None),
        ('{"error": "', None),
        ('{"error":{"code":[402],"type":{"budget_exceeded":1}}}', None),
    ],
)
def test_a_message_says_what_it_is(text: object, condition: Condition | None) -> None:
    assert condition_of(text) is condition


@pytest.mark.parametrize(
    ("status", "condition"),
    [
        *((401, Reason.KEY_REFUSED), (402, Reason.KEY_UNFUNDED), (403, Reason.KEY_REFUSED)),
        *((408, Reason.PROVIDER_UNREACHABLE), (429, Reason.PROVIDER_RATE_LIMITED), (500, Reason.PROVIDER_ERROR)),
        *((529, Reason.PROVIDER_ERROR), (599, Reason.PROVIDER_ERROR), (422, Reason.PROVIDER_REQUEST_REFUSED)),
        *((200, None), (600, None), (None, None)),
    ],
)
def test_a_status_says_what_it_is(status: int | None, condition: Condition | None) -> None:
    assert condition_of("", status=status) is condition


@pytest.mark.parametrize("status", [400, 402, 403, 422, 429, 500])
def test_a_broker_may_say_with_any_status_that_its_cap_is_reached(status: int) -> None:
    assert condition_of("Budget has been exceeded! Current cost: 3.01, Max budget: 3.0", status=status) is CAP
    assert condition_of("x", status=status, kinds=["budget_exceeded"]) is CAP


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    "said",
    [
        b"401 Unauthorized: Incorrect API key provided",
        b"API Error: 402 This request requires more credits",
        b"Budget has been exceeded! Key limit exceeded (total limit)",
        b"429 Too Many Requests ECONNREFUSED Connection error.",
        b"stream disconnected before completion: 500",
        b"[API Error: 401]",
    ],
)
def test_what_a_project_prints_or_a_model_says_is_no_condition(name: str, said: bytes) -> None:
    left = output(name, 0)
    for old in (b"hello-from-agent", b"All done. The command printed"):
        left = left._replace(
            stdout=left.stdout.replace(old, said), sessions=tuple(one.replace(old, said) for one in left.sessions)
        )
    reading = program(name.split("/")[0]).read(left._replace(stderr=said))
    assert (reading.complete, reading.condition) == (True, None)
    assert reading.usage.output_tokens == (100 if name.startswith("gemini") else 120)


def key(spent: int | None, kind: str = "own") -> Key:
    return Key.none().model_copy(update={"kind": kind, "cap_micro_usd": 3_000_000, "spent_micro_usd": spent})


@pytest.mark.parametrize("spent", [3_000_000, 3_400_000, None])
def test_a_cap_that_the_keys_account_confirms_or_does_not_know_is_an_outcome(spent: int | None) -> None:
    assert settled(CAP, key(spent)) is CAP


def test_a_cap_below_the_keys_own_is_missing_money() -> None:
    assert settled(CAP, key(2_999_999)) is Reason.KEY_UNFUNDED


def test_the_cap_of_a_shared_key_is_not_the_attempts() -> None:
    assert settled(CAP, key(9_000_000, "shared")) is Reason.KEY_UNFUNDED


@pytest.mark.parametrize("condition", [Reason.KEY_UNFUNDED, Reason.KEY_REFUSED, Reason.PROVIDER_RATE_LIMITED])
def test_a_refusal_after_the_whole_cap_is_the_cap(condition: Reason) -> None:
    """codex keeps nothing but "429" of a broker that says with 429 that the budget is exceeded."""
    assert settled(condition, key(3_000_000)) is CAP
    assert settled(condition, key(2_999_999)) is condition
    assert settled(condition, key(None)) is condition
    assert settled(condition, key(3_000_000, "shared")) is condition


@pytest.mark.parametrize("condition", [None, Reason.PROVIDER_UNREACHABLE, Reason.AGENT_CRASHED, Limit.MODEL_CONTEXT])
def test_other_endings_stay_what_they_are_whatever_was_spent(condition: Condition | None) -> None:
    assert settled(condition, key(3_000_000)) is condition
