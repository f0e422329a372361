"""What an adapter of a program with a model says of it: package, start, session files, and how its output is read."""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

from runner.agents.reading import Output, Reading

Api = Literal["openai-completions", "openai-responses", "anthropic-messages", "google"]
"""Interface of a model's endpoint."""


class Package(NamedTuple):
    """What the program is installed from; a version is always exact."""

    registry: Literal["npm", "pypi"]
    name: str
    version: str
    engine: str
    """What runs it: "node@24.21.0", "python3.11", or "" where the package brings its own program."""
    along: tuple[str, ...] = ()
    """Packages that it needs, in exact versions: other ones have been malicious."""


class Setting(NamedTuple):
    """What one attempt gives to the program. The key is not in it: the runner hands it over by `key_variable`."""

    home: str
    """A fresh folder that is the program's home for this attempt alone."""
    endpoint: str
    """Address of the model's interface, without the version's part of the path: "https://host" or "https://host/x"."""
    model: str
    """Name of the model at that endpoint."""
    prompt: str
    context_tokens: int = 128_000
    """What the model can read; programs compact their session by it."""
    answer_tokens: int = 16_000
    """The longest single answer: what a request can cost beyond a key's soft cap."""


class Start(NamedTuple):
    """A start without a person: the whole environment, the files of the home, and the command."""

    argv: tuple[str, ...]
    environment: dict[str, str]
    """All variables beside PATH and the key. Standard input is closed."""
    files: dict[str, str]
    """Absolute path to text of each file that must be there before."""


class Program(Protocol):
    """One program with a model."""

    name: str
    """Word of the program in an agent's file and on the command line."""
    package: Package | None
    """None where the agent's own file says it."""
    apis: tuple[Api, ...]
    """Interfaces of a model's endpoint that the program is started with; the first one is."""
    key_variable: str | None
    """Variable of the environment in which it looks for its key; None where it needs none."""
    session_files: tuple[str, ...]
    """Patterns, relative to the home, of the files in which it keeps its session; none where its output is all."""
    waits_for_ever: bool
    """Whether it waits without end for an endpoint that cannot be reached: then the harness asks by itself."""

    def start(self, setting: Setting) -> Start:
        """How it is started: telemetry, updates and personal or project instructions off, text only."""

    def read(self, output: Output) -> Reading:
        """What its output says. Any bytes are answered; nothing raises."""


def base_environment(setting: Setting) -> dict[str, str]:
    """What every program gets: its own home, plain text, UTF-8."""
    return {"HOME": setting.home, "LANG": "C.UTF-8", "NO_COLOR": "1", "TERM": "dumb"}
