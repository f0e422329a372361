"""What the commands are asked: one model for each kind of line."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any

from pydantic import Field, PlainValidator, StringConstraints, model_validator

from archive.model import Model
from archive.reasons import Outcome, Validity
from archive.report import Count, Depth
from scoring.rounding import read_exact
from scoring.verdict import Who


def _score(written: Any) -> Fraction:
    score = read_exact(written)
    if not 0 <= score <= 100:
        raise ValueError("a score is between 0 and 100")
    return score


def _only_null(written: Any) -> None:
    if written is not None:
        raise ValueError('only null stands here (no readable report); write the fields of a report without "report"')


Score = Annotated[Fraction, PlainValidator(_score)]
Scores = Annotated[tuple[Score, ...], Field(strict=False, max_length=1000)]
OutcomeWord = Annotated[Outcome, Field(strict=False)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=500)]


class ReportQuestion(Model):
    """A line of `score attempt` for an attempt with a report."""

    installed: bool
    launched: bool
    """Started, or its tests ran."""
    errors_encountered: Count
    errors_fixed: Count
    test_depth: Depth
    timed_out: bool
    edition: str


class NoReportQuestion(Model):
    """A line of `score attempt` for an attempt that left no readable report."""

    report: Annotated[None, PlainValidator(_only_null)]
    timed_out: bool
    edition: str


class SetQuestion(Model):
    """A line of `score set`."""

    scores: Scores
    """Of the first three valid attempts by number."""
    edition: str | None = None
    """The newest one where left out."""


class BoardQuestion(Model):
    """A line of `score board`: one set."""

    agent: Name
    project: Name
    scores: Scores
    """Of the first three valid attempts by number."""
    outcomes: Annotated[tuple[OutcomeWord, ...], Field(strict=False, max_length=1000)]
    """Of every valid attempt of the agent on the project, made for the board or for a verdict."""
    under_review: bool | None = None
    """Given: final for the project. Null or left out: computed from all lines (MEASUREMENT §8)."""
    control: bool = False
    edition: str | None = None
    """The newest one where left out; the same on every line."""

    @model_validator(mode="after")
    def _scored_attempts_have_outcomes(self) -> BoardQuestion:
        if len(self.outcomes) < len(self.scores):
            raise ValueError("outcomes: fewer than scores; every valid attempt has one")
        return self


class TriedQuestion(Model):
    """One attempt inside a line of `score verdict`."""

    agent: Who
    outcome: OutcomeWord | None = None
    """Required of a valid attempt, not looked at in any other."""
    validity: Annotated[Validity, Field(strict=False)]

    @model_validator(mode="after")
    def _valid_has_outcome(self) -> TriedQuestion:
        if self.validity is Validity.VALID and self.outcome is None:
            words = ", ".join(Outcome)
            raise ValueError(f"outcome: a valid attempt has one; one of {words}")
        return self


class VerdictQuestion(Model):
    """A line of `score verdict`: one project."""

    edition: str
    attempts: Annotated[tuple[TriedQuestion, ...], Field(strict=False, max_length=1000)]
