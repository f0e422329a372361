"""What a cycle brings, in one text: a page for readers, and the same text, cut to size, for the pull request."""

from __future__ import annotations

from functools import partial

from bot import words
from bot.environment import rendered
from bot.escape import Markdown, link
from bot.results import CycleResult
from bot.view.places import Places, summary_page
from bot.view.summary import Summary, summary

LINES = 500
"""Lines of each list on the page."""
BODY_CHARACTERS = 60_000
"""GitHub takes 65,536 for the text of a pull request."""


def summary_pages(found: list[CycleResult], places: Places) -> dict[str, str]:
    """A page for each cycle."""
    made = {}
    for result in found:
        page = summary_page(result.cycle.id)
        shown = summary(result, earlier(result, found), partial(_linked, places, result.cycle.id, page))
        title = rendered("summary_title.md.j2", title=shown.title)
        made[page] = title + _text(shown, LINES, link("the verdicts page", "../../verdicts.md"))
    return made


def body(result: CycleResult, found: list[CycleResult]) -> str:
    """The text of the pull request; what has no room is on the summary page. A pull request has no folder that a link
    could begin from, so there are none."""
    page = summary_page(result.cycle.id)
    shown = summary(result, earlier(result, found), lambda said, subject, run: said)
    for lines in (LINES, 200, 100, 50, 20, 5, 1):
        made = _text(shown, lines, Markdown(f"`{page}`")).strip() + "\n"
        if len(made) < BODY_CHARACTERS:
            break
    return made


def earlier(result: CycleResult, found: list[CycleResult]) -> CycleResult | None:
    """The cycle before, among the public ones or among the demonstrations."""
    same = [one for one in found if one.cycle.demonstration is result.cycle.demonstration]
    return next(iter(same[same.index(result) + 1 :]), None)


def _linked(places: Places, cycle: str, page: str, said: Markdown, subject: str, run: str | None) -> Markdown:
    to = places.attempt(cycle, subject, run, page) if run else places.project(cycle, subject, page)
    return link(said, to)


def _text(shown: Summary, lines: int, elsewhere: Markdown) -> str:
    before = f", compared with {shown.compared_with}" if shown.compared_with else ""
    always = (
        (f"The board{before}", "No ranked agent has an attempt for the board.", shown.board),
        (f"Verdicts{before}", "This edition has no verdict.", shown.verdicts),
    )
    exceptions = (
        ("withheld", "Withheld attempts", shown.withheld),
        ("invalid", "Invalid attempts", shown.invalid),
        ("unstable", "Unstable sets", shown.unstable),
        ("under review", "Projects under review", shown.under_review),
        ("incomplete", "Incomplete sets", shown.incomplete),
    )
    lists = [*always, *((title, "", found) for _, title, found in exceptions if found)]
    if shown.flagged:
        lists.append(("Passes whose claims need a look", "", shown.flagged))
    return rendered(
        "summary.md.j2",
        summary=shown,
        sections=[(title, empty, found[:lines], max(0, len(found) - lines)) for title, empty, found in lists],
        nothing=words.listed([word for word, _, found in exceptions if not found], "or"),
        elsewhere=elsewhere,
    )
