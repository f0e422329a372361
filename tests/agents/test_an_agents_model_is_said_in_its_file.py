"""The [model] table of an agent's file: each mistake is named with what would be right."""

from __future__ import annotations

from typing import Any

import pytest

from archive.agent import ModelAccess
from archive.errors import DataErrors
from archive.model import read_model

OWN = {"name": "maker/model-1", "endpoint": "https://host.example/api", "key": "own", "broker": "openrouter"}
SHARED = {"name": "m", "endpoint": "https://host.example", "key": "shared", "key_from": "VENDOR_KEY"}
NONE = {"name": "m", "endpoint": "http://127.0.0.1:8080", "key": "none"}


def read(table: dict[str, Any]) -> ModelAccess:
    return read_model(ModelAccess, table, "agent.toml")


@pytest.mark.parametrize(
    ("table", "through_runner"),
    [(OWN, False), (OWN | {"by_runner": True}, True), (SHARED, True), (NONE, True), (NONE | {"by_runner": True}, True)],
)
def test_only_an_own_key_goes_past_the_runner(table: dict[str, Any], through_runner: bool) -> None:
    assert read(table).through_runner is through_runner


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (OWN | {"broker": None}, 'broker: is needed with key = "own"'),
        (SHARED | {"key_from": None}, 'key_from: is needed with key = "shared"'),
        (SHARED | {"broker": "litellm"}, 'broker: belongs to key = "own" alone'),
        (NONE | {"key_from": "VENDOR_KEY"}, 'key_from: belongs to key = "shared" alone'),
        (SHARED | {"by_runner": False}, "without a key of its own a machine reaches no model but over the runner"),
        (OWN | {"endpoint": "http://host.example"}, "must be https"),
        (OWN | {"endpoint": "https://host.example/"}, "without user, query and last slash"),
        (OWN | {"endpoint": "https://me:secret@host.example"}, "without user, query and last slash"),
        (OWN | {"endpoint": "https://host.example?key=1"}, "without user, query and last slash"),
        (OWN | {"endpoint": "ftp://host.example"}, "must be an address such as"),
        (OWN | {"endpoint": "https://host.example:99999"}, "must be an address such as"),
        (OWN | {"endpoint": "https://host.example/api/v1"}, "without the version's part"),
        (OWN | {"endpoint": "https://host.example/v1beta"}, "without the version's part"),
        (OWN | {"broker": "another"}, "Input should be 'openrouter' or 'litellm'"),
        (SHARED | {"key_from": "NOT A NAME"}, "key_from"),
    ],
)
def test_a_mistake_is_named(table: dict[str, Any], said: str) -> None:
    with pytest.raises(DataErrors) as error:
        read(table)
    assert said in str(error.value)
