"""docs/environment.md: the images in which attempts are made, what is in them, and what a machine may use."""

from __future__ import annotations

from typing import NamedTuple

from archive.image import Image
from archive.limits import MachineLimits
from bot import words
from bot.environment import rendered

PAGE = "docs/environment.md"
LIMITS = {
    "cpus": "processors",
    "memory_bytes": "memory, without swap",
    "processes": "processes",
    "open_files": "open files of a process",
    "disk_bytes": "disk, all that can be written",
}
"""Fields of pools/limits.toml as a reader calls them."""


class Part(NamedTuple):
    """One image as the template shows it."""

    image: Image
    size: str
    env: list[str]
    tools: list[tuple[str, str]]
    packages: list[tuple[str, str]]


def environment_page(images: dict[str, Image], limits: MachineLimits | None) -> str:
    """The page, for what is published."""
    parts = [
        Part(
            image=image,
            size=words.megabytes(image.size_bytes),
            env=list(image.config.env),
            tools=sorted(image.tools.items()),
            packages=sorted(image.packages.items()),
        )
        for _, image in sorted(images.items())
    ]
    shown = [] if limits is None else [(LIMITS[name], _limit(name, value)) for name, value in limits]
    return rendered("environment.md.j2", parts=parts, limits=shown)


def _limit(name: str, value: int) -> str:
    return words.gibibytes(value) if name.endswith("_bytes") else str(value)
