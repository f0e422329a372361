"""Which sandbox this runner uses, and why."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from archive import places
from archive.errors import MachineError
from runner.sandbox import Sandbox


class Kind(StrEnum):
    """What may be asked for."""

    AUTO = "auto"
    DOCKER = "docker"
    BUBBLEWRAP = "bubblewrap"


class Chosen(NamedTuple):
    """A sandbox and the reason for it, in words."""

    sandbox: Sandbox
    why: str


def choose(kind: Kind, root: Path, image: str | None = None) -> Chosen:
    """The sandbox of `kind`; `auto` takes docker where an engine answers that has `image`.

    `image` is the image of a docker machine, the small one of this program where it is None. Raises MachineError where
    docker was asked for and cannot be had.
    """
    if kind is not Kind.BUBBLEWRAP:
        from runner.sandbox.container import IMAGE, Docker

        try:
            made = Docker(places.private(root) / "machines", image or IMAGE)
        except MachineError as error:
            if kind is Kind.DOCKER:
                raise
            why = str(error)
        else:
            return Chosen(made, f"docker: an engine answers and has {image or IMAGE}")
    else:
        why = "asked for"
    from runner.sandbox.bubblewrap import Bubblewrap

    return Chosen(Bubblewrap(), f"bubblewrap: {why}")
