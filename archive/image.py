"""The published description of an image of the disposable machine (MEASUREMENT §5)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from archive.model import Digest, Instant, Model, Slug

Versions = dict[
    Annotated[str, Field(min_length=1, max_length=200)], Annotated[str, Field(min_length=1, max_length=200)]
]
"""Name to version."""


class ImageConfig(Model):
    """How a machine is started from an image that says nothing else."""

    user: str
    """User and group by number, such as "1000:1000"; empty for root."""
    folder: str
    """Where a program starts."""
    hostname: str
    env: tuple[str, ...]
    """NAME=VALUE, in the image's order."""
    command: tuple[str, ...]


class Inputs(Model):
    """What decides the bytes of an image, apart from the packages of its day."""

    recipe: Digest
    """The list of packages and tools: runner/image/variants.toml."""
    client: Digest
    """Names, versions and hashes of what lies in /opt/argusic: the part of constraints.txt that is used."""
    mmdebstrap: str
    """Version of the program that unpacked the system."""


class Image(Model):
    """pools/images/<variant>.json: one built image."""

    schema_version: Literal[1]
    variant: Slug
    """Equal to the file's name."""
    about: str = Field(min_length=1, max_length=200)
    """For whom it is, shown on pages."""
    id: Digest
    """The image's id in every engine: the digest of its configuration, which names the digest of each layer."""
    suite: Slug
    """The Debian release."""
    architecture: Slug
    """As Debian and engines call it, such as "amd64"."""
    created: Instant
    """Fixed, so that the same inputs give the same id; no time of a build."""
    size_bytes: Annotated[int, Field(gt=0)]
    """Of all layers, unpacked."""
    layers: tuple[Digest, ...] = Field(min_length=1)
    """Digest of each layer's tar, lowest first."""
    config: ImageConfig
    packages: Versions = Field(min_length=1)
    """Debian packages."""
    tools: Versions
    """Programs and Python packages of /opt/argusic."""
    inputs: Inputs
