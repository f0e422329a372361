"""Error lines in their groups: the share of the published constraints that the rules of scoring/groups.py meet.

The rules were first written without a third of the subjects. They then met 52 % of that third's positive constraints
and 98 % of its negative ones (of the others 95 % and 99.7 %); after that all of them were looked at. So the shares say
how well the published groups are rendered, and the first two numbers how well the rules would do on lines never seen.
"""

from __future__ import annotations

from benchmarks.measure import Measured
from tests.support.constraints import share

POSITIVE, NEGATIVE = 90, 97


def bench() -> list[Measured]:
    """Met constraints, of both kinds."""
    return [
        _line("error lines: runs with a line in a group", True, POSITIVE),
        _line("error lines: runs without one", False, NEGATIVE),
    ]


def _line(what: str, positive: bool, reach: int) -> Measured:
    parts = {"all": share(positive=positive)} | {
        name: share(positive=positive, held_out=held) for name, held in (("first seen", False), ("held out", True))
    }
    value = ", ".join(f"{name} {one.met} of {one.of} ({one.percent:.1f} %)" for name, one in parts.items())
    return Measured(what, value, f">= {reach} %", parts["all"].percent >= reach)
