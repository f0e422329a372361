"""Verification is decoding, not probing (MEASUREMENT §6): a step's output is decoded and compared with the README."""

import re
from dataclasses import dataclass

from .commands import Step
from .expected import shown
from .session import TIMED_OUT, Result

_SAYS_NOTHING = re.compile(
    r"^(?:<[\w.]+ (?:object )?at 0x[0-9a-f]+>|\[object \w+\]|Promise \{.*\}|undefined|null|None)$"
)


@dataclass(frozen=True)
class Check:
    """Whether a step's own output was decoded, and in words what was seen."""

    verified: bool
    seen: str
    text: str = ""


def check(step: Step, result: Result) -> Check:
    """Judge a step by what it printed; its exit code alone verifies nothing."""
    if not result.passed:
        ended = "did not end in time" if result.exit == TIMED_OUT else f"ended with exit code {result.exit}"
        return Check(False, ended)
    try:
        text = result.printed.decode("utf-8")
    except UnicodeDecodeError:
        return Check(False, "printed what does not decode as text")
    if not any(line.strip() and not _SAYS_NOTHING.match(line.strip()) for line in text.splitlines()):
        return Check(False, "printed nothing to decode")
    if step.asks_only:
        return Check(False, "answered a question for its version or help", text)
    if not step.results:
        return Check(True, "printed text, which was decoded", text)
    count, stated = shown(text, step.results), len(step.results)
    seen = f"printed {count} of the {stated} results that the README states"
    return Check(count == stated, seen, text)
