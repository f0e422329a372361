"""The thing tested: a project, pinned to one exact immutable version (MEASUREMENT §1, §3)."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from pydantic import Field, field_validator

from archive import purl
from archive.model import Model, Slug

Tier = Literal["standard", "heavy", "gpu"]


class Subject(Model):
    """One line of a pool."""

    id: str
    """Package URL with an immutable version, such as "pkg:pypi/name@1.2.3"."""
    source_type: Slug
    """Which kind of subject it is: a file name in pools/sources."""
    tier: Tier
    """Which of the three time budgets an attempt gets (MEASUREMENT §5)."""
    size_kb: int | None = Field(default=None, ge=0)
    """Size of a GitHub repository in KB, as GitHub stated it when it was pinned; null where nobody states one."""
    licence: str = Field(min_length=1, max_length=200)
    """SPDX expression of the project's own licence."""
    why: str = Field(min_length=1, max_length=400)
    """Why it is in this pool, in one neutral sentence."""

    @field_validator("id")
    @classmethod
    def _pinned(cls, value: str) -> str:
        purl.parse(value)
        return value

    @cached_property
    def pin(self) -> purl.Pin:
        """The parsed package URL."""
        return purl.parse(self.id)

    @property
    def project(self) -> str:
        """What makes two subjects the same project, whatever the spelling and the version."""
        return f"{self.source_type} {self.pin.project}"
