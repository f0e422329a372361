"""A container engine, asked through its API: loading an archive, and looking into an image without starting it."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import docker
import requests
from docker.errors import APIError, DockerException, ImageNotFound, NotFound

from archive.errors import ArgusicError, MachineError

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
        with _explained("load the image"), archive.open("rb") as file:
            loaded = [image.id for image in self._client.images.load(file)]
        if wanted not in loaded:
            raise MachineError(f"the engine calls the image {', '.join(loaded) or 'nothing'}, not {wanted}")

    def inspect(self, name: str) -> dict[str, Any]:
        """What the engine says of the image `name` (a reference or an id)."""
        with _explained("look at an image"):
            try:
                return dict(self._client.images.get(name).attrs)
            except ImageNotFound:
                raise NoSuchImage(f"the engine has no image {name!r}; `docker images` lists what it has") from None

    def files(self, image: str, paths: list[str]) -> dict[str, bytes | None]:
        """Regular files of `image`; None for one that is not there. Nothing of the image is run."""
        with _explained("look into an image"):
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
    """The engine of this computer, or of DOCKER_HOST. Raises MachineError where none answers."""
    try:
        client = docker.from_env(timeout=SECONDS)
        client.ping()
    except (DockerException, requests.RequestException) as error:
        raise MachineError(
            f"no container engine answers; start one, or name its socket in DOCKER_HOST ({_short(error)})"
        ) from None
    try:
        yield Engine(client)
    finally:
        client.close()


@contextmanager
def _explained(what: str) -> Iterator[None]:
    try:
        yield
    except APIError as error:
        said = str(error.explanation or error)
        cause = "the engine's disk is full; " if "no space left" in said.lower() else ""
        raise MachineError(f"the engine would not {what}: {cause}{said[:300]}") from None
    except (DockerException, requests.RequestException) as error:
        raise MachineError(f"the engine would not {what}: {_short(error)}") from None


def _short(error: Exception) -> str:
    return " ".join(str(error).split())[:200]
