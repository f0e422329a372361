"""The error lines of a report as pages need them: each in its group, and where its attempt stopped the words too."""

from __future__ import annotations

from typing import NamedTuple

from archive.report import Report
from bot.quote import shortened
from scoring.groups import Group
from scoring.stopped import stopped

LINE = 200
"""Characters of an error line that pages show; the record has all of it."""
SHOWN = 6
"""Lines of one attempt that pages show, those that were not fixed first."""


class ErrorLine(NamedTuple):
    """One error that an agent says it met."""

    group: Group
    fixed: bool
    """As the agent says."""
    words: str | None
    """Shortened; None where pages only count it."""
    at_ms: int | None
    """When the recording first shows it, since the agent's start; None where it does not, as it is written."""


def error_lines(
    report: Report | None, *, words: bool, moments: tuple[int | None, ...] | None = None
) -> tuple[ErrorLine, ...]:
    """The lines of `report` in its order, with the moments of the same lines where they are known.

    `words` are kept of as many lines as pages show, and only where they are wanted: of an attempt that stopped.
    """
    if report is None:
        return ()
    errors = report.errors
    order = sorted(range(len(errors)), key=lambda number: errors[number].fixed)
    kept = set(order[:SHOWN]) if words else set()
    return tuple(
        ErrorLine(
            group=stopped(error.what),
            fixed=error.fixed,
            words=shortened(error.what, LINE) if number in kept else None,
            at_ms=moments[number] if moments and number in kept else None,
        )
        for number, error in enumerate(errors)
    )
