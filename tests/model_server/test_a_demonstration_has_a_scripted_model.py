"""The model of a demonstration: there while it is needed, and a port that is taken is said in words."""

from __future__ import annotations

import json
import socket
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import demo
from archive import pools
from archive.errors import MachineError

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place, goes_on = demo.scratch(CHECKOUT, tmp_path, "codex")
    assert not goes_on
    return place / "checkout"


def test_the_agent_takes_part_with_a_model_that_answers(root: Path) -> None:
    cycle = pools.cycle(root, demo.CYCLE)
    assert cycle.agents == ("agent-codex", "control-readme", "control-nop")
    model = pools.agents(root)["agent-codex"].model
    assert model is not None
    with demo.scripted_model(root, "codex"), urllib.request.urlopen(f"{model.endpoint}/v1/models", timeout=5) as answer:
        assert json.load(answer)["object"] == "list"
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"{model.endpoint}/v1/models", timeout=5)


def test_a_port_that_is_taken_is_said(root: Path) -> None:
    model = pools.agents(root)["agent-codex"].model
    assert model is not None
    port = urlsplit(model.endpoint).port or 0
    with socket.create_server(("127.0.0.1", port)), pytest.raises(MachineError, match=f"cannot listen at port {port}"):
        with demo.scripted_model(root, "codex"):
            raise AssertionError("nothing listens")


def test_it_is_gone_on_with_by_the_same_agent_alone(root: Path, tmp_path: Path) -> None:
    assert demo.scratch(CHECKOUT, tmp_path, "codex")[1]
    assert not demo.scratch(CHECKOUT, tmp_path, None)[1]
