"""Where things stand: anchors, links between pages, and links to records."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from posixpath import dirname, relpath

from archive.edition import Edition
from archive.plan import RunId
from bot.escape import Markdown, link
from bot.results import CycleResult

PAGES = "docs"
Subject = tuple[str, str]
"""Cycle and package URL."""


class Places:
    """Addresses of one rendering. Pages are named by their path in the repository."""

    def __init__(self, runs: Iterable[RunId], pages: Mapping[Subject, str] | None = None) -> None:
        begin = Counter(run[:8] for run in runs)
        self._shared = {short for short, times in begin.items() if times > 1}
        self.pages = dict(pages or {})
        """The page on which each subject's attempts stand."""

    def play(self, run: str) -> Markdown:
        """The command that plays a run. Eight characters name it, unless two runs share them."""
        return Markdown(f"`argusic play {run if run[:8] in self._shared else run[:8]}`")

    def record(self, cycle: str, run: str, page: str) -> Markdown:
        """Link from `page` to a record."""
        return Markdown(f"[record]({_up(page)}results/records/{cycle}/{run[:2]}/{run}.json)")

    def project(self, cycle: str, subject: str, page: str) -> str:
        """Link from `page` to a project's section."""
        return f"{self._to(cycle, subject, page)}#{project_anchor(cycle, subject)}"

    def attempt(self, cycle: str, subject: str, run: str, page: str) -> str:
        """Link from `page` to the row of an attempt."""
        return f"{self._to(cycle, subject, page)}#{attempt_anchor(run)}"

    def _to(self, cycle: str, subject: str, page: str) -> str:
        target = self.pages[cycle, subject]
        return "" if target == page else _between(page, target)


def _up(page: str) -> str:
    """The way from `page` to the root of the repository."""
    return "../" * page.count("/")


@cache
def _between(page: str, target: str) -> str:
    return relpath(f"/{target}", dirname(f"/{page}"))


def summary_page(cycle: str) -> str:
    """Path of the summary of a cycle."""
    return f"docs/cycles/{cycle}/summary.md"


def rules(result: CycleResult, newest: Edition) -> Markdown:
    """Link from a page in docs/ to the edition of a cycle: the methodology is the newest one's."""
    page = "methodology.md" if result.edition.version == newest.version else "changes.md"
    return link(f"edition {result.edition.version}", page)


def project_anchor(cycle: str, subject: str) -> Markdown:
    """Name of a project's section; a hash, so that no subject can write into a page's markup."""
    return Markdown("p-" + hashlib.sha256(f"{cycle}\n{subject}".encode()).hexdigest()[:12])


def attempt_anchor(run: str) -> Markdown:
    """Name of an attempt's row."""
    return Markdown(f"r-{run[:16]}")
