"""argusic reproduce: the same attempt once more, kept beside it, compared, and counted nowhere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from archive import places, pools, records, reproductions
from archive.errors import ArgusicError, DataError
from archive.record import Record
from audit.append_only import FROZEN
from audit.complete import complete
from runner.cycle import only_one, run_cycle
from runner.recover import recover
from runner.reproduce import reproduce
from runner.sandbox.choose import Chosen
from runner.spool import Begun, claimed
from runner.watch import Halt
from scoring.comparison import compared
from tests.runner.scripted import bench, report

WORKS = "echo 42 > result.txt\n" + report()
pytestmark = pytest.mark.sandbox


@pytest.fixture
def measured(tmp_path: Path, sandbox, monkeypatch):
    """A cycle that is measured to its end, and one of its records."""
    made = bench(tmp_path, sandbox, monkeypatch)
    made.agent(WORKS)
    run_cycle(made.condition, 2, Halt(), lambda _: None)
    return made, next(records.each(tmp_path, made.cycle))


def again(made, record: Record, script: str = WORKS, halt: Halt | None = None) -> reproductions.Reproduction:
    made.agent(script)
    return reproduce(made.root, record, Chosen(made.condition.sandbox, ""), None, halt or Halt())


def everything(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in (root / "results").rglob("*") if path.is_file()}


def test_the_same_attempt_has_a_record_of_its_own_and_changes_no_other(measured):
    made, record = measured
    before = everything(made.root)
    first, second = again(made, record), again(made, record)
    assert [one.number for one in reproductions.of(made.root, record.run)] == [1, 2]
    assert {first.of, second.of} == {record.run}
    assert len({record.run, first.record.run, second.record.run}) == 3
    now = first.record
    assert (now.purpose, now.subject, now.agent, now.edition) == ("rerun", record.subject, record.agent, record.edition)
    assert (now.budget_minutes, now.agent_digest) == (record.budget_minutes, record.agent_digest)
    after = everything(made.root)
    assert {name: after[name] for name in before} == before
    assert len(after) == len(before) + 2
    assert complete(made.root, made.cycle) == []
    assert records.find(made.root, now.run[:8]) == now
    assert made.text(now, "terminal") == made.text(record, "terminal")
    assert not list(places.spool(made.root).glob("*/"))


def test_the_same_result_is_said_to_be_one(measured):
    made, record = measured
    found = compared(record, again(made, record).record, pools.editions(made.root))
    assert (found.agrees, found.apart) == (True, None)


def test_where_two_attempts_went_apart_is_named(measured):
    made, record = measured
    script = report(launched=False, test_depth="tier3_none", verified_how="not verified")
    found = compared(record, again(made, record, script).record, pools.editions(made.root))
    assert (found.agrees, found.apart) == (False, "launched")
    facts = {fact.name: (fact.before, fact.now) for fact in found.facts if not fact.same}
    assert facts["launched"] == ("yes", "no")
    assert facts["outcome"] == ("pass_full", "fail")
    assert facts["score"] == ("100", "50")


def test_another_agent_than_it_was_is_refused(measured):
    made, record = measured
    changed = record.model_copy(update={"agent_digest": "sha256:" + "1" * 64})
    with pytest.raises(DataError, match=r"agent_digest: pools/agents/agent-a.toml is not what it was then"):
        again(made, changed)
    assert reproductions.of(made.root, record.run) == []


def test_a_pool_that_changed_is_refused(measured):
    made, record = measured
    path = made.root / "pools/cycles" / made.cycle / "public.toml"
    path.write_text(path.read_text() + "\n# another word\n")
    with pytest.raises(ArgusicError, match="is not what the plan pinned"):
        again(made, record)


def test_one_that_was_made_again_is_not_made_again(measured):
    made, record = measured
    once = again(made, record).record
    with pytest.raises(ArgusicError, match="is itself one that was made again"):
        again(made, once)


def test_who_stops_it_keeps_nothing_of_it(measured):
    from archive.reasons import Reason

    made, record = measured
    halt = Halt()
    halt.now(Reason.INFRA_CANCELLED, "a person stopped it")
    before = everything(made.root)
    with pytest.raises(ArgusicError, match="nothing of the reproduction is kept"):
        again(made, record, halt=halt)
    assert everything(made.root) == before
    assert not list(places.spool(made.root).glob("*/"))


def test_one_that_was_killed_is_gone_at_the_next_start(measured):
    made, record = measured
    begun = Begun(schema_version=1, cycle=made.cycle, job="ab" * 12, run="cd" * 16, started_at=1, again=record.run)
    with claimed(made.root, begun):
        pass
    assert recover(made.condition) == [f"an attempt to reproduce run {record.run[:8]} was cut off, and is gone"]
    assert not list(places.spool(made.root).glob("*/"))


def test_two_at_once_are_told_to_wait_for_each_other(measured):
    made, record = measured
    with only_one(made.root, made.cycle), pytest.raises(ArgusicError, match="is being run by another process"):
        again(made, record)


def test_what_a_killed_one_left_is_no_hindrance(measured, monkeypatch):
    made, record = measured

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(reproductions, "save", killed)
        with pytest.raises(KeyboardInterrupt):
            again(made, record)
    assert len(list(places.spool(made.root).glob("*/"))) == 1
    once = again(made, record)
    assert (once.number, once.record.outcome) == (1, "pass_full")


def test_a_reproduction_is_never_changed(measured):
    made, record = measured
    once = again(made, record)
    with pytest.raises(DataError, match="never changed"):
        reproductions.save(made.root, once)
    assert "results/reproductions/" in FROZEN


def test_a_harness_of_another_day_may_do_it_and_that_is_shown(measured, monkeypatch):
    made, record = measured
    older = record.environment.harness.model_copy(update={"digest": "sha256:" + "2" * 64})
    environment = record.environment.model_copy(update={"harness": older})
    found = compared(
        record.model_copy(update={"environment": environment}), again(made, record).record, pools.editions(made.root)
    )
    assert found.agrees
    assert found.apart == "harness"


DRIVER = """
import sys
from runner import attempt
from tests.runner.scripted import LocalSource, ShellAgent
attempt.source = lambda _: LocalSource()
script = sys.argv.pop(1)
attempt.adapter = lambda _: ShellAgent(script)
import runner.commands
runner.commands.startable = lambda _: None
from argusic import main
sys.exit(main())
"""


def test_the_command_shows_both_and_exits_by_whether_they_agree(measured):
    made, record = measured

    def command(script: str, *words: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-c", DRIVER, script, "--root", str(made.root), "reproduce", record.run[:8], *words]
        return subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)

    same = command(WORKS)
    assert (same.returncode, same.stderr) == (0, "")
    assert "the same result; nowhere apart; kept as run" in same.stdout
    other = command(report(installed=False, launched=False), "--json")
    said = json.loads(other.stdout)
    assert (other.returncode, said["agrees"], said["apart"], said["number"]) == (1, False, "installed", 2)
    assert said["of"] == record.run
    assert records.find(made.root, said["run"]).purpose == "rerun"
