"""The demonstration as a newcomer runs it: killed, gone on with, finished, and then tampered with."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
ARGUSIC = str(Path(sys.executable).with_name("argusic"))
pytestmark = [pytest.mark.soak, pytest.mark.sandbox, pytest.mark.network]


def argusic(*words: str, timeout: float = 120) -> tuple[int, str]:
    done = subprocess.run([ARGUSIC, *words], capture_output=True, text=True, timeout=timeout, check=False)
    return done.returncode, done.stdout + done.stderr


def wait_for_records(root: Path, count: int, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 300
    while len(list(root.glob("results/records/demo/*/*.json"))) < count:
        if process.poll() is not None:
            _, said = process.communicate()
            if "infra:network" in said:
                pytest.skip(f"no package registry can be reached: {said.strip()}")
            pytest.fail(f"the demonstration ended early: {said}")
        assert time.monotonic() < until
        time.sleep(0.1)


def machines() -> list[str]:
    """Machines on this computer."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes()
        except OSError:
            continue
        if b"from first.init import main" in words:
            found.append(place.parent.name)
    return found


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    """A finished demonstration that was killed twice on the way; its scratch checkout."""
    folder = tmp_path_factory.mktemp("demo")
    folder.chmod(0o755)
    root = folder / "1/checkout"
    command = [ARGUSIC, "demo", "--folder", str(folder)]
    for count, how, status in ((3, signal.SIGKILL, -9), (8, signal.SIGINT, 130)):
        before = machines()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        wait_for_records(root, count, process)
        kept = {path: path.read_bytes() for path in root.glob("results/records/demo/*/*.json")}
        os.kill(process.pid, how)
        assert process.wait(60) == status
        until = time.monotonic() + 20
        while set(machines()) - set(before):
            assert time.monotonic() < until, "a machine was left behind"
            time.sleep(0.1)
        assert all(path.read_bytes() == data for path, data in kept.items())
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "going on with" in done.stdout
    assert [path.name for path in folder.iterdir()] == ["1"]
    return root


def records(root: Path) -> list[dict]:
    return [json.loads(path.read_bytes()) for path in sorted(root.glob("results/records/demo/*/*.json"))]


def test_it_finishes_with_different_outcomes_and_every_attempt_accounted_for(demo):
    found = records(demo)
    valid = [record for record in found if record["validity"] == "valid"]
    subjects = {record["subject"] for record in found}
    assert len(valid) == 6 * len(subjects)
    cut = {record["reason"] for record in found if record["validity"] == "invalid"}
    assert {"infra:runner-lost", "infra:cancelled"} <= cut
    readme = [record for record in valid if record["agent"] == "control-readme"]
    assert {record["outcome"] for record in readme} == {"pass_full", "fail"}
    assert any(record["report"]["errors_fixed"] for record in readme if record["report"])
    assert {record["outcome"] for record in valid if record["agent"] == "control-nop"} == {"fail"}


@pytest.mark.parametrize("check", ["complete", "append-only", "rules", "pages"])
def test_each_audit_passes(demo, check):
    words = ["--base", "main"] if check == "append-only" else []
    status, said = argusic("--root", str(demo), "audit", check, *words)
    assert (status, "nothing found" in said) == (0, True), said


def test_every_command_of_the_page_on_checking_does_what_the_page_says(demo):
    page = (CHECKOUT / "docs/checking.md").read_text()
    blocks = [part for number, part in enumerate(page.split("```\n")) if number % 2]
    lines = [line for block in blocks for line in block.splitlines()]
    assert len(lines) > 8
    for line in lines:
        command = line.replace("build/demo/1/checkout", str(demo)).replace(".venv/bin/argusic", ARGUSIC)
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=120, check=False)
        assert (done.returncode, done.stderr) == (0, ""), line
        assert done.stdout.strip(), line


def test_every_run_verifies(demo):
    for record in records(demo):
        status, said = argusic("--root", str(demo), "verify", record["run"])
        assert status == 0, said


def test_every_recording_plays(demo):
    for record in records(demo):
        if any(item["role"] == "recording" for item in record["evidence"]):
            status, said = argusic("--root", str(demo), "play", record["run"], "--speed", "10000", "--idle", "0")
            assert status == 0, said


def test_one_changed_byte_anywhere_is_found_and_its_file_is_named(demo, tmp_path):
    root = tmp_path / "copy"
    shutil.copytree(demo, root, symlinks=True)
    chance = random.Random(20261130)
    kinds = ["results/records/demo/*/*.json", "results/ledgers/*.jsonl", "docs/*.md", ".argusic/evidence/sha256/*/*"]
    for kind in kinds:
        files = [path for path in sorted(root.glob(kind)) if path.stat().st_size]
        assert files, kind
        for path in chance.sample(files, min(12, len(files))):
            data = path.read_bytes()
            place = chance.randrange(len(data))
            path.write_bytes(data[:place] + bytes([data[place] ^ (1 << chance.randrange(8))]) + data[place + 1 :])
            status, said = argusic("--root", str(root), "verify", "demo")
            assert status == 1, f"{path} at byte {place}: {said}"
            assert path.name in said, f"{path} at byte {place} is not named: {said}"
            path.write_bytes(data)
    assert argusic("--root", str(root), "verify", "demo")[0] == 0


@pytest.mark.parametrize("what", ["deleted", "added", "re-rolled"])
def test_a_deleted_an_added_and_a_rerolled_run_are_each_named(demo, tmp_path, what):
    root = tmp_path / "copy"
    shutil.copytree(demo, root, symlinks=True)
    path = sorted(root.glob("results/records/demo/*/*.json"))[5]
    record = json.loads(path.read_bytes())
    name = record["run"]
    if what == "deleted":
        path.unlink()
    elif what == "re-rolled":
        record["times"]["total_ms"] += 1
        path.write_text(json.dumps(record, indent=2, sort_keys=True, ensure_ascii=False) + "\n")
    else:
        name = "f" * 32
        (root / "results/records/demo/ff").mkdir(exist_ok=True)
        (root / f"results/records/demo/ff/{name}.json").write_text(path.read_text().replace(record["run"], name))
    status, said = argusic("--root", str(root), "audit", "complete")
    assert status == 1
    assert name in said
