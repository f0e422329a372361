"""A cycle whose agent this harness cannot start is refused before anything is made, with the agent's name."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bot.plan import write_plan
from tests.support.make import declare

ARGUSIC = str(Path(sys.executable).with_name("argusic"))


def test_the_agent_is_named_and_no_attempt_is_begun(tmp_path):
    declare(tmp_path, "pkg:pypi/six@1.17.0", agents=["agent-a"], demonstration=True)
    write_plan(tmp_path, "first")
    done = subprocess.run(
        [ARGUSIC, "--root", str(tmp_path), "cycle", "run", "first", "--sandbox", "bubblewrap"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "error: agent agent-a: no [model] table says" in done.stderr
    assert not (tmp_path / "results").exists()
    assert not (tmp_path / ".argusic/spool").exists()
