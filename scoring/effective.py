"""Since when an edition is in force: read from what was measured, never from its file (MEASUREMENT §12)."""

from __future__ import annotations

from collections.abc import Iterable

from archive.reasons import Validity
from scoring.attempted import Attempted


def effective(attempts: Iterable[Attempted]) -> dict[str, str]:
    """The first day really measured under each edition, oldest edition first; one without such a day is not in it.

    Only valid attempts count: an invalid or withheld one measured nothing that stands, and a rule is not in force
    because a machine could not be made on that day. Whoever calls decides which attempts are given (a demonstration
    is no public measurement, and a control agent is a floor, not one).
    """
    first: dict[str, str] = {}
    for attempt in attempts:
        if attempt.validity is Validity.VALID:
            first[attempt.edition] = min(attempt.day, first.get(attempt.edition, attempt.day))
    return dict(sorted(first.items(), key=lambda item: [int(part) for part in item[0].split(".")]))
