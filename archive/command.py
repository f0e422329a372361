"""Any program as an agent, without code: the [command] table of an agent's file."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from archive.model import Model
from archive.reasons import Limit, Reason

Text = Annotated[str, StringConstraints(min_length=1, max_length=4000, pattern=r"^[^\x00]+$")]
Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
PLACES = ("{endpoint}", "{home}", "{model}", "{prompt}")
"""What a command's words and variables may have in them, to be filled for each attempt."""

EXACT = {
    "npm": r"\d{1,9}\.\d{1,9}\.\d{1,18}(?:[-+][0-9A-Za-z.+-]{1,60})?",
    "pypi": r"\d{1,9}(?:\.\d{1,9}){0,5}(?:(?:a|b|rc)\d{1,9})?(?:\.post\d{1,9})?(?:\.dev\d{1,9})?",
}
"""Forms of one version and no range: in npm "1.2" and "1.x" are ranges."""


class CommandPackage(Model):
    """What a program is installed from."""

    registry: Literal["npm", "pypi"]
    name: Annotated[str, StringConstraints(pattern=r"^(@[a-z0-9._-]+/)?[A-Za-z0-9][A-Za-z0-9._-]{0,200}$")]
    version: str
    """Exact: no range, no tag."""

    @model_validator(mode="after")
    def _exact(self) -> CommandPackage:
        if not re.fullmatch(EXACT[self.registry], self.version):
            raise ValueError(f'version: must be one exact version, such as "1.2.3", not {self.version[:80]!r}')
        return self


class CommandTrouble(Model):
    """Last words of a program whose provider cut it off."""

    stderr_begins: Annotated[str, StringConstraints(min_length=3, max_length=400)]
    """Beginning of the last line on its standard error."""
    condition: Reason | Limit
    """What that means."""

    @field_validator("condition")
    @classmethod
    def _of_a_provider(cls, value: Reason | Limit) -> Reason | Limit:
        if not value.startswith(("key:", "model:", "provider:")):
            raise ValueError('must be a condition of a key, a model or a provider, such as "provider:rate-limited"')
        return value


class CommandProgram(Model):
    """Any program as an agent, without code: the [command] table of an agent with harness "command"."""

    argv: Annotated[tuple[Text, ...], Field(min_length=1, max_length=100)]
    """Its words; no shell is between them. {prompt}, {model}, {endpoint} and {home} are filled."""
    package: CommandPackage | None = None
    """Null for a program that every machine has."""
    key_variable: Variable | None = None
    """Variable in which it looks for its key; null where it needs none."""
    environment: dict[Variable, Annotated[str, StringConstraints(max_length=4000)]] = Field(default_factory=dict)
    """Variables beside PATH, HOME and the key; filled like its words."""
    files: dict[str, Annotated[str, StringConstraints(max_length=100_000)]] = Field(default_factory=dict)
    """Path below its home to the text that must stand there before; filled like its words."""
    session_files: tuple[str, ...] = ()
    """Patterns of its session files, below its home."""
    trouble: tuple[CommandTrouble, ...] = ()
    """How to tell that its provider cut it off. Without these every ending of its own is taken for the agent's."""

    @model_validator(mode="after")
    def _filled_and_inside(self) -> CommandProgram:
        texts = (*self.argv, *self.environment.values())
        for text in texts:
            for place in re.findall(r"\{[a-z_]+\}", text):
                if place not in PLACES:
                    raise ValueError(f"{place}: nothing to fill in; one of {', '.join(PLACES)}")
        if not any("{prompt}" in text for text in texts):
            raise ValueError("argv: the task is handed over nowhere; write {prompt} where it belongs")
        for path in (*self.files, *self.session_files):
            parts = PurePosixPath(path)
            if not path or "\0" in path or parts.is_absolute() or ".." in parts.parts:
                raise ValueError(f"{path!r}: must be a path below the home, such as config/settings.json")
        owned = {"HOME", "PATH", self.key_variable} & self.environment.keys()
        if owned:
            raise ValueError(f"environment: {', '.join(sorted(map(str, owned)))} is set by the harness")
        return self
