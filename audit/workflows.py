"""Whether each job of the workflows states how long it may take, and leaves an attempt its whole budget.

The files are read line by line, as they are written here: two spaces a level, one key a line. What is not written so
is named and not guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from audit.finding import Checked, Finding, place

ROOM_MINUTES = 15
"""What a job needs besides the attempt's own budget: fetching, replaying, storing."""
_JOB = re.compile(r"^  ([A-Za-z_][\w-]*):\s*(?:#.*)?$")
_TIMEOUT = re.compile(r"^    timeout-minutes:\s*(.*?)\s*(?:#.*)?$", re.MULTILINE)
_CALLED = re.compile(r"^    uses:", re.MULTILINE)
_ATTEMPT = re.compile(r"\bargusic(?:\.py)?\b[^\n]*\brun\b")


def workflows(root: Path, budget_minutes: int, checked: Checked) -> list[Finding]:
    """What is wrong with time-outs; `budget_minutes` is the largest budget of the newest edition."""
    found = []
    for path in sorted((root / ".github/workflows").glob("*.y*ml")):
        checked["workflows"] += 1
        for problem in _problems(path.read_text("utf-8", "replace"), budget_minutes, checked):
            found.append(Finding("rules", place(root, path), problem))
    return found


def _problems(text: str, budget_minutes: int, checked: Checked) -> Iterator[str]:
    jobs = _jobs(text)
    if not jobs:
        yield "has no jobs that can be read; write them with two spaces a level"
    for name, body in jobs.items():
        checked["workflow jobs"] += 1
        if _CALLED.search(body):
            continue  # a called workflow states its own time-outs, and a caller may not
        stated = _TIMEOUT.findall(body)
        if len(stated) != 1:
            yield f"job {name} has no timeout-minutes; without one it may take six hours"
        elif not stated[0].isdecimal():
            yield f"job {name}: timeout-minutes is {stated[0]!r}; write a whole number"
        elif _ATTEMPT.search(body) and int(stated[0]) < budget_minutes + ROOM_MINUTES:
            needed = f"{budget_minutes} minutes of the largest budget and {ROOM_MINUTES} more"
            yield f"job {name} may take {stated[0]} minutes; an attempt needs {needed}"


def _jobs(text: str) -> dict[str, str]:
    """The lines of each job by its name."""
    found: dict[str, list[str]] = {}
    inside, current = False, None
    for line in text.splitlines():
        if line and not line[0].isspace() and not line.startswith("#"):
            inside, current = line.rstrip() == "jobs:", None
        elif inside and (job := _JOB.match(line)):
            current = job[1]
            found[current] = []
        elif inside and current:
            found[current].append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}
