"""docs/verdicts.md, and pages of their own for the projects of a cycle that would make it too long to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from archive.edition import Edition
from archive.source_type import SourceType
from bot.environment import rendered
from bot.escape import Markdown, link
from bot.results import CycleResult
from bot.view.places import Places, rules
from bot.view.verdicts import DIGITS, counts, projects

PAGE = "docs/verdicts.md"
ATTEMPTS = 400
"""Attempts shown on the page itself, newest cycles first."""
PAGE_BYTES = 400_000
"""Size of what stands on the page itself: GitHub shows a file of half a megabyte as plain text."""
PART_BYTES = 256_000
"""A further project begins the next part where it would make the part larger."""


class Part(NamedTuple):
    """One cycle as the template shows it."""

    title: str
    cycle: str
    edition: str
    rules: Markdown
    """Link to it."""
    demonstration: bool
    closed: bool
    standard: str
    counts: list[tuple[str, int]]
    untested: int
    sections: list[Markdown]
    pages: list[Markdown]


def verdict_pages(
    found: list[CycleResult], types: Mapping[str, SourceType], newest: Edition, places: Places
) -> dict[str, str]:
    """The page and its parts; tells `places` where each project stands."""
    made: dict[str, str] = {}
    parts, left, room = [], ATTEMPTS, PAGE_BYTES
    for result in found:
        part = _part(result, newest)
        sections = (
            _sections(result, types, places, PAGE, 4 if part.demonstration else 3) if len(result.runs) <= left else {}
        )
        size = sum(len(section.encode()) for section in sections.values())
        if sections and size <= room:
            left, room = left - len(result.runs), room - size
            places.pages |= {(result.cycle.id, subject): PAGE for subject in sections}
            parts.append(part._replace(sections=list(sections.values())))
        else:
            parts.append(_apart(part, result, types, places, made))
    public = [part for part in parts if not part.demonstration]
    made[PAGE] = rendered(
        "verdicts.md.j2",
        digits=DIGITS,
        public=public,
        demonstrations=[part for part in parts if part.demonstration],
    )
    return made


def _apart(
    part: Part, result: CycleResult, types: Mapping[str, SourceType], places: Places, made: dict[str, str]
) -> Part:
    name = f"docs/cycles/{result.cycle.id}/verdicts"
    # Links from all parts are alike: they lie in one folder.
    packs = packed(_sections(result, types, places, f"{name}-1.md", 2))
    links = []
    for number, pack in enumerate(packs, 1):
        page = f"{name}-{number}.md"
        places.pages |= {(result.cycle.id, subject): page for subject in pack}
        shown = {"part": part, "number": number, "parts": len(packs), "sections": list(pack.values())}
        made[page] = rendered("verdicts_page.md.j2", digits=DIGITS, **shown)
        links.append(link(f"part {number}, {len(pack)} projects", page.removeprefix("docs/")))
    return part._replace(pages=links)


def packed(sections: Mapping[str, Markdown]) -> list[dict[str, Markdown]]:
    """`sections` in their order, in packs of at most `PART_BYTES` or of one section."""
    packs: list[dict[str, Markdown]] = []
    room = 0
    for subject, section in sections.items():
        size = len(section.encode())
        if size > room:
            packs.append({})
            room = PART_BYTES
        packs[-1][subject] = section
        room -= size
    return packs


def _sections(
    result: CycleResult, types: Mapping[str, SourceType], places: Places, page: str, level: int
) -> dict[str, Markdown]:
    """Each project's section, under a heading of `level`."""
    shown = projects(result, types, places, page)
    return {
        subject: Markdown(rendered("project.md.j2", project=one, heading=Markdown("#" * level)))
        for subject, one in shown.items()
    }


def _part(result: CycleResult, newest: Edition) -> Part:
    return Part(
        title=result.cycle.title,
        cycle=result.cycle.id,
        edition=result.edition.version,
        rules=rules(result, newest),
        demonstration=result.cycle.demonstration,
        closed=bool(result.chain and result.chain.closed),
        standard=result.agent_name(result.cycle.standard_agent),
        counts=counts(result),
        untested=sum(subject.id not in result.verdicts for subject in result.pool),
        sections=[],
        pages=[],
    )
