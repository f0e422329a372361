"""Evidence of an attempt with a key of its own is served only when the key is gone for certain."""

from __future__ import annotations

import time

import pytest

from archive import places, records, releases
from archive.errors import DataError, Unfinished
from archive.record import Key
from bot.close import close
from bot.measured import measured
from runner import attempt as attempt_module
from runner.attempt import Attempt
from runner.attempt_key import AttemptKey
from runner.release import Waited, release
from runner.watch import Halt
from tests.runner.scripted import bench, report

pytestmark = pytest.mark.sandbox
SECRET = "sk-test-4f9c2b7e1d-waiting"
EXPIRES = "2030-01-01T00:00:00Z"
BEFORE, AFTER = 1_893_455_999.0, 1_893_456_001.0


@pytest.fixture
def one(tmp_path, sandbox, monkeypatch):
    return bench(tmp_path, sandbox, monkeypatch)


def attempt(one, *, confirmed=False):
    one.agent(f"echo key {SECRET}\n" + report())
    key = Key(
        kind="own",
        broker="openrouter",
        id="hash-of-a-key",
        cap_micro_usd=3_000_000,
        spent_micro_usd=None,
        expires_at=EXPIRES,
        deletion_confirmed=confirmed,
    )
    one.patch.setattr(attempt_module, "attempt_key", lambda *_: AttemptKey(key))
    record = Attempt(one.condition, one.job, Halt(), (SECRET,)).make()
    records.save(one.root, record)
    return record


def stored(one, record):
    return [item.role for item in record.evidence if places.store(one.root).path(item.digest)]


def test_nothing_is_served_while_the_key_may_be_alive(one):
    record = attempt(one)
    assert record.validity == "valid"
    assert stored(one, record) == []
    assert releases.waits(one.root, record)
    assert list(release(one.root, "first", lambda _: False, BEFORE)) == [Waited(record.run, None)]
    assert stored(one, record) == []


@pytest.mark.parametrize(("gone", "now", "because"), [(True, BEFORE, "deletion-confirmed"), (False, AFTER, "expired")])
def test_the_end_of_the_key_lets_all_of_it_out_once(one, gone, now, because):
    record = attempt(one)
    assert list(release(one.root, "first", lambda _: gone, now)) == [Waited(record.run, because)]
    assert stored(one, record) == [item.role for item in record.evidence]
    assert places.store(one.root).path(record.certificate)
    assert all(places.store(one.root).path(digest) for item in record.evidence for digest in item.manifests)
    assert releases.released(one.root, record).because == because
    assert not list(places.held(one.root).iterdir())
    assert list(release(one.root, "first", lambda _: gone, now)) == []
    assert one.text(record, "terminal") == f"key {'*' * len(SECRET)}\r\n"


def test_a_key_whose_deletion_was_confirmed_in_time_keeps_nobody_waiting(one):
    record = attempt(one, confirmed=True)
    assert stored(one, record) == [item.role for item in record.evidence]
    assert not releases.waits(one.root, record)


def test_pages_say_that_it_waits_and_the_cycle_cannot_close(one):
    record = attempt(one)
    runs = measured(one.root)["first"]
    assert [run.waits for run in runs] == [True]
    with pytest.raises(Unfinished, match="due attempt"):
        close(one.root, "first", runs)
    list(release(one.root, "first", lambda _: True, time.time()))
    assert [run.waits for run in measured(one.root)["first"]] == [False]
    assert releases.released(one.root, record).run == record.run


def test_evidence_that_lies_on_another_runner_is_asked_for_by_name(one):
    record = attempt(one)
    (places.held(one.root) / record.run).rename(one.root / "elsewhere")
    with pytest.raises(DataError, match=f"of run {record.run} is not here; it lies on the runner"):
        list(release(one.root, "first", lambda _: True, BEFORE))
    assert releases.waits(one.root, record)
