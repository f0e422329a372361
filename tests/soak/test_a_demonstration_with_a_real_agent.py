"""make demo AGENT=codex: the real program takes part, from its package to its record."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.soak.test_the_demonstration import ARGUSIC, argusic, wait_for_records

pytestmark = [pytest.mark.soak, pytest.mark.sandbox, pytest.mark.network]


def of_codex(root: Path) -> list[dict[str, Any]]:
    made = [json.loads(path.read_text()) for path in root.glob("results/records/demo/*/*.json")]
    return [record for record in made if record["agent"] == "agent-codex"]


def test_the_real_program_goes_through_an_attempt(tmp_path: Path) -> None:
    root = tmp_path / "1/checkout"
    command = [ARGUSIC, "demo", "--agent", "codex", "--folder", str(tmp_path), "--sandbox", "bubblewrap"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        # Two agents are at work at a time: of four attempts at least one is its own.
        wait_for_records(root, 4, process)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "control agents and codex with a model that a script plays" in said
    record = next(one for one in of_codex(root) if one["validity"] == "valid")
    assert record["program"]["name"] == "@openai/codex"
    assert record["usage"]["complete"]
    assert record["report_state"] == "read"
    assert record["outcome"] == "pass_full"


def test_another_program_is_named(tmp_path: Path) -> None:
    status, said = argusic("demo", "--agent", "nobody", "--folder", str(tmp_path))
    assert (status, list(tmp_path.iterdir())) == (2, [])
    assert "no agent 'nobody' takes part in a demonstration; one of codex, pi, claude" in said
