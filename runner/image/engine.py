"""A container engine, asked through its API: loading an archive, and looking into an image without starting it."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from docker.errors import ImageNotFound, NotFound

from archive.errors import ArgusicError, MachineError
from runner.sandbox.engine import connect, told
from runner.sandbox.images import NAME, SHORT

SECONDS = 900
"""Longest time of one call: loading the largest image takes half a minute on a busy computer."""


class NoSuchImage(ArgusicError):
    """The engine has no image of this name."""


class Engine:
    """A running engine. Raises MachineError where it stops answering or refuses."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def load(self, archive: Path, wanted: str) -> None:
        """Loads `archive`, whose image must be `wanted`."""
        with told("the engine would not load the image"), archive.open("rb") as file:
            loaded = [image.id for image in self._client.images.load(file)]
        if wanted not in loaded:
            raise MachineError(f"the engine calls the image {', '.join(loaded) or 'nothing'}, not {wanted}")
        with told("the engine would not name the image"):
            # Once a newer build has taken the variant's name, this one still says whose image it is.
            self._client.api.tag(wanted, NAME, wanted.partition(":")[2][:SHORT])

    def inspect(self, name: str) -> dict[str, Any]:
        """What the engine says of the image `name` (a reference or an id)."""
        with told("the engine would not look at an image"):
            try:
                return dict(self._client.images.get(name).attrs)
            except ImageNotFound:
                raise NoSuchImage(f"the engine has no image {name!r}; `docker images` lists what it has") from None

    def files(self, image: str, paths: list[str]) -> dict[str, bytes | None]:
        """Regular files of `image`; None for one that is not there. Nothing of the image is run."""
        with told("the engine would not look into an image"):
            container = self._client.containers.create(image, command=["-"], network_disabled=True)
            try:
                return {path: self._file(container, path) for path in paths}
            finally:
                container.remove(v=True, force=True)

    def _file(self, container: Any, path: str) -> bytes | None:
        try:
            blocks, _ = container.get_archive(path)
        except NotFound:
            return None
        with tarfile.open(fileobj=io.BytesIO(b"".join(blocks))) as tar:
            found = tar.extractfile(tar.getmembers()[0])
            return found.read() if found else None


@contextmanager
def engine() -> Iterator[Engine]:
    """The engine that machines are made with. Raises MachineError where none answers."""
    client = connect(SECONDS)
    try:
        yield Engine(client)
    finally:
        client.close()
