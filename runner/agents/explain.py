"""What an adapter reads from given output and what follows from it, for the person who asks why a run is invalid."""

from __future__ import annotations

from typing import Any

from archive.reasons import LIMITS, POLICIES, Limit
from runner.agents.reading import Condition, Reading

OWN_END = "the agent came to its own end; what that is worth is asked of its report"
OUTSIDE = (
    "the agent came to no end of its own: its runner knows what stopped it, and a budget or a limit makes it count"
)


def explained(name: str, reading: Reading) -> dict[str, Any]:
    """The reading of adapter `name` as JSON types."""
    commands = reading.commands
    return {
        "adapter": name,
        "usage": reading.usage.model_dump(mode="json"),
        "calls": reading.usage.calls,
        "commands": None if commands is None else [command._asdict() for command in commands],
        "terminal": reading.terminal,
        "complete": reading.complete,
        "condition": None if reading.condition is None else str(reading.condition),
        "policy": _policy(reading.condition, reading.complete),
    }


def _policy(condition: Condition | None, complete: bool) -> dict[str, Any]:
    """Whether such an attempt counts (None: its runner says so), how often it is run again, and what that means."""
    if condition is None:
        return {
            "counts": complete or None,
            "reruns": 0 if complete else None,
            "means": OWN_END if complete else OUTSIDE,
        }
    return (LIMITS[condition] if isinstance(condition, Limit) else POLICIES[condition])._asdict()
