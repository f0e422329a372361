"""How the server behaves, and its bodies where it refuses, which are those that providers and brokers send."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, get_args

Mode = Literal[
    "ok",
    "401",
    "402",
    "403-key-limit",
    "429",
    "500",
    "budget-400",
    "budget-422",
    "budget-429",
    "402-after-one",
    "cut",
    "cut-connection",
    "empty",
    "error-in-stream",
    "no-tool",
    "no-usage",
    "slow",
]
"""`cut`: a stream that ends in its middle without a reason to finish; `cut-connection`: the connection is closed in the
middle of a chunk. `no-tool`: a claim of success without any call. `402-after-one`: nothing is left after the first
answer. `slow`: the answer comes byte by byte. Answers that are not streamed are whole in both cuts."""

MODES: tuple[Mode, ...] = get_args(Mode)
Api = Literal["responses", "chat", "messages", "google", "models"]

NO_CREDITS = "This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only "
NO_CREDITS += "afford 100."
KEY_LIMIT = "Key limit exceeded (total limit)"
OVER_BUDGET = "Budget has been exceeded! Current cost: 3.01, Max budget: 3.0"
CLAIM = "I have installed and verified everything."
"""What a model says that did nothing."""


class Refusal(NamedTuple):
    """An answer instead of the model's."""

    status: int
    body: dict[str, Any]


def refusal(mode: Mode, api: Api, results: int) -> Refusal | None:
    """What `mode` answers to a request with `results` results of tools in its history; None where the model answers."""
    if mode.startswith("budget-"):
        # One body for every interface, whatever the status.
        status = mode.removeprefix("budget-")
        return Refusal(int(status), _openai(OVER_BUDGET, "budget_exceeded", status))
    if mode == "402" or (mode == "402-after-one" and results):
        body = {"error": {"message": NO_CREDITS, "code": 402, "metadata": {"provider_name": None}}}
        return Refusal(402, _anthropic("billing_error", NO_CREDITS) if api == "messages" else body)
    if mode == "403-key-limit":
        body = {"error": {"message": KEY_LIMIT, "code": 403}}
        return Refusal(403, _anthropic("permission_error", KEY_LIMIT) if api == "messages" else body)
    if mode == "401":
        return key_refused(api)
    if mode == "429":
        said = "Rate limit reached"
        body = _openai(said, "rate_limit_error", "rate_limit_exceeded")
        if api == "google":
            return _google(429, "RESOURCE_EXHAUSTED", said)
        return Refusal(429, _anthropic("rate_limit_error", said) if api == "messages" else body)
    if mode == "500":
        said = "The server had an error while processing your request"
        if api == "google":
            return _google(500, "INTERNAL", said)
        return Refusal(500, _anthropic("api_error", said) if api == "messages" else _openai(said, "server_error", None))
    return None


def key_refused(api: Api) -> Refusal:
    """The answer to a wrong key."""
    if api == "messages":
        return Refusal(401, _anthropic("authentication_error", "invalid x-api-key"))
    if api == "google":
        return _google(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
    return Refusal(401, _openai("Incorrect API key provided", "invalid_request_error", "invalid_api_key"))


def not_found(api: Api, said: str) -> Refusal:
    """The answer to a path that is none, and to a request that is none."""
    if api == "messages":
        return Refusal(404, _anthropic("not_found_error", said))
    return Refusal(404, _openai(said, "invalid_request_error", "not_found"))


def not_understood(api: Api, said: str) -> Refusal:
    """The answer to a request whose body is no request."""
    if api == "messages":
        return Refusal(400, _anthropic("invalid_request_error", said))
    return Refusal(400, _openai(said, "invalid_request_error", None))


def _openai(message: str, kind: str, code: str | None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _google(status: int, word: str, message: str) -> Refusal:
    return Refusal(status, {"error": {"code": status, "message": message, "status": word}})


def _anthropic(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_0"}
