"""How providers and brokers refuse, as they really do it: status and body."""

from __future__ import annotations

from typing import Any

BUDGET = {
    "error": {
        "message": "Budget has been exceeded! Current cost: 3.01, Max budget: 3.0",
        "type": "budget_exceeded",
        "param": None,
        "code": "400",
    }
}
REFUSALS: dict[str, tuple[int, Any]] = {
    "401": (401, {"error": {"message": "Incorrect API key provided.", "type": "authentication_error", "code": "invalid_api_key"}}),
    "402": (402, {"error": {"message": "Insufficient credits", "code": 402, "metadata": {"limit_source": "openrouter_credits"}}}),
    "403-key-limit": (403, {"error": {"message": "Key limit exceeded (total limit).", "code": 403}}),
    "429": (429, {"error": {"message": "Rate limit reached.", "type": "rate_limit_error", "code": "rate_limit_exceeded"}}),
    "500": (500, {"error": {"message": "The server had an error.", "type": "server_error", "code": None}}),
    "budget-400": (400, BUDGET),
    "budget-422": (422, BUDGET),
    "budget-429": (429, BUDGET),
}  # fmt: skip
"""Bodies of OpenRouter (402, 403), LiteLLM (budget-…) and the providers themselves."""
