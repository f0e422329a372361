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
from runner.gpu import gpu_present
from tests.runner.drive import SECRET
from tests.runner.scripted import report
from tests.support.make import declare

pytestmark = pytest.mark.sandbox
CHECKOUT = Path(__file__).parents[2]
QUICK = "echo 42 > result.txt\n" + report()
SECONDS = 100_000 + os.getpid()
"""Unlike that of any test that runs beside this one."""
SLOW = f"echo begun {SECRET}; sleep {SECONDS}"


STARTED: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def nothing_outlives_a_test():
    yield
    while STARTED:
        process = STARTED.pop()
        process.kill()
        process.wait()


@pytest.fixture
def root(tmp_path, sandbox):
    declare(tmp_path, "pkg:pypi/six@1.17.0", agents=["agent-a"], demonstration=True)
    write_plan(tmp_path, "first")
    return tmp_path


def start(root: Path, script: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.runner.drive", str(root), script],
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        process_group=0,
    )
    STARTED.append(process)
    return process


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


def recorded(root: Path) -> list[Path]:
    """Terminals of the spool that hold the secret value."""
    return [path for path in places.spool(root).rglob("terminal.raw") if SECRET.encode() in path.read_bytes()]


def sleepers() -> int:
    count = 0
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            count += place.read_bytes() == f"sleep\0{SECONDS}\0".encode()
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
        assert places.store(root).read(record.file("terminal").digest) == b"begun " + b"*" * len(SECRET) + b"\r\n"


def test_after_kill_9_nothing_is_leaked_nothing_is_lost_and_the_cycle_finishes(root):
    process = start(root, SLOW)
    wait_until_recording(root, 2)
    while sleepers() < 2 or len(recorded(root)) < 2:
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    wait_until_nothing_is_left()
    assert made_or_none(root) == 0
    # What was killed left the value where only this user can read it, until the next start masks it.
    assert len(recorded(root)) == 2
    assert {path.parent.stat().st_mode & 0o077 for path in recorded(root)} == {0}

    status, _, err = run(root, QUICK)
    assert (status, err) == (0, "")
    found = made(root)
    reasons = sorted(str(record.reason or record.outcome) for record in found.values())
    assert reasons == ["infra:runner-lost"] * 2 + ["pass_full"] * 3
    assert not list(places.spool(root).glob("*/"))
    assert [path for path in root.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()] == []
    for record in found.values():
        for item in record.evidence:
            assert digest(places.store(root).read(item.digest)) == item.digest


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


def test_a_cycle_does_not_begin_before_its_first_day(tmp_path, sandbox):
    declare(tmp_path, "pkg:pypi/six@1.17.0", agents=["agent-a"], starts="2099-01-01")
    write_plan(tmp_path, "first")
    status, lines, err = run(tmp_path, QUICK)
    assert (status, lines) == (2, [])
    assert "starts: no attempt before 2099-01-01" in err


def test_trouble_of_ours_before_the_agent_begins_does_not_use_the_cycle_up(root):
    status, lines, err = run(root, "__fetch fails__")
    assert status == 5
    assert 1 <= len(lines) <= 2
    assert {line["reason"] for line in lines} == {"harness:error"}
    assert "the same command goes on" in err
    assert run(root, QUICK)[0] == 0


def test_a_runner_that_does_not_hold_what_a_cycle_that_counts_needs_is_refused_before_any_attempt(tmp_path, sandbox):
    declare(tmp_path, "pkg:pypi/six@1.17.0", agents=["agent-a"])
    write_plan(tmp_path, "first")
    status, lines, err = run(tmp_path, QUICK)
    assert (status, lines) == (2, [])
    assert "does not hold: cpus, inbound connections refused, isolation of attempts" in err


def test_a_finished_attempt_whose_record_was_not_saved_yet_is_saved_by_the_next_start(root, monkeypatch):
    from runner import attempt as attempt_module
    from runner.attempt import Attempt
    from runner.condition import condition
    from runner.sandbox.bubblewrap import Bubblewrap
    from runner.watch import Halt
    from tests.runner.scripted import LocalSource, ShellAgent

    monkeypatch.setattr(attempt_module, "source", lambda _: LocalSource())
    monkeypatch.setattr(attempt_module, "adapter", lambda _: ShellAgent(QUICK))
    ready = condition(root, "first", Bubblewrap(), None)
    record = Attempt(ready, ready.plan.jobs[0], Halt()).make()
    assert not records.paths(root)
    assert run(root, QUICK)[0] == 0
    found = made(root)
    assert found[record.run] == record
    assert len(found) == 3


@pytest.mark.parametrize("text", ["", "{}", "no json", '{"schema_version": 2}'])
def test_a_spool_that_cannot_be_read_is_set_aside_and_blocks_nothing(root, text):
    folder = places.spool(root) / ("a" * 32)
    folder.mkdir(parents=True)
    (folder / "attempt.json").write_text(text)
    status, lines, err = run(root, QUICK)
    assert (status, len(lines)) == (0, 3)
    assert "set aside" in err
    assert list(places.spool(root).glob("unreadable/*/attempt.json"))


def test_an_attempt_that_cannot_be_saved_does_not_take_its_neighbours_with_it(root, monkeypatch):
    status, lines, err = run(root, "__save fails__\n" + QUICK)
    assert status == 5
    assert len(lines) == 1
    assert "the next start closes the attempt" in err
    assert run(root, QUICK)[0] == 0
    assert sum(record.outcome is not None for record in made(root).values()) == 3


@pytest.mark.parametrize("path", ["agents/agent-a.toml", "editions/1.5.toml", "cycles/first/public.toml"])
def test_what_a_plan_pins_is_checked_before_an_attempt_is_made(root, path):
    file = root / "pools" / path
    file.write_bytes(file.read_bytes() + b"\n")
    status, lines, err = run(root, QUICK)
    assert (status, lines) == (2, [])
    assert f"{path}: is not what the plan pinned" in err


def test_a_cycle_with_a_gpu_tier_is_refused_before_any_attempt_on_a_runner_without_one(tmp_path, sandbox):
    if gpu_present():
        pytest.skip("this computer has a GPU")
    subject = {"id": "pkg:pypi/six@1.17.0", "tier": "gpu"}
    declare(tmp_path, subject, agents=["agent-a"], demonstration=True)
    write_plan(tmp_path, "first")
    status, lines, err = run(tmp_path, QUICK)
    assert (status, lines) == (2, [])
    assert "attempts of the tier gpu, and this runner has no GPU" in err
