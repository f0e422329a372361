"""Which condition a provider's answer is: by its structure, or by its words where a program drops the structure.

Only what a program itself calls an error is asked here, never what a model said or a tool printed: a project under test
may print "401 Unauthorized" as much as it likes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from archive.reasons import Limit, Reason
from archive.record import Key
from runner.agents.lines import document, words
from runner.agents.reading import Condition

TEXT_CHARACTERS = 20_000

KINDS: dict[str, Condition] = {
    "budget_exceeded": Limit.KEY_CAP,
    "openrouter_key_limit": Limit.KEY_CAP,
    "openrouter_credits": Reason.KEY_UNFUNDED,
    "insufficient_quota": Reason.KEY_UNFUNDED,
    "billing_error": Reason.KEY_UNFUNDED,
    "openrouter_in_flight_budget": Reason.PROVIDER_RATE_LIMITED,
    "context_length_exceeded": Limit.MODEL_CONTEXT,
    "ContextWindowExceededError": Limit.MODEL_CONTEXT,
    "authentication_error": Reason.KEY_REFUSED,
    "authentication_failed": Reason.KEY_REFUSED,
    "invalid_api_key": Reason.KEY_REFUSED,
    "permission_error": Reason.KEY_REFUSED,
    "AuthenticationError": Reason.KEY_REFUSED,
    "PermissionDeniedError": Reason.KEY_REFUSED,
    "rate_limit": Reason.PROVIDER_RATE_LIMITED,
    "rate_limit_error": Reason.PROVIDER_RATE_LIMITED,
    "rate_limit_exceeded": Reason.PROVIDER_RATE_LIMITED,
    "RESOURCE_EXHAUSTED": Reason.PROVIDER_RATE_LIMITED,
    "RateLimitError": Reason.PROVIDER_RATE_LIMITED,
    "connection_failed": Reason.PROVIDER_UNREACHABLE,
    "APIConnectionError": Reason.PROVIDER_UNREACHABLE,
    "Timeout": Reason.PROVIDER_UNREACHABLE,
    "api_error": Reason.PROVIDER_ERROR,
    "overloaded_error": Reason.PROVIDER_ERROR,
    "server_error": Reason.PROVIDER_ERROR,
    "APIError": Reason.PROVIDER_ERROR,
    "InternalServerError": Reason.PROVIDER_ERROR,
    "ServiceUnavailableError": Reason.PROVIDER_ERROR,
    "BadGatewayError": Reason.PROVIDER_ERROR,
    "invalid_request_error": Reason.PROVIDER_REQUEST_REFUSED,
    "BadRequestError": Reason.PROVIDER_REQUEST_REFUSED,
    "NotFoundError": Reason.PROVIDER_REQUEST_REFUSED,
    "UnprocessableEntityError": Reason.PROVIDER_REQUEST_REFUSED,
}
"""Types and codes of answers, and names of exceptions; of several the first here counts, vaguer ones stand last."""

MONEY: tuple[tuple[str, Condition], ...] = (
    ("budget has been exceeded", Limit.KEY_CAP),
    ("key limit exceeded", Limit.KEY_CAP),
    ("requires more credits", Reason.KEY_UNFUNDED),
    ("insufficient credits", Reason.KEY_UNFUNDED),
    ("credit balance is too low", Reason.KEY_UNFUNDED),
)
"""Words about money: they win over the status, which brokers choose in many ways (400, 402, 403, 422, 429)."""

WORDS: tuple[tuple[str, Condition], ...] = (
    ("prompt is too long", Limit.MODEL_CONTEXT),
    ("ran out of room in the model's context window", Limit.MODEL_CONTEXT),
    ("stream ended without finish_reason", Reason.PROVIDER_STREAM_CUT),
    ("stream ended without a finish reason", Reason.PROVIDER_STREAM_CUT),
    ("stream disconnected before completion", Reason.PROVIDER_STREAM_CUT),
    ("terminated: other side closed", Reason.PROVIDER_STREAM_CUT),
    ("waiting for network", Reason.PROVIDER_UNREACHABLE),
    ("connection error", Reason.PROVIDER_UNREACHABLE),
    ("connection failed", Reason.PROVIDER_UNREACHABLE),
    ("cannot connect to api", Reason.PROVIDER_UNREACHABLE),
    ("econnrefused", Reason.PROVIDER_UNREACHABLE),
    ("enotfound", Reason.PROVIDER_UNREACHABLE),
    ("eai_again", Reason.PROVIDER_UNREACHABLE),
    ("etimedout", Reason.PROVIDER_UNREACHABLE),
    ("incorrect api key", Reason.KEY_REFUSED),
    ("experiencing high demand", Reason.PROVIDER_ERROR),
)

_FIRST = (
    *(kind for kind, condition in KINDS.items() if isinstance(condition, Limit)),
    *("openrouter_credits", "insufficient_quota", "billing_error", "openrouter_in_flight_budget"),
)
"""Kinds that say more than the status they came with."""
_STATUS = re.compile(
    r"unexpected status (\d{3})\b|last status: (\d{3})\b|API Error: (?:[^()\n]{0,40}\()?(\d{3})\b|\A\s*(\d{3})(?::| )"
)


def condition_of(text: Any = None, *, status: int | None = None, kinds: Iterable[Any] = ()) -> Condition | None:
    """The condition of a failed call; None where nothing of it is known to be a provider's doing.

    `text` is the program's own message, which may hold the provider's answer as JSON; `status` is the HTTP status and
    `kinds` are types, codes or exceptions where the program keeps them apart.
    """
    text = words(text, TEXT_CHARACTERS) or ""
    named = [kind for kind in kinds if isinstance(kind, str)]
    answer = _answer(text)
    named += [value for value in answer if isinstance(value, str)]
    found = next((value for value in answer if isinstance(value, int) and 400 <= value < 600), None)
    status = status or found or _status(text)
    lower = text.lower()
    for kind in _FIRST:
        if kind in named:
            return KINDS[kind]
    for said, condition in MONEY:
        if said in lower:
            return condition
    by_words = next((condition for said, condition in WORDS if said in lower), None)
    if isinstance(by_words, Limit):
        return by_words
    return _by_status(status) or by_words or next((KINDS[kind] for kind in KINDS if kind in named), None)


def settled(condition: Condition | None, key: Key) -> Condition | None:
    """`condition` after the key's own account: reaching the cap is an outcome only where the account says so.

    A cap that the account does not confirm, or that is not this attempt's alone, was none: the money was missing. And
    some programs keep nothing of a refused payment but "429": with the whole cap spent, it was the cap.
    """
    known = key.kind == "own" and key.cap_micro_usd is not None and key.spent_micro_usd is not None
    spent = known and (key.spent_micro_usd or 0) >= (key.cap_micro_usd or 0)
    if condition is Limit.KEY_CAP:
        return condition if key.kind == "own" and (spent or not known) else Reason.KEY_UNFUNDED
    if spent and condition in (Reason.KEY_UNFUNDED, Reason.KEY_REFUSED, Reason.PROVIDER_RATE_LIMITED):
        return Limit.KEY_CAP
    return condition


def _by_status(status: int | None) -> Condition | None:
    if status is None or not 400 <= status < 600:
        return None
    if status >= 500:
        return Reason.PROVIDER_ERROR
    return {
        401: Reason.KEY_REFUSED,
        402: Reason.KEY_UNFUNDED,
        403: Reason.KEY_REFUSED,
        408: Reason.PROVIDER_UNREACHABLE,
        429: Reason.PROVIDER_RATE_LIMITED,
    }.get(status, Reason.PROVIDER_REQUEST_REFUSED)


def _status(text: str) -> int | None:
    match = _STATUS.search(text)
    return int(next(group for group in match.groups() if group)) if match else None


def _answer(text: str) -> list[Any]:
    """Types, codes and status of the provider's answer, where the text holds it as JSON."""
    start, end = text.find("{"), text.rfind("}")
    found = document(text[start : end + 1].encode()) if 0 <= start < end else None
    if found is None:
        return []
    error = found.get("error", found)
    if not isinstance(error, dict):
        return [error]
    metadata = error.get("metadata")
    values = [error.get(name) for name in ("type", "code", "status")]
    values += [metadata.get("limit_source")] if isinstance(metadata, dict) else []
    return [int(value) if isinstance(value, str) and re.fullmatch(r"[45]\d\d", value) else value for value in values]
