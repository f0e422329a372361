"""`argusic doctor` on computers with and without an engine, user namespaces and control groups of memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runner import doctor
from runner.sandbox import container
from runner.sandbox.bubblewrap_command import bwrap
from runner.sandbox.choose import Kind

pytestmark = pytest.mark.sandbox
CHECKOUT = Path(__file__).parents[2]


def said(root: Path, kind: Kind = Kind.AUTO) -> dict[str, doctor.Finding]:
    return {finding.name: finding for finding in doctor.examine(root, kind, None)}


def test_with_an_engine_everything_is_held_and_cycles_that_count_can_be_measured(sandboxes, tmp_path):
    sandboxes("docker")
    found = said(tmp_path)
    assert found["sandbox"].said.startswith("docker: an engine answers")
    assert {name for name, finding in found.items() if not finding.good} <= {"free disk"}
    assert found["memory bytes"].said == "4096 MiB, enforced"
    assert found["cycles that count"].good


def test_without_an_engine_it_says_what_the_embedded_sandbox_lacks(sandboxes, tmp_path, monkeypatch):
    sandboxes("bubblewrap")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")
    found = said(tmp_path)
    assert found["sandbox"].good
    assert "no engine listens there" in found["sandbox"].said
    assert not found["isolation of attempts"].good
    assert not found["cycles that count"].good
    assert "isolation of attempts" in found["cycles that count"].said
    assert found["memory bytes"].said.startswith("4096 MiB, watched")


def test_without_control_groups_of_memory_the_limit_is_watched(sandboxes, tmp_path, monkeypatch):
    sandboxes("docker")
    real = container._config

    def without(*words):
        made = real(*words)
        del made["HostConfig"]["Memory"], made["HostConfig"]["MemorySwap"]
        return made

    monkeypatch.setattr(container, "_config", without)
    assert said(tmp_path, Kind.DOCKER)["memory bytes"].said.startswith("4096 MiB, watched")


def test_without_root_a_disk_lies_in_memory_and_the_limits_still_hold(sandboxes, tmp_path, monkeypatch):
    sandboxes("docker")
    monkeypatch.setattr("runner.sandbox.disk.available", lambda: False)
    found = said(tmp_path, Kind.DOCKER)
    assert found["disk bytes"].said == "6144 MiB, enforced"
    assert found["memory bytes"].said.startswith("4096 MiB, watched")


def test_without_user_namespaces_it_says_so_and_what_to_do(sandboxes, tmp_path):
    sandboxes("bubblewrap")
    inside = [str(bwrap()), "--dev-bind", "/", "/", "--unshare-user", "--disable-userns", "--"]
    command = [*inside, sys.executable, "-m", "argusic", "--root", str(tmp_path), "doctor", "--sandbox", "bubblewrap"]
    done = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1, done.stdout
    assert done.stdout.startswith("NO   sandbox: a machine could not be started")
    assert "user namespaces. Allow it" in done.stdout


def test_an_engine_that_was_asked_for_and_does_not_answer_is_a_no(tmp_path):
    env = {**os.environ, "DOCKER_HOST": f"unix://{tmp_path}/none"}
    command = [sys.executable, "-m", "argusic", "--root", str(tmp_path), "doctor", "--sandbox", "docker"]
    done = subprocess.run(command, cwd=CHECKOUT, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "NO   sandbox: no container engine can be reached: no engine listens there" in done.stdout
