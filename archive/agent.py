"""A tested configuration under its neutral identity (MEASUREMENT §1)."""

from __future__ import annotations

import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator, model_validator

from archive.command import CommandProgram, Variable
from archive.model import Model, Slug


class ModelAccess(Model):
    """The model behind an agent: where it answers, and whose key pays."""

    name: Annotated[str, Field(pattern=r"^[\x21-\x7e]{1,200}$")]
    """Exact version, as the endpoint calls it."""
    endpoint: str
    """Address without the version's part of the path: "https://host" or "https://host/path"."""
    key: Literal["own", "shared", "none"]
    """"own": one for each attempt, from `broker`. "shared": the vendor's, which never enters a machine. "none": for
    demonstrations alone."""
    broker: Literal["openrouter", "litellm"] | None = None
    """Who makes the attempts' own keys."""
    key_from: Variable | None = None
    """Name of the runner's variable that holds a shared key."""
    by_runner: bool | None = None
    """Whether machines reach the endpoint over the runner; always so without an own key."""
    context_tokens: Annotated[int, Field(ge=1000)] = 128_000
    """What the model can read."""
    answer_tokens: Annotated[int, Field(ge=100)] = 16_000
    """Its longest answer: what one request can cost beyond a key's soft cap."""

    @property
    def through_runner(self) -> bool:
        """Whether the runner passes requests on."""
        return self.key != "own" or bool(self.by_runner)

    @field_validator("endpoint")
    @classmethod
    def _address(cls, value: str) -> str:
        try:
            parts = urlsplit(value)
            host, _ = parts.hostname, parts.port
        except ValueError:
            host = None
        plain = re.fullmatch(r"https?://[A-Za-z0-9.:\[\]-]{1,255}(/[A-Za-z0-9._~/-]*)?", value)
        if not host or not plain or value.endswith("/"):
            raise ValueError("must be an address such as https://host/path, without user, query and last slash")
        if re.search(r"/v\d+(beta)?$", value):
            raise ValueError("must be without the version's part of the path, which programs add")
        if parts.scheme == "http" and host not in ("127.0.0.1", "localhost", "::1"):
            raise ValueError("must be https: the key and all that is asked would be readable on the way")
        return value

    @model_validator(mode="after")
    def _key_from_somewhere(self) -> ModelAccess:
        for key, name in (("own", "broker"), ("shared", "key_from")):
            if (self.key == key) != (getattr(self, name) is not None):
                problem = f'is needed with key = "{key}"' if self.key == key else f'belongs to key = "{key}" alone'
                raise ValueError(f"{name}: {problem}")
        if self.key != "own" and self.by_runner is False:
            raise ValueError("by_runner: without a key of its own a machine reaches no model but over the runner")
        return self


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
    model: ModelAccess | None = None
    """The model. A control has none; another agent without one makes no attempt."""

    @model_validator(mode="after")
    def _program_where_it_belongs(self) -> Agent:
        if (self.harness == "command") != (self.command is not None):
            raise ValueError('command: a [command] table belongs to harness "command", and to no other')
        if self.control and self.model is not None:
            raise ValueError("model: a control is a program without a model")
        return self
