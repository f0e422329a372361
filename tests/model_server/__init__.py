"""A model over HTTP that says what a script says: real agent programs can talk to it, without a provider and its price.

It speaks OpenAI's responses and chat completions, Anthropic's messages and Google's generateContent. It remembers
nothing: what it answers follows from the request's own history. How it fails is chosen by its mode, or by the
address: /m/429/v1/responses.
"""

from __future__ import annotations

from tests.model_server.conversation import Script
from tests.model_server.handler import Request
from tests.model_server.modes import MODES, Mode
from tests.model_server.server import ModelServer

__all__ = ["MODES", "Mode", "ModelServer", "Request", "Script"]
