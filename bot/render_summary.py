"""What a cycle brings, in one text: a page for readers, and the same text, cut to size, for the pull request."""

from __future__ import annotations

from functools import partial

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
    shown = summary(result, earlier(result, found), lambda words, subject, run: words)
    for lines in (LINES, 200, 100, 50, 20, 5, 1):
        made = _text(shown, lines, Markdown(f"`{page}`")).strip() + "\n"
        if len(made) < BODY_CHARACTERS:
            break
    return made


def earlier(result: CycleResult, found: list[CycleResult]) -> CycleResult | None:
    """The cycle before, among the public ones or among the demonstrations."""
    same = [one for one in found if one.cycle.demonstration is result.cycle.demonstration]
    return next(iter(same[same.index(result) + 1 :]), None)


def _linked(places: Places, cycle: str, page: str, words: Markdown, subject: str, run: str | None) -> Markdown:
    to = places.attempt(cycle, subject, run, page) if run else places.project(cycle, subject, page)
    return link(words, to)


def _text(shown: Summary, lines: int, elsewhere: Markdown) -> str:
    before = f", compared with {shown.compared_with}" if shown.compared_with else ""
    lists = (
        (f"The board{before}", "No ranked agent has an attempt for the board.", shown.board),
        (f"Verdicts{before}", "This edition has no verdict.", shown.verdicts),
        ("Withheld attempts", "None.", shown.withheld),
        ("Invalid attempts", "None.", shown.invalid),
        ("Unstable sets", "None.", shown.unstable),
        ("Projects under review", "None.", shown.under_review),
        ("Incomplete sets", "None.", shown.incomplete),
        ("Passes whose claims need a look", "None.", shown.flagged),
    )
    sections = [(title, empty, found[:lines], max(0, len(found) - lines)) for title, empty, found in lists]
    return rendered("summary.md.j2", summary=shown, sections=sections, elsewhere=elsewhere)
