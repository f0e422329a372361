"""What was published about error lines and their groups (scoring/published/README.md), and how much of it holds."""

from __future__ import annotations

import json
from collections import defaultdict
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from scoring.stopped import stopped

PUBLISHED = Path(__file__).resolve().parents[1] / "scoring/published"


class Share(NamedTuple):
    """How many constraints are met."""

    met: int
    of: int

    @property
    def percent(self) -> float:
        return 100 * self.met / self.of


def lines() -> list[dict[str, Any]]:
    """Every published error line, with its run."""
    return _read("errors.jsonl")


def share(*, positive: bool, held_out: bool | None = None) -> Share:
    """Of the constraints that say that a run has a line in a group (`positive`), or that it has none.

    `held_out` limits them to the third of the subjects that the rules were first written without, or to the others.
    """
    found = defaultdict(set)
    for one in lines():
        found[one["slug"], one["row"]].add(stopped(one["line"]).name)
    asked = [
        one
        for one in _read("group_constraints.jsonl")
        if one["has_a_line_in_group"] is positive and held_out in (None, _held_out(one["slug"]))
    ]
    return Share(sum((one["group"] in found[one["slug"], one["row"]]) is positive for one in asked), len(asked))


def _held_out(slug: str) -> bool:
    return int(sha256(slug.encode()).hexdigest(), 16) % 3 == 0


def _read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (PUBLISHED / name).read_text("utf-8").splitlines()]
