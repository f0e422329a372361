"""A tested configuration under its neutral identity (MEASUREMENT §1)."""

from __future__ import annotations

from pydantic import Field, model_validator

from archive.command import CommandProgram
from archive.model import Model, Slug


class Agent(Model):
    """One file of pools/agents."""

    id: Slug
    """Equal to the file's name; the neutral identity in data."""
    name: str = Field(min_length=1, max_length=80)
    """The neutral identity on pages."""
    control: bool
    """A built-in program without a model: shown apart, never ranked."""
    harness: Slug
    """Which program drives the attempt."""
    harness_version: str = Field(min_length=1, max_length=80)
    """Exact version of that program."""
    instructions: int = Field(ge=1)
    """Version of the standard instructions (runner/instructions)."""
    about: str = Field(min_length=1, max_length=400)
    """What it does, in one neutral sentence."""
    command: CommandProgram | None = None
    """The program itself, for the harness "command" and for no other."""

    @model_validator(mode="after")
    def _program_where_it_belongs(self) -> Agent:
        if (self.harness == "command") != (self.command is not None):
            raise ValueError('command: a [command] table belongs to harness "command", and to no other')
        return self
