"""One round of measurement over one pool (MEASUREMENT §1)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from archive.model import Day, Digest, Model, Slug

Purpose = Literal["board", "verdict"]


class Cycle(Model):
    """pools/cycles/<id>/cycle.toml."""

    id: Slug
    """Equal to the folder's name."""
    title: str = Field(min_length=1, max_length=120)
    """Shown on pages."""
    demonstration: bool
    """A demonstration never makes a source type "in use" and is never on the public board."""
    edition: Annotated[str, Field(pattern=r"^\d+\.\d+$")]
    """The rules that every attempt of the cycle is judged by."""
    starts: Day
    """First day on which an attempt may be made."""
    purposes: tuple[Purpose, ...] = Field(min_length=1)
    """Which questions the cycle asks."""
    agents: tuple[Slug, ...] = Field(min_length=1)
    """Files of pools/agents."""
    standard_agent: Slug
    """Whose attempts give a project its verdict (MEASUREMENT §9)."""
    sandboxes: tuple[Literal["bubblewrap", "docker"], ...] = Field(min_length=1)
    """Kinds of disposable machine this cycle accepts."""
    spend_cap_micro_usd: Annotated[int, Field(gt=0)] | None = None
    """What all attempts of the cycle together may cost their own keys, in millionths of a US dollar."""
    image: Digest | None = None
    """Image that its docker machines are made from; a demonstration may leave it open."""

    @model_validator(mode="after")
    def _pinned(self) -> Cycle:
        if "docker" in self.sandboxes and self.image is None and not self.demonstration:
            raise ValueError("image: a cycle that accepts docker pins the image of its machines (MEASUREMENT §5)")
        return self
