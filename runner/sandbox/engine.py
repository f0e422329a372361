"""The container engine: how it is found, and what went wrong with it in words that tell what to do."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator

import docker
import requests
from docker.context import ContextAPI
from docker.errors import APIError, DockerException

from archive.errors import MachineError

OLDEST = (1, 41)
"""API of Docker 20.10."""
ENGINE_SECONDS = 60


def connect(seconds: int = ENGINE_SECONDS) -> docker.DockerClient:
    """The engine that DOCKER_HOST, else the current context names, else the one of this computer.

    `seconds` is how long each of its answers may take.
    Raises MachineError where none answers, or one older than Docker 20.10.
    """
    with told("no container engine can be reached"):
        client = _client(seconds)
        found = client.api.version()["ApiVersion"]
    if tuple(map(int, found.split("."))) < OLDEST:
        client.close()
        raise MachineError(f"the container engine is too old (API {found}): Docker 20.10 or newer is needed")
    return client


def _client(seconds: int) -> docker.DockerClient:
    if os.environ.get("DOCKER_HOST"):
        return docker.DockerClient.from_env(version="auto", timeout=seconds)
    name = os.environ.get("DOCKER_CONTEXT")
    context = ContextAPI.get_context(name) if name else ContextAPI.get_current_context()
    if context is None:
        raise DockerException(f"there is no docker context {name or 'of the name that is set'}")
    return docker.DockerClient(base_url=context.Host, tls=context.TLSConfig, version="auto", timeout=seconds)


@contextlib.contextmanager
def told(what: str) -> Iterator[None]:
    """Turns the engine's errors into MachineError."""
    try:
        yield
    except APIError as error:
        raise MachineError(f"{what}: {_advice(str(error.explanation or error))}") from None
    except (DockerException, requests.RequestException, OSError) as error:
        raise MachineError(f"{what}: {_advice(str(error))}") from None


def _advice(said: str) -> str:
    said = re.sub(r"\s+", " ", said)[:500]
    for word, advice in (
        ("Permission denied", "this user may not use it: add it to the group docker"),
        ("FileNotFoundError", "no engine listens there: install and start one, or set DOCKER_HOST"),
        ("Connection refused", "no engine listens there: start it, or set DOCKER_HOST"),
        ("address pool", "its address pools are used up: docker network prune"),
        ("no space left", "its disk is full"),
    ):
        if word.lower() in said.lower():
            return advice
    return said
