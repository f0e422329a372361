"""Named after harnesses whose runs were lost, leaked or called a success: kill -9, Ctrl-C, two at once, again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from archive import places, records
from archive.canonical import canonical, digest
from archive.ledger import Ledger
from archive.reasons import Reason
from bot.plan import write_plan
from tests.runner.scripted import report
from tests.support.make import declare

pytestmark = pytest.mark.sandbox
CHECKOUT = Path(__file__).parents[2]
QUICK = "echo 42 > result.txt\n" + report()
SLOW = "echo begun; sleep 2941"


@pytest.fixture
def root(tmp_path, sandbox):
    declare(tmp_path, "pkg:pypi/six@1.17.0", agents=["agent-a"])
    write_plan(tmp_path, "first")
    return tmp_path


def start(root: Path, script: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.runner.drive", str(root), script],
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )


def run(root: Path, script: str) -> tuple[int, list[dict], str]:
    process = start(root, script)
    out, err = process.communicate(timeout=120)
    return process.returncode, [json.loads(line) for line in out.splitlines()], err


def wait_until_recording(root: Path, attempts: int) -> None:
    until = time.monotonic() + 60
    while len(begun(root)) < attempts:
        assert time.monotonic() < until, "attempts never began"
        time.sleep(0.05)


def begun(root: Path) -> list[Path]:
    return [path for path in places.spool(root).glob("*/log.jsonl") if '"step":"agent"' in path.read_text()]


def sleepers() -> int:
    count = 0
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            count += place.read_bytes() == b"sleep\x002941\x00"
        except OSError:
            continue
    return count


def wait_until_nothing_is_left() -> None:
    until = time.monotonic() + 20
    while sleepers():
        assert time.monotonic() < until, "processes were left behind"
        time.sleep(0.05)


def made(root: Path) -> dict[str, object]:
    found = {record.run: record for record in records.each(root, "first")}
    entries = Ledger.read(root, "first").entries
    assert entries == {run: digest(canonical(record)) for run, record in found.items()}
    return found


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_machines_keeps_what_was_recorded_and_is_no_success(root, how):
    process = start(root, SLOW)
    wait_until_recording(root, 2)
    while sleepers() < 2:
        time.sleep(0.05)
    os.kill(process.pid, how)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopped (infra:cancelled)" in err
    wait_until_nothing_is_left()
    cancelled = made(root)
    assert [record.reason for record in cancelled.values()] == [Reason.INFRA_CANCELLED] * 2
    for record in cancelled.values():
        assert record.outcome is None
        assert places.store(root).path(record.file("terminal").digest).read_bytes() == b"begun\r\n"


def test_after_kill_9_nothing_is_leaked_nothing_is_lost_and_the_cycle_finishes(root):
    process = start(root, SLOW)
    wait_until_recording(root, 2)
    while sleepers() < 2:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    wait_until_nothing_is_left()
    assert made_or_none(root) == 0

    status, _, err = run(root, QUICK)
    assert (status, err) == (0, "")
    found = made(root)
    reasons = sorted(str(record.reason or record.outcome) for record in found.values())
    assert reasons == ["infra:runner-lost"] * 2 + ["pass_full"] * 3
    assert not list(places.spool(root).glob("*/"))
    for record in found.values():
        for item in record.evidence:
            assert digest(places.store(root).path(item.digest).read_bytes()) == item.digest


def made_or_none(root: Path) -> int:
    return len(records.paths(root, "first"))


@pytest.mark.parametrize("seconds", [0.3, 0.6, 0.9, 1.2])
def test_a_kill_at_any_moment_leaves_a_cycle_that_finishes_with_every_attempt_accounted_for(root, seconds):
    process = start(root, QUICK)
    time.sleep(seconds)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = {path: path.read_bytes() for path in records.paths(root, "first")}
    status, _, err = run(root, QUICK)
    assert (status, err) == (0, "")
    found = made(root)
    assert sum(record.outcome is not None for record in found.values()) == 3
    assert all(path.read_bytes() == data for path, data in before.items())


def test_a_second_run_makes_nothing_again(root):
    assert run(root, QUICK)[0] == 0
    before = {path: path.read_bytes() for path in (root / "results").rglob("*") if path.is_file()}
    status, lines, _ = run(root, QUICK)
    assert (status, lines) == (0, [])
    assert {path: path.read_bytes() for path in (root / "results").rglob("*") if path.is_file()} == before


def test_a_second_process_on_one_cycle_is_refused(root):
    process = start(root, SLOW)
    try:
        wait_until_recording(root, 1)
        status, _, err = run(root, QUICK)
        assert status == 2
        assert "being run by another process" in err
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


def test_a_record_saved_just_before_a_crash_is_listed_by_the_next_start(root):
    assert run(root, QUICK)[0] == 0
    path = root / "results/ledgers/first.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]) + lines[-1][:20])
    status, _, err = run(root, QUICK)
    assert (status, err) == (0, "")
    assert len(made(root)) == 3


def test_an_invalid_attempt_is_run_again_at_most_as_often_as_the_policy_says(root):
    status, lines, _ = run(root, report(errors_encountered=0, errors_fixed=1))
    assert status == 0
    assert len(lines) == 6
    assert {line["reason"] for line in lines} == {"agent:report-contradictory"}
    assert sorted(line["attempt"] for line in lines) == [1, 2, 3, 4, 5, 6]


def test_another_harness_than_the_planned_one_is_refused_before_any_attempt(root):
    path = root / "pools/cycles/first/plan.json"
    plan = json.loads(path.read_bytes())
    plan["pins"]["harness"]["digest"] = "sha256:" + "0" * 64
    path.write_bytes(canonical(plan))
    status, lines, err = run(root, QUICK)
    assert (status, lines) == (2, [])
    assert "a harness changes only between cycles" in err
    assert not (root / "results").exists()
