"""A fake of each broker, and the runner's own side of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from runner.keys import ADDRESS_VARIABLES, KEY_VARIABLES, KeyBroker, key_name
from runner.keys.http import Client
from runner.keys.lease import Lease
from runner.keys.litellm import LiteLLM
from runner.keys.openrouter import OpenRouter
from tests.keys.fakes import Fake, FakeLiteLLM, FakeOpenRouter, running

CAP = 3_000_000
RUNNER, RUN = "runner-1a2b3c4d", "5b" * 16
NAME = key_name(RUNNER, RUN)


class Side(NamedTuple):
    """Both ends of a connection to a broker, and a spool folder."""

    fake: Fake
    broker: KeyBroker
    environ: dict[str, str]
    folder: Path
    slept: list[float]

    def open(self, name: str = NAME, seconds: float = 5400.0) -> Lease:
        return Lease.open(self.broker, self.folder, name, CAP, seconds, time.time(), self.slept.append)


def side(fake: Fake, address: str, folder: Path) -> Side:
    kind = OpenRouter if fake.name == "openrouter" else LiteLLM
    environ = {KEY_VARIABLES[fake.name]: fake.management, ADDRESS_VARIABLES[fake.name]: address}
    folder.mkdir(exist_ok=True)
    return Side(fake, kind(Client(fake.name, address, fake.management)), environ, folder, [])


@pytest.fixture(params=[FakeOpenRouter, FakeLiteLLM], ids=["openrouter", "litellm"])
def at(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Side]:
    fake = request.param()
    with running(fake) as address:
        yield side(fake, address, tmp_path / "spool")


@pytest.fixture
def openrouter(tmp_path: Path) -> Iterator[Side]:
    fake = FakeOpenRouter()
    with running(fake) as address:
        yield side(fake, address, tmp_path / "spool")


@pytest.fixture
def litellm(tmp_path: Path) -> Iterator[Side]:
    fake = FakeLiteLLM()
    with running(fake) as address:
        yield side(fake, address, tmp_path / "spool")
