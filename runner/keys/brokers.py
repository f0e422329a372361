"""Brokers by name, with their keys from the runner's environment."""

from __future__ import annotations

from collections.abc import Mapping

from archive.errors import ArgusicError
from runner.keys import KeyBroker
from runner.keys.litellm import LiteLLM
from runner.keys.openrouter import ADDRESS, OpenRouter

OPENROUTER_KEY, OPENROUTER_ADDRESS = "ARGUSIC_OPENROUTER_KEY", "ARGUSIC_OPENROUTER_ADDRESS"
LITELLM_KEY, LITELLM_ADDRESS = "ARGUSIC_LITELLM_KEY", "ARGUSIC_LITELLM_ADDRESS"
NAMES = ("openrouter", "litellm")


def broker(name: str, environ: Mapping[str, str]) -> KeyBroker:
    """The broker of that name. Raises ArgusicError where the runner's environment lacks what it needs."""
    if name == "openrouter":
        return OpenRouter(_needed(OPENROUTER_KEY, environ), environ.get(OPENROUTER_ADDRESS) or ADDRESS)
    if name == "litellm":
        return LiteLLM(_needed(LITELLM_KEY, environ), _needed(LITELLM_ADDRESS, environ))
    raise ArgusicError(f"no broker {name!r}; one of {', '.join(NAMES)}")


def at_hand(environ: Mapping[str, str]) -> list[KeyBroker]:
    """Every broker whose key is in the environment. Raises ArgusicError where there is none."""
    keys = {"openrouter": OPENROUTER_KEY, "litellm": LITELLM_KEY}
    found = [broker(name, environ) for name in NAMES if environ.get(keys[name])]
    if not found:
        raise ArgusicError(f"no broker's key is at hand; set {' or '.join(keys.values())}")
    return found


def _needed(variable: str, environ: Mapping[str, str]) -> str:
    value = environ.get(variable, "")
    if not value:
        raise ArgusicError(f"the variable {variable} is not set on this runner")
    return value
