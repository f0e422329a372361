"""`argusic keys sweep` deletes every key of ours that no running attempt owns, `argusic keys stop` all of them."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import argusic
from archive import places
from archive.errors import ArgusicError, Unfinished
from runner.condition import runner_name
from runner.keys import ADDRESS_VARIABLES, Account, BrokerError, key_name, paging
from runner.keys import sweep as sweep_module
from runner.keys.fields import moment_of
from runner.keys.kept import KEY, Kept
from runner.keys.lease import close_left
from runner.keys.sweep import leftovers, sweep
from runner.spool import recalled, under_way
from tests.keys.conftest import RUN, RUNNER, Side
from tests.keys.fakes import Fake, FakeLiteLLM, Sent

CHECKOUT = Path(argusic.__file__).parent
OTHER = "runner-99999999"
PAST, JUST, FUTURE = (moment_of(time.time() + seconds) for seconds in (-3700, -60, 3600))


def run_id(number: int) -> str:
    return f"{number:032x}"


def ends(fake: Fake, moment: str) -> dict[str, str]:
    return {"expires" if isinstance(fake, FakeLiteLLM) else "expires_at": moment}


def fill(fake: Fake, ours: int, others: int) -> None:
    """Keys of ours among those of other people."""
    for number in range(max(ours, others)):
        if number < ours:
            fake.new(key_name(RUNNER, run_id(number)), **ends(fake, FUTURE))
        if number < others:
            fake.new(f"somebody-{number}")


def test_two_hundred_and_fifty_keys_are_all_deleted_although_pages_shift(at: Side) -> None:
    fill(at.fake, ours=250, others=130)
    swept = list(sweep(at.broker, RUNNER, set, sleep=at.slept.append))
    assert len(swept) == len({one.account.id for one in swept}) == 250
    assert all(one.gone for one in swept)
    assert len(at.fake.keys) == 130
    assert all(name.startswith("somebody-") for name in at.fake.names())


def test_keys_that_others_delete_while_the_list_is_read_hide_none_of_ours(at: Side) -> None:
    fill(at.fake, ours=120, others=180)
    real = at.fake.list

    def shifting(query: dict[str, str]) -> Sent:
        shown = real(query)
        strangers = [id for id, key in at.fake.keys.items() if at.fake.name_of(key).startswith("somebody-")]
        for id in strangers[:40]:
            del at.fake.keys[id]
        return shown

    at.fake.list = shifting
    at.fake.knows_search = False
    assert {account.name for account in at.broker.ours()} == {key_name(RUNNER, run_id(n)) for n in range(120)}


def test_a_proxy_that_knows_no_search_is_read_whole(litellm: Side) -> None:
    litellm.fake.knows_search = False
    fill(litellm.fake, ours=3, others=230)
    assert len(list(litellm.broker.ours())) == 3


def test_only_keys_that_nobody_can_be_using_are_left_over(at: Side) -> None:
    new = at.fake.new
    left = {
        new(key_name(RUNNER, run_id(1)), **ends(at.fake, FUTURE)),
        new(key_name(RUNNER, run_id(2))),
        new(key_name(OTHER, run_id(3)), **ends(at.fake, PAST)),
        new("argusic-by-hand", **ends(at.fake, PAST)),
    }
    kept = {
        new(key_name(RUNNER, RUN), **ends(at.fake, FUTURE)),
        new(key_name(RUNNER, RUN), **ends(at.fake, PAST)),
        new(key_name(RUNNER, RUN[:24]), **ends(at.fake, FUTURE)),
        new(key_name(OTHER, run_id(4)), **ends(at.fake, JUST)),
        new(key_name(OTHER, run_id(1)), **ends(at.fake, FUTURE)),
        new("argusic-by-hand-2"),
        new("somebody", **ends(at.fake, PAST)),
        new("not-argusic-runner-1a2b3c4d-" + run_id(1), **ends(at.fake, PAST)),
    }
    assert {account.id for account in leftovers(at.broker, RUNNER, {RUN})} == left
    assert {one.account.id for one in sweep(at.broker, RUNNER, lambda: {RUN}, sleep=at.slept.append)} == left
    assert set(at.fake.keys) == kept


def test_an_attempt_that_begins_while_the_list_is_read_keeps_its_key(at: Side) -> None:
    running: set[str] = set()
    real = at.fake.list

    def begins(query: dict[str, str]) -> Sent:
        if not running:
            running.add(RUN)
            at.fake.new(key_name(RUNNER, RUN), **ends(at.fake, FUTURE))
        sent: Sent = real(query)
        return sent

    at.fake.list = begins
    at.fake.new(key_name(RUNNER, run_id(1)))
    swept = list(sweep(at.broker, RUNNER, lambda: set(running), sleep=at.slept.append))
    assert [one.account.name for one in swept] == [key_name(RUNNER, run_id(1))]
    assert at.fake.names() == [key_name(RUNNER, RUN)]


def test_a_list_without_an_end_is_an_error(at: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "MOST_PAGES", 5)

    def more(_: dict[str, str]) -> Sent:
        id = at.fake.new("argusic-more")
        entry = [{"hash": id, "name": "x", "token": id, "key_alias": "x"}]
        return Sent(200, {"data": entry, "keys": entry})

    at.fake.list = more
    with pytest.raises(BrokerError, match="no end"):
        list(at.broker.ours())


def test_a_list_that_always_shows_its_first_page_is_read_once(at: Side) -> None:
    fill(at.fake, ours=150, others=0)
    real = at.fake.list
    at.fake.list = lambda _: real({"size": "100"})
    assert len(list(at.broker.ours())) == 100


def test_a_key_that_cannot_be_deleted_is_told_and_the_others_are_deleted(at: Side) -> None:
    fill(at.fake, ours=3, others=0)
    at.fake.instead["delete"] = [Sent(500, b"")] * 3
    swept = list(sweep(at.broker, RUNNER, set, sleep=at.slept.append))
    assert [one.gone for one in swept] == [False, True, True]
    assert at.slept == [1.0, 3.0]


def test_runs_under_way_are_those_whose_folder_is_locked(tmp_path: Path) -> None:
    assert under_way(tmp_path) == set()
    spool = places.spool(tmp_path)
    for name in ("a", "b", "c", "unreadable"):
        (spool / name).mkdir()
    for name in ("a", "b"):
        (spool / name / "lock").touch()
    handle = os.open(spool / "a/lock", os.O_RDWR)
    fcntl.flock(handle, fcntl.LOCK_EX)
    assert under_way(tmp_path) == {"a"}
    os.close(handle)
    assert under_way(tmp_path) == set()
    assert not (spool / "c/lock").exists()


# The commands.


def command(at: Side, root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "argusic.py", "--root", str(root), "keys", *words],
        cwd=CHECKOUT,
        env={"PATH": os.environ["PATH"], **at.environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def inside(root: Path, environ: dict[str, str], *words: str) -> tuple[str, BaseException | None]:
    """A command in this process: what it prints, and the error that it ends with."""
    env: dict[str, str | None] = dict.fromkeys([name for name in os.environ if name.startswith("ARGUSIC_")])
    result = CliRunner().invoke(argusic.app, ["--root", str(root), "keys", *words], env=env | environ)
    return result.stdout, None if isinstance(result.exception, SystemExit) else result.exception


@pytest.mark.parametrize("moment", ["made", "open"])
def test_a_runner_that_is_killed_with_a_key_leaves_one_that_the_sweep_deletes(
    at: Side, tmp_path: Path, moment: str
) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "tests.keys.one_attempt", str(tmp_path), RUN, at.fake.name],
        cwd=CHECKOUT,
        env={"PATH": os.environ["PATH"], **at.environ},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    with child:
        assert child.stdout.readline() == "ready\n"
        if moment == "made":
            at.fake.kill(child.pid)
        child.stdin.write("go\n")
        child.stdin.flush()
        if moment == "open":
            assert child.stdout.readline() == "open\n"
            assert under_way(tmp_path) == {RUN}
            assert inside(tmp_path, at.environ, "sweep") == ("", None)
            assert len(at.fake.keys) == 1, "the key of a running attempt is not swept"
            child.send_signal(signal.SIGKILL)
        assert child.wait(20) == -signal.SIGKILL
    name = key_name(runner_name(tmp_path), RUN)
    assert at.fake.names() == [name]
    at.fake.spends = []
    for key in at.fake.keys.values():
        key["usage"] = key["spend"] = 0.7

    folder = places.spool(tmp_path) / RUN
    assert Kept.model_validate_json((folder / KEY).read_text()).id == (
        None if moment == "made" else next(iter(at.fake.keys))
    )
    assert inside(tmp_path, at.environ, "sweep", "--dry-run") == (f"{at.fake.name}  {name}  would be deleted\n", None)
    assert at.fake.names() == [name]
    swept = command(at, tmp_path, "sweep")
    assert (swept.returncode, swept.stdout) == (0, f"{at.fake.name}  {name}  deleted\n")
    assert swept.stderr == "1 key deleted, none is left\n"
    assert at.fake.keys == {}

    known = recalled(folder)
    key = close_left(folder, at.environ, known[0] if known else None, at.slept.append)
    assert key is not None
    assert (key.spent_micro_usd, key.deletion_confirmed) == (700_000, True)


def test_a_sweep_of_nothing_is_fine(at: Side, tmp_path: Path) -> None:
    assert inside(tmp_path, at.environ, "sweep") == ("", None)


def test_a_sweep_says_json(at: Side, tmp_path: Path) -> None:
    id = at.fake.new(key_name(runner_name(tmp_path), run_id(1)), **ends(at.fake, FUTURE))
    said, error = inside(tmp_path, at.environ, "sweep", "--json")
    assert error is None
    assert json.loads(said) == {
        "broker": at.fake.name,
        "result": "deleted",
        **Account(id, key_name(runner_name(tmp_path), run_id(1)), None, 0, FUTURE)._asdict(),
    }


def test_a_sweep_that_leaves_a_key_is_unfinished(at: Side, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_module, "PAUSES", ())
    at.fake.new(key_name(runner_name(tmp_path), run_id(1)))
    at.fake.deletes_for_real = False
    said, error = inside(tmp_path, at.environ, "sweep")
    assert said.endswith("  NOT DELETED\n")
    assert isinstance(error, Unfinished)
    assert "1 of 1 keys could not be deleted for certain" in str(error)


def test_a_broker_that_cannot_be_reached_keeps_no_key_of_the_other_alive(
    openrouter: Side, litellm: Side, tmp_path: Path
) -> None:
    litellm.fake.new(key_name(runner_name(tmp_path), run_id(1)))
    dead = openrouter.environ | {ADDRESS_VARIABLES["openrouter"]: "http://127.0.0.1:1"}
    said, error = inside(tmp_path, dead | litellm.environ, "sweep")
    assert said.startswith("litellm  ")
    assert litellm.fake.keys == {}
    assert isinstance(error, Unfinished)
    assert "openrouter: list keys: no answer" in str(error)


@pytest.mark.parametrize("words", [["sweep"], ["stop", "--yes"]])
def test_without_a_broker_the_variables_are_named(tmp_path: Path, words: list[str]) -> None:
    _, error = inside(tmp_path, {}, *words)
    assert isinstance(error, ArgusicError)
    assert "ARGUSIC_OPENROUTER_KEY" in str(error)
    assert "ARGUSIC_LITELLM_KEY" in str(error)


def test_an_emergency_stop_deletes_the_keys_of_every_runner_and_nobody_elses(at: Side, tmp_path: Path) -> None:
    fill(at.fake, ours=120, others=5)
    at.fake.new(key_name(OTHER, run_id(1)), **ends(at.fake, FUTURE))
    at.fake.new("argusic-by-hand")
    said, error = inside(tmp_path, at.environ, "stop", "--yes")
    assert error is None
    assert said.count("  deleted\n") == 122
    assert at.fake.names() == [f"somebody-{number}" for number in reversed(range(5))]


def test_an_emergency_stop_asks_first(at: Side, tmp_path: Path) -> None:
    fill(at.fake, ours=2, others=0)
    said, error = inside(tmp_path, at.environ, "stop")
    assert said == ""
    assert isinstance(error, ArgusicError)
    assert "say --yes" in str(error)
    assert len(at.fake.keys) == 2
