"""docs/board.md, and pages of their own for the sets of a cycle that would make it too long to be shown."""

from __future__ import annotations

from typing import NamedTuple

from archive.edition import Edition
from bot import words
from bot.environment import rendered
from bot.escape import Markdown, code, link
from bot.results import Chain, CycleResult
from bot.view.board import AgentRow, SetRow, agent_rows, machines, set_rows
from bot.view.places import Places, rules, summary_page
from bot.view.stops import GroupRow, group_rows

PAGE = "docs/board.md"
SETS = 400
"""Sets shown on the page itself, newest cycles first, and on each further page."""


class Part(NamedTuple):
    """One cycle as the template shows it."""

    title: str
    cycle: str
    rules: Markdown
    """Link to the edition that the cycle is judged by."""
    summary: Markdown
    demonstration: bool
    closed: bool
    ranked: list[AgentRow]
    controls: list[AgentRow]
    sets: list[SetRow]
    set_count: int
    set_pages: list[Markdown]
    groups: list[GroupRow]
    machines: list[str]
    chain: Chain | None
    head: Markdown


def board_pages(found: list[CycleResult], newest: Edition, places: Places) -> dict[str, str]:
    """The page and its parts."""
    made: dict[str, str] = {}
    parts, left = [], SETS
    for result in found:
        inline = len(result.sets) <= left
        left -= len(result.sets) if inline else 0
        part = _part(result, newest)
        parts.append(
            part._replace(sets=set_rows(result, places, PAGE)) if inline else _apart(part, result, places, made)
        )
    made[PAGE] = rendered(
        "board.md.j2",
        set_size=words.count(newest.board.set_size),
        public=[part for part in parts if not part.demonstration],
        demonstrations=[part for part in parts if part.demonstration],
    )
    return made


def _apart(part: Part, result: CycleResult, places: Places, made: dict[str, str]) -> Part:
    name = f"docs/cycles/{result.cycle.id}/sets"
    rows = set_rows(result, places, f"{name}-1.md")
    packs = [rows[start : start + SETS] for start in range(0, len(rows), SETS)]
    links = []
    for number, pack in enumerate(packs, 1):
        shown = {"part": part._replace(sets=pack), "number": number, "parts": len(packs)}
        made[f"{name}-{number}.md"] = rendered("sets_page.md.j2", **shown)
        links.append(link(f"part {number}, {len(pack)} sets", f"{name}-{number}.md".removeprefix("docs/")))
    return part._replace(set_pages=links)


def _part(result: CycleResult, newest: Edition) -> Part:
    return Part(
        title=result.cycle.title,
        cycle=result.cycle.id,
        rules=rules(result, newest),
        summary=link("summary", summary_page(result.cycle.id).removeprefix("docs/")),
        demonstration=result.cycle.demonstration,
        closed=bool(result.chain and result.chain.closed),
        ranked=agent_rows(result, control=False),
        controls=agent_rows(result, control=True),
        sets=[],
        set_count=len(result.sets),
        set_pages=[],
        groups=group_rows(result),
        machines=machines(result),
        chain=result.chain,
        head=code(result.chain.head) if result.chain else Markdown(),
    )
