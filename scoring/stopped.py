"""Where an attempt stopped: an error line of its report in one of the published groups. No model reads it."""

from __future__ import annotations

import re
from functools import lru_cache

from scoring.groups import OTHER, RULES, Group

_LINE = 500
"""Characters of a line that are looked at: what a report may hold (archive/report.py)."""
_COMPILED = tuple((group, re.compile("|".join(f"(?:{one})" for one in rule), re.I)) for group, rule in RULES)


@lru_cache(maxsize=8192)
def stopped(line: str) -> Group:
    """The first group whose rule matches `line`, whatever its case and spacing, or `OTHER`."""
    words = " ".join(line[:_LINE].split())
    return next((group for group, rule in _COMPILED if rule.search(words)), OTHER)
