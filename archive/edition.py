"""One version of the rules with every number that a rule uses; null where an edition had none (MEASUREMENT §12)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from archive.model import Day, Model

Minutes = Annotated[int, Field(gt=0, le=10_000)]
Points = Annotated[int, Field(ge=0, le=100)]
Percent = Annotated[int, Field(gt=0, le=100)]


class Budgets(Model):
    """Time limits of an attempt, by tier, in minutes (MEASUREMENT §5)."""

    standard: Minutes
    heavy: Minutes | None = None
    gpu: Minutes


class Rubric(Model):
    """Points of each line (MEASUREMENT §7)."""

    installed: Points
    started: Points
    recovery: Points
    depth_real: Points
    depth_mock: Points
    depth_none: Points

    @model_validator(mode="after")
    def _hundred(self) -> Rubric:
        if self.installed + self.started + self.recovery + self.depth_real != 100:
            raise ValueError("installed, started, recovery and depth_real must add up to 100")
        return self


class BoardRules(Model):
    """From attempts to a board (MEASUREMENT §8)."""

    set_size: Annotated[int, Field(ge=1, le=9)]
    """Valid attempts that make a set."""
    spread_percent: Percent
    """A set whose spread is strictly greater is unstable."""
    under_review_agents: Annotated[int, Field(ge=1)] | None = None
    """Ranked agents that must all fail for a project to be under review; null before the exclusion existed."""


class VerdictRules(Model):
    """How a verdict is reached (MEASUREMENT §9)."""

    standard_attempts: Annotated[int, Field(ge=1, le=9)]
    """Complete attempts of the standard agent before its part is over."""
    stronger_in_chain: bool
    """Whether a stronger agent is part of the standard chain (before 1.3)."""


class PoolRules(Model):
    """How a pool is made up (MEASUREMENT §3)."""

    public_percent: Percent
    hidden_percent: Percent
    trending_days: Annotated[int, Field(gt=0)]


class Edition(Model):
    """One file of pools/editions."""

    version: Annotated[str, Field(pattern=r"^\d+\.\d+$")]
    """Equal to the file's name."""
    written: Day
    """When the rule entered the document."""
    decided: Day | None = None
    """When the rule was decided, where that came before it was written."""
    stated_effective: Day | None = None
    """The day the document itself names; pages show the day read from records, and say where the two differ."""
    changed: str = Field(min_length=1)
    """What changed, in one sentence, for the change log."""
    budgets: Budgets
    heavy_repository_mb: Annotated[int, Field(gt=0)] | None = None
    """A repository above this size, as GitHub reports it, is heavy."""
    rubric: Rubric
    board: BoardRules
    verdict: VerdictRules | None = None
    """Null in an edition that had no verdict."""
    pool: PoolRules
    contradictory_reruns: Annotated[int, Field(ge=0, le=3)]
    """How often an attempt with a contradictory report is run again."""
    key_cap_micro_usd: Annotated[int, Field(gt=0)] | None = None
    """Spending cap of one attempt's key in millionths of a US dollar; null before it was stated."""
    virtual_display: bool
    """Desktop applications start on a virtual display."""
    images_to_model: bool
    """Whether an agent may send images to its model."""
    verification_is_decoding: bool
    """Whether the instructions ask for a decode instead of a probe."""

    def budget_minutes(self, tier: str) -> int | None:
        """The budget of `tier` in minutes; None where this edition has no such tier."""
        value: int | None = getattr(self.budgets, tier)
        return value
