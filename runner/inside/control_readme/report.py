"""The report: only what this session observed, in the words of the contract that every agent's report follows."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .task import plain


@dataclass
class Observed:
    """What was seen so far. Everything starts as not seen."""

    installed: bool = False
    launched: bool = False
    install_seconds: int | None = None
    errors: list[dict[str, Any]] = field(default_factory=list)
    verified: tuple[str, str] | None = None
    """The command, and what it returned."""
    sentences: list[str] = field(default_factory=list)

    def met(self, error: str, at_seconds: float) -> dict[str, Any]:
        """Write an error down as not fixed. Met again before it is fixed, it is the same error."""
        what = _cut(plain(error), 500) or "no output"
        for row in self.errors:
            if row["what"] == what and not row["fixed"]:
                return row
        row = {"what": what, "fix": None, "fixed": False, "at_seconds": int(at_seconds)}
        self.errors.append(row)
        return row


def document(observed: Observed) -> dict[str, Any]:
    """The report as a JSON object."""
    fixed = sum(error["fixed"] for error in observed.errors)
    met = len(observed.errors)
    counted = f"{met} error{'' if met == 1 else 's'} met, {fixed} fixed." if met else "No error met."
    command, returned = observed.verified or ("", "")
    return {
        "schema_version": 1,
        "installed": observed.installed,
        "launched": observed.launched,
        "errors_encountered": met,
        "errors_fixed": fixed,
        "errors": observed.errors[:200],
        "test_depth": "tier1_real" if observed.verified else "tier3_none",
        "verified_how": {"command": command, "returned": _cut(plain(returned), 8000)}
        if observed.verified
        else "not verified",
        "final_state": _cut(plain(" ".join([*observed.sentences, counted])), 2000),
        "install_seconds": observed.install_seconds,
    }


def write(report: dict[str, Any], path: Path) -> None:
    """Whole or not at all: a reader never finds half a report."""
    part = path.with_name(path.name + ".part")
    with part.open("w", encoding="utf-8", errors="replace") as stream:
        json.dump(report, stream, ensure_ascii=False, indent=2)
        stream.write("\n")
        stream.flush()
        os.fsync(stream.fileno())
    part.replace(path)


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1] + "…"
