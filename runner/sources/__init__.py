"""What is particular to a kind of subject: how it is fetched, and nothing about how it is judged."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol

from archive.errors import ArgusicError
from archive.reasons import Reason
from archive.record import Fetched, Incident
from archive.subject import Subject
from runner.sandbox import Mount, Sandbox


class Brief(NamedTuple):
    """What the agent is given of its subject."""

    ecosystem: str
    name: str
    version: str
    readme: bytes | None
    """The subject's own README, untrusted; None where it has none."""
    fetched: tuple[Fetched, ...]
    files: tuple[Mount, ...] = ()
    """What else the agent's machine sees of the subject."""
    prepare: tuple[str, ...] = ()
    """Run in the agent's machine before the agent, and before its time begins; nothing where it is empty."""
    incidents: tuple[Incident, ...] = ()
    """What is worth knowing of how the subject was fetched."""


class FetchFailed(ArgusicError):
    """The subject could not be fetched: ours or the network's trouble, never the agent's."""

    def __init__(self, reason: Reason, detail: str) -> None:
        self.reason = reason
        super().__init__(detail)


class Source(Protocol):
    """One kind of subject."""

    def fetch(self, subject: Subject, sandbox: Sandbox, extra_ca: Path | None, folder: Path) -> Brief:
        """Fetches the pinned version, and only that, in a machine of its own. Raises `FetchFailed`.

        What the agent's machine is to see of it may be left in `folder`, which may not exist yet.
        """

    def reachable(self, subject: Subject, sandbox: Sandbox, extra_ca: Path | None) -> bool:
        """Whether the place the subject comes from can be reached right now."""


def source(source_type: str) -> Source:
    """The class that carries a declared type out. `ArgusicError` where the type is declared and not started."""
    from runner.sources.registry import Registry
    from runner.sources.repository import Repository

    known: dict[str, Source] = {"package": Registry(), "mcp-server": Registry(), "repository": Repository()}
    if source_type not in known:
        ready = ", ".join(sorted(known))
        raise ArgusicError(f"source type {source_type!r} is declared and not started; attempts can be made on: {ready}")
    return known[source_type]
