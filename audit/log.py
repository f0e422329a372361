"""Whether the harness's log of an attempt is whole: JSON Lines from the first step to the last one."""

from __future__ import annotations

from pathlib import Path

from audit.recording import Differs, lines, value

FIRST, LAST = "planned", "prove"


def log(path: Path) -> int:
    """The number of its lines. Raises Differs where it is no log, or not a complete one."""
    steps: list[str] = []
    count = 0
    for count, line in enumerate(lines(path), 1):
        match value(path, count, line):
            case {"at_ms": int() as at_ms, "step": str() as step} if at_ms >= 0 and not isinstance(at_ms, bool):
                steps = [steps[0] if steps else step, step]
            case _:
                raise Differs(path, f'line {count} is no {{"at_ms": …, "step": …}}')
    if not steps or (steps[0], steps[1]) != (FIRST, LAST):
        told = f"from {steps[0]!r} to {steps[1]!r}" if steps else "empty"
        raise Differs(path, f"is not complete: it goes {told}, not from {FIRST!r} to {LAST!r}")
    return count
