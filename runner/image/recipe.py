"""What an image shall hold: variants.toml, read strictly."""

from __future__ import annotations

import re
from calendar import timegm
from pathlib import Path
from time import strptime
from typing import Annotated, NamedTuple

import tomli
from pydantic import Field, StringConstraints

from archive.canonical import digest
from archive.errors import DataError
from archive.model import Instant, Model, Slug, read_model
from runner.image.listing import NODE

FILE = Path(__file__).with_name("variants.toml")
Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.+-]*$")]


class Variant(Model):
    """One [variant.<name>]."""

    about: str = Field(min_length=1, max_length=200)
    extends: Slug | None = None
    """The variant whose packages are in it too."""
    megabytes: Annotated[int, Field(gt=0)]
    """Free space that a build needs: the unpacked system and its archive."""
    packages: tuple[Name, ...]


class Recipe(Model):
    """variants.toml."""

    suite: Slug
    created: Instant
    python: str
    """Version of the suite's Python, for which the client's packages are taken."""
    client: tuple[Name, ...]
    variant: dict[Slug, Variant]

    @property
    def epoch(self) -> int:
        """`created` in seconds since 1970."""
        return timegm(strptime(self.created, "%Y-%m-%dT%H:%M:%SZ"))

    def lineage(self, name: str) -> list[str]:
        """The variants that `name` is made of, the smallest first. Raises DataError where one is missing or a loop."""
        found: list[str] = []
        at: str | None = name
        while at is not None:
            if at not in self.variant or at in found:
                known = ", ".join(self.variant)
                raise DataError(FILE, f"variant.{at}", f"no such variant, or it extends itself; there are: {known}")
            found.insert(0, at)
            at = self.variant[at].extends
        return found

    def packages(self, name: str) -> list[str]:
        """The Debian packages of `name`, in order of their names."""
        return sorted({package for part in self.lineage(name) for package in self.variant[part].packages})


class Client(NamedTuple):
    """What /opt/argusic is installed from."""

    requirements: str
    """Part of constraints.txt: names, versions, hashes."""
    digest: str


def recipe() -> tuple[Recipe, str]:
    """The recipe of this program, and the digest of its file."""
    data = FILE.read_bytes()
    source = data.decode()
    return read_model(Recipe, tomli.loads(source), FILE, source), digest(data)


def client(names: tuple[str, ...], constraints: Path) -> Client:
    """What `constraints` says of Node and of `names`. Raises DataError where it does not name one of them."""
    try:
        text = constraints.read_text()
    except FileNotFoundError:
        raise DataError(constraints, "", "no such file; it is part of every checkout of this program") from None
    blocks = {
        match[1]: match[0] for match in re.finditer(r"^([A-Za-z0-9._-]+)==.*\n(?:[ \t]+.*\n)*", text, re.MULTILINE)
    }
    wanted = sorted({NODE, *names})
    for name in wanted:
        if name not in blocks:
            raise DataError(constraints, name, "is not pinned here, but variants.toml wants it in the image")
    chosen = "".join(blocks[name] for name in wanted)
    return Client(chosen, digest(chosen.encode()))
