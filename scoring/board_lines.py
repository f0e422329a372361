"""The lines of `score board`, each right by itself and all of them right together."""

from __future__ import annotations

from archive.edition import Edition
from scoring.answers import Answer, Editions, edition_of, enough, row
from scoring.board import board
from scoring.jsonlines import Line
from scoring.questions import BoardQuestion
from scoring.review import under_review
from scoring.sets import MeasuredSet


class BoardLines:
    """Takes set after set, then makes their board."""

    def __init__(self, editions: Editions) -> None:
        self._editions = editions
        self._edition: Edition | None = None
        self._sets: list[MeasuredSet] = []
        self._controls: set[str] = set()
        self._reviews: dict[str, bool] = {}
        """What lines said about a project; it stands above what is computed."""
        self._said: dict[tuple[str, ...], tuple[int, object]] = {}
        """What must be the same on every line, with the line that said it first."""

    def add(self, line: Line) -> None:
        """Takes one set.

        Raises DataErrors for a wrong line, and for one that does not fit an earlier one: a second set of the same
        agent and project, another edition, an agent that is a control on one of them only, a project that is under
        review on one and not on another.
        """
        asked = line.read(BoardQuestion)
        edition = edition_of(line, asked.edition, self._editions)
        scores = enough(line, asked.scores, edition)
        first, _ = self._said.setdefault(("project", asked.agent, asked.project), (line.number, None))
        if first != line.number:
            raise line.wrong("project", f"line {first} is this agent's set on it already; write one line a set")
        self._same(line, edition.version, "edition")
        self._same(line, asked.control, "control", asked.agent)
        if asked.under_review is not None:
            self._same(line, asked.under_review, "under_review", asked.project)
            self._reviews[asked.project] = asked.under_review
        if asked.control:
            self._controls.add(asked.agent)
        self._edition = edition
        self._sets.append(MeasuredSet(asked.agent, asked.project, scores, asked.outcomes, (), edition))

    def rows(self) -> list[Answer]:
        """The board of all sets taken, best agent first."""
        if self._edition is None:
            return []
        reviewed = under_review(self._sets, self._controls, self._edition) - self._reviews.keys()
        reviewed.update(project for project, final in self._reviews.items() if final)
        return [row(found) for found in board(self._sets, reviewed, self._controls, self._edition)]

    def _same(self, line: Line, value: object, field: str, *of: str) -> None:
        first, said = self._said.setdefault((field, *of), (line.number, value))
        if said != value:
            raise line.wrong(field, f"line {first} says otherwise; make the two the same")
