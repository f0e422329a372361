"""docs/board.md: agents with their board score, and every set behind it (MEASUREMENT §8)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from archive.reasons import Validity
from bot import words
from bot.escape import Markdown, code, link
from bot.measured import Machine
from bot.results import CycleResult
from bot.view.places import Places
from scoring.attempted import Attempted
from scoring.board import Row
from scoring.sets import MeasuredSet


@dataclass(frozen=True)
class AgentRow:
    """One agent."""

    rank: str
    agent: str
    score: str
    sets: int
    unstable: int
    under_review: int
    incomplete: int
    rate: str


@dataclass(frozen=True)
class SetRow:
    """One set."""

    project: Markdown
    """Links to the project's attempts."""
    agent: str
    attempts: Markdown
    """Each attempt's score, linked, in order of its number."""
    middle: str
    spread: str
    state: str


def agent_rows(result: CycleResult, *, control: bool) -> list[AgentRow]:
    """The ranked agents, or the control agents, best first."""
    return [_agent(row, result) for row in result.rows if row.control is control]


def set_rows(result: CycleResult, places: Places, page: str) -> list[SetRow]:
    """All sets, those of control agents and excluded ones too, as shown on `page`."""
    controls = {row.agent for row in result.rows if row.control}
    return [_set(one, result, one.agent in controls, places, page) for one in result.sets]


def machines(result: CycleResult) -> list[str]:
    """The kinds of machine of a cycle's attempts, in words, with how well each limit is held."""
    return [_machine(one) for one in sorted({run.machine for run in result.runs}, key=str)]


def state(one: MeasuredSet, result: CycleResult, *, control: bool) -> str:
    """Why a set stays out of its agent's board score, or that it counts."""
    found = []
    if one.project in result.under_review:
        found.append("under review")
    if one.unstable:
        found.append("unstable")
    if not one.complete:
        found.append("incomplete")
    if found:
        return f"not in the score: {words.listed(found)}"
    return "control, never ranked" if control else "counts"


def _machine(one: Machine) -> str:
    network = "network open" if one.network == "open" else "no network"
    image = f"image {one.image}" if one.image else "on the runner's own system folders"
    limits = (
        f"{name.removesuffix('_bytes').replace('_', ' ')} {guarantee}{_number(name, value)}"
        for name, value, guarantee in one.limits
    )
    return f"{one.sandbox}, {one.system}, {one.architecture}, {image}, {network}; {'; '.join(limits)}"


def _number(name: str, value: int | None) -> str:
    if value is None:
        return ""
    return f" at {words.decimal(Fraction(value, 1 << 30))} GiB" if name.endswith("_bytes") else f" at {value}"


def _agent(row: Row, result: CycleResult) -> AgentRow:
    return AgentRow(
        rank="never ranked" if row.control else "none" if row.rank is None else str(row.rank),
        agent=result.agent_name(row.agent),
        score=words.points(row.board_score),
        sets=row.sets,
        unstable=len(row.unstable),
        under_review=len(row.under_review),
        incomplete=len(row.incomplete),
        rate=words.rate(row.passes, row.attempts, row.wilson_95),
    )


def _set(one: MeasuredSet, result: CycleResult, control: bool, places: Places, page: str) -> SetRow:
    cycle = result.cycle.id
    linked = [link(_score(each), places.attempt(cycle, each.subject, each.run, page)) for each in one.attempts]
    return SetRow(
        project=link(code(one.project), places.project(cycle, one.project, page)),
        agent=result.agent_name(one.agent),
        attempts=Markdown(", ".join(linked) or "none"),
        middle=words.points(one.middle),
        spread=words.spread(one.spread),
        state=state(one, result, control=control),
    )


def _score(one: Attempted) -> str:
    return words.points(one.score) if one.validity is Validity.VALID else str(one.validity)
