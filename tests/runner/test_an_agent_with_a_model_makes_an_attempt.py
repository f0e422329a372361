"""An agent with a model goes through a whole attempt: its key, its endpoint, its outputs, its end."""

from __future__ import annotations

import base64
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from archive import places, records
from archive.errors import ArgusicError
from archive.record import Record
from runner import attempt_key as attempt_key_module
from runner.agents import work as work_module
from runner.attempt import Attempt
from runner.cycle import run_cycle
from runner.keys import ADDRESS_VARIABLES, KEY_VARIABLES
from runner.keys.lease import Lease, NoKey
from runner.reach import Watchman
from runner.recover import recover
from runner.sandbox import Limits, Sandbox
from runner.watch import Halt
from tests.keys.fakes import Fake, FakeLiteLLM, FakeOpenRouter, running
from tests.model_server import ModelServer, Script, handler
from tests.model_server.modes import Refusal
from tests.runner.model_agent import declared, make, ready

NOTHING = Script((), "The commands were run.")
CLOSING = NOTHING.closing
SHARED = "-".join(["sk", "shared", "0f1e2d3c4b5a69788796a5b4c3d2e1f0"])
pytestmark = pytest.mark.sandbox


@pytest.fixture(params=["bubblewrap", "docker"])
def machines(request: pytest.FixtureRequest, sandboxes: Callable[[str], Sandbox]) -> Sandbox:
    return sandboxes(request.param)


@pytest.fixture(params=[FakeOpenRouter, FakeLiteLLM], ids=["openrouter", "litellm"])
def broker(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    """A broker that the runner's variables name; nobody sleeps between two questions to it."""
    fake: Fake = request.param()
    real = Lease.open
    monkeypatch.setattr(Lease, "open", lambda *a: real(*a, sleep=lambda _: None))
    with running(fake) as address:
        monkeypatch.setenv(KEY_VARIABLES[fake.name], fake.management)
        monkeypatch.setenv(ADDRESS_VARIABLES[fake.name], address)
        yield fake


def own(server: ModelServer, fake: Fake) -> dict[str, object]:
    return {"endpoint": server.address, "key": "own", "broker": fake.name, "by_runner": True}


def text(root: Path, record: Record, role: str) -> str:
    item = record.file(role)  # type: ignore[arg-type]
    assert item is not None, role
    return places.store(root).read(item.digest).decode(errors="replace")


def everything_below(root: Path) -> bytes:
    """All that stays of an attempt: its spool goes once its record is kept."""
    shutil.rmtree(places.spool(root))
    return b"\n".join(path.read_bytes() for path in root.rglob("*") if path.is_file())


def test_its_outputs_are_kept_apart_and_shown_together(machines, tmp_path, monkeypatch):
    with ModelServer(NOTHING) as server:
        model = {"endpoint": server.address, "key": "none"}
        record = make(tmp_path, machines, monkeypatch, model, "echo to errors >&2; echo and out; env | grep OWN_")
    assert (record.validity, record.reason_detail, record.outcome) == ("valid", None, "pass_full")
    assert text(tmp_path, record, "stderr") == "to errors\n"
    out = text(tmp_path, record, "stdout")
    assert {CLOSING, "and out", "OWN_KEY=the-runner-has-the-key"} <= set(out.splitlines())
    assert {"to errors", "and out"} <= set(text(tmp_path, record, "terminal").split("\r\n"))
    assert text(tmp_path, record, "session") == '{"asked": "# Standard instructi"}\n'
    (asked,) = server.requests
    assert asked.body["messages"][0]["content"].startswith("# Standard instructions")
    assert (record.key.kind, record.usage.complete, record.claims.replay) == ("none", False, "same")


def test_what_stands_in_the_place_of_a_session_file_hinders_nothing(machines, tmp_path, monkeypatch):
    with ModelServer(NOTHING) as server:
        model = {"endpoint": server.address, "key": "none"}
        links = "cd ~; ln -s /etc/passwd own-link.jsonl; ln -s nowhere own-nowhere.jsonl"
        traps = f"{links}; mkfifo own-pipe.jsonl; mkdir own-folder.jsonl; touch own-shut.jsonl; chmod 0 own-shut.jsonl"
        record = make(tmp_path, machines, monkeypatch, model, traps)
    assert (record.validity, record.outcome) == ("valid", "pass_full")
    assert text(tmp_path, record, "session") == '{"asked": "# Standard instructi"}\n'
    assert "left out" in text(tmp_path, record, "log")


def test_its_login_shells_find_the_tools_of_the_instructions(machines, tmp_path, monkeypatch):
    with ModelServer(NOTHING) as server:
        model = {"endpoint": server.address, "key": "none"}
        asked = "for tool in report mcp desktop; do command -v argusic-$tool; done"
        record = make(tmp_path, machines, monkeypatch, model, f"bash -lc '{asked}'; sh -lc '{asked}'")
    found = [f"/argusic/bin/argusic-{tool}" for tool in ("report", "mcp", "desktop")]
    said = text(tmp_path, record, "stdout").splitlines()
    assert [line for line in said if line.startswith("/")] == found + found


def test_an_own_key_is_made_used_and_gone_and_nowhere_to_be_read(machines, broker, tmp_path, monkeypatch):
    with ModelServer(NOTHING, key=lambda key: key in broker.secrets) as server:
        # The agent shows its environment to everybody who looks.
        shell = "env; env | base64 -w0; env > ~/own-env.jsonl; ps aux; tr '\\0' '\\n' < /proc/self/environ >&2"
        record = make(tmp_path, machines, monkeypatch, own(server, broker), shell, spend_cap_micro_usd=9_000_000)
    assert (record.validity, record.reason_detail, record.outcome) == ("valid", None, "pass_full")
    (secret,) = broker.secrets
    assert [asked.key_ok for asked in server.requests] == [True]
    key = record.key
    assert (key.kind, key.broker, key.cap_micro_usd, key.deletion_confirmed) == ("own", broker.name, 3_000_000, True)
    assert key.expires_at > time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 90 * 60))
    assert broker.keys == {}
    assert "OWN_KEY=" in text(tmp_path, record, "terminal")
    left = everything_below(tmp_path)
    assert secret.encode() not in left
    assert base64.b64encode(secret.encode())[4:-4] not in left
    assert broker.management.encode() not in left


def test_a_shared_key_never_enters_the_machine(machines, tmp_path, monkeypatch):
    secret = SHARED
    monkeypatch.setenv("VENDOR_KEY", secret)
    with ModelServer(NOTHING, key=secret) as server:
        model = {"endpoint": server.address, "key": "shared", "key_from": "VENDOR_KEY"}
        record = make(tmp_path, machines, monkeypatch, model, "env; cat /proc/*/environ | tr '\\0' '\\n'")
    assert (record.validity, record.reason_detail) == ("valid", None)
    assert [asked.key_ok for asked in server.requests] == [True]
    assert (record.key.kind, record.key.cap_micro_usd) == ("shared", None)
    assert secret.encode() not in everything_below(tmp_path)
    assert "*" * 12 not in text(tmp_path, record, "stdout"), "it was there, and was masked"


@pytest.mark.parametrize(
    ("path", "refused"),
    [("/v1/models", False), ("/v1/files", True), ("/api/keys", True), ("/v1/models/../files", True)],
)
def test_with_a_shared_key_only_the_model_is_asked(sandbox, tmp_path, monkeypatch, path, refused):
    monkeypatch.setenv("VENDOR_KEY", SHARED)
    with ModelServer(NOTHING) as server:
        model = {"endpoint": server.address, "key": "shared", "key_from": "VENDOR_KEY"}
        code = f"import os, urllib.request as r; print(r.urlopen(os.environ['OWN_URL'] + '{path}').status)"
        record = make(tmp_path, sandbox, monkeypatch, model, f'python3 -c "{code}"')
    said = text(tmp_path, record, "stdout") + text(tmp_path, record, "stderr")
    assert ("404" in said, "200" in said) == (refused, not refused)


def test_a_refusal_that_quotes_the_shared_key_is_handed_on_without_it(sandbox, tmp_path, monkeypatch):
    secret = SHARED
    monkeypatch.setenv("VENDOR_KEY", secret)
    quoting = Refusal(401, {"error": {"message": f"Expired key: {secret}", "type": "auth_error"}})
    monkeypatch.setattr(handler, "refusal", lambda *_: quoting)
    with ModelServer(NOTHING) as server:
        model = {"endpoint": server.address, "key": "shared", "key_from": "VENDOR_KEY"}
        record = make(tmp_path, sandbox, monkeypatch, model)
    assert record.reason == "key:refused"
    assert secret.encode() not in everything_below(tmp_path)


@pytest.mark.parametrize(
    ("mode", "spent", "validity", "reason", "ended_by"),
    [
        ("401", 0.1, "invalid", "key:refused", "agent"),
        ("402", 0.1, "invalid", "key:unfunded", "agent"),
        ("402", 3.0, "valid", None, "key-cap"),
        ("budget-422", 3.01, "valid", None, "key-cap"),
        ("budget-422", 0.5, "invalid", "key:unfunded", "agent"),
    ],
)
def test_the_keys_own_account_says_what_a_refusal_was(
    sandbox, broker, tmp_path, monkeypatch, mode, spent, validity, reason, ended_by
):
    broker.spends = [0, spent]
    with ModelServer(NOTHING, mode) as server:
        record = make(tmp_path, sandbox, monkeypatch, own(server, broker), spend_cap_micro_usd=9_000_000)
    assert (record.validity, record.reason, record.ended_by) == (validity, reason, ended_by)
    assert record.outcome == ("fail" if validity == "valid" else None)
    assert (record.report, record.claims) == (None, None)
    assert record.key.spent_micro_usd == int(spent * 1_000_000)


def test_without_a_key_no_attempt_begins_and_it_stays_due(sandbox, broker, tmp_path, monkeypatch):
    broker.saved = lambda key: {name: value for name, value in key.items() if name not in ("limit", "max_budget")}
    with ModelServer(NOTHING) as server:
        cycle = declared(tmp_path, sandbox, own(server, broker), spend_cap_micro_usd=9_000_000)
        found = ready(tmp_path, sandbox, monkeypatch, cycle)
        with pytest.raises(NoKey, match="without a cap"):
            Attempt(found, found.plan.jobs[0], Halt()).make()
        finished = run_cycle(found, 1, Halt(), lambda _: None)
    assert (finished.made, finished.halted[0]) == (0, "key:not-made")
    assert "without a cap" in finished.halted[1]
    assert (server.requests, broker.keys) == ([], {})
    assert not list(places.spool(tmp_path).glob("*/"))
    assert not (tmp_path / "results/records").exists()


def test_no_attempt_begins_that_could_go_beyond_the_cap_of_the_cycle(sandbox, broker, tmp_path, monkeypatch):
    broker.spends = [0, 1.25]
    with ModelServer(NOTHING) as server:
        cycle = declared(tmp_path, sandbox, own(server, broker), spend_cap_micro_usd=4_000_000)
        finished = run_cycle(ready(tmp_path, sandbox, monkeypatch, cycle), 1, Halt(), lambda _: None)
    assert (finished.made, finished.left) == (1, 2)
    assert finished.halted == (
        "key:cycle-cap",
        "cycle first may spend 4.00 USD, 1.25 USD are spent or may be, and with the attempts under way and one more it "
        "could be 4.25 USD",
    )


def test_what_attempts_under_way_may_spend_is_waited_for(sandbox, broker, tmp_path, monkeypatch):
    with ModelServer(NOTHING) as server:
        cycle = declared(tmp_path, sandbox, own(server, broker), spend_cap_micro_usd=6_000_000)
        finished = run_cycle(ready(tmp_path, sandbox, monkeypatch, cycle), 3, Halt(), lambda _: None)
    assert (finished.made, finished.left, finished.halted) == (3, 0, None)


def test_an_agent_that_ends_itself_in_the_middle_of_its_work_is_no_outcome(sandbox, tmp_path, monkeypatch):
    with ModelServer(NOTHING) as server:
        model = {"endpoint": server.address, "key": "none"}
        record = make(tmp_path, sandbox, monkeypatch, model, "kill -9 $PPID")
    assert (record.validity, record.reason) == ("invalid", "agent:crashed")
    assert "137" in record.reason_detail


def test_an_agent_that_holds_too_much_memory_itself_reached_a_limit(machines, tmp_path, monkeypatch):
    with ModelServer(NOTHING) as server:
        model = {"endpoint": server.address, "key": "none"}
        cycle = declared(tmp_path, machines, model, "sleep 30", allocate=600 << 20)
        limits = Limits(memory_bytes=300 << 20, disk_bytes=64 << 20)
        found = ready(tmp_path, machines, monkeypatch, cycle, limits)
        record = Attempt(found, found.plan.jobs[0], Halt()).make()
    assert (record.validity, record.ended_by, record.outcome) == ("valid", "memory-limit", "fail")


def test_a_runner_that_is_killed_with_a_live_key_leaves_one_that_sweep_or_the_next_start_ends(
    sandbox, broker, tmp_path, monkeypatch
):
    def runner(*words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    with ModelServer(NOTHING) as server:
        declared(tmp_path, sandbox, own(server, broker), "sleep 100", spend_cap_micro_usd=9_000_000)
        first = runner("tests.runner.model_agent", str(tmp_path), "bubblewrap")
        until = time.monotonic() + 60
        while not server.requests:
            assert time.monotonic() < until
            assert first.poll() is None, first.communicate()
            time.sleep(0.05)
        (secret,) = broker.secrets
        assert f"{secret}" not in "".join(
            Path(f"/proc/{first.pid}/{name}").read_text() for name in ("environ", "cmdline")
        )
        os.kill(first.pid, signal.SIGKILL)
        first.communicate()
        assert len(broker.keys) == 1
        swept = runner("argusic", "--root", str(tmp_path), "keys", "sweep")
        said, trouble = swept.communicate(timeout=60)
        assert (swept.returncode, broker.keys) == (0, {}), trouble
        assert "argusic-" in said
        # The next start closes the attempt: its key is known to be gone, and nothing shows it.
        found = ready(tmp_path, sandbox, monkeypatch, "first")
        assert recover(found) == []
    (record,) = records.each(tmp_path, "first")
    assert (record.reason, record.key.kind, record.key.deletion_confirmed) == ("infra:runner-lost", "own", True)
    assert secret.encode() not in everything_below(tmp_path)


def test_a_program_that_waits_for_ever_is_ended_when_its_model_is_gone(sandbox, tmp_path, monkeypatch):
    from runner.agents.command import CommandLine

    monkeypatch.setattr(CommandLine, "waits_for_ever", True)
    asked: list[str] = []

    def impatient(endpoint: str, halt: Halt) -> Watchman:
        return Watchman(endpoint, halt, 0.05, 0.2, lambda address: bool(asked.append(address)))

    monkeypatch.setattr(work_module, "Watchman", impatient)
    halt = Halt()
    with ModelServer(NOTHING) as server:
        model = {"endpoint": server.address, "key": "none"}
        found = ready(tmp_path, sandbox, monkeypatch, declared(tmp_path, sandbox, model, "sleep 100"))
        record = Attempt(found, found.plan.jobs[0], halt).make()
    assert (record.validity, record.reason, record.ended_by) == ("invalid", "provider:unreachable", "harness")
    assert set(asked) == {server.address}
    assert halt.reason is None, "the other attempts go on"


@pytest.mark.parametrize(
    ("model", "cycle", "said"),
    [
        ({"key": "shared", "key_from": "NOT_SET_HERE"}, {}, "the variable NOT_SET_HERE with its shared key is not set"),
        ({"key": "own", "broker": "openrouter"}, {"spend_cap_micro_usd": 1}, "ARGUSIC_OPENROUTER_KEY is not set"),
        ({"key": "none"}, {"demonstration": False}, "a model without a key is for demonstrations"),
    ],
)
def test_what_is_missing_is_said_before_anything_begins(sandbox, tmp_path, monkeypatch, model, cycle, said):
    monkeypatch.delenv("ARGUSIC_OPENROUTER_KEY", raising=False)
    monkeypatch.setattr("runner.condition.absent", lambda _: [])
    made = declared(
        tmp_path, sandbox, {"endpoint": "https://model.invalid", **model}, **{"demonstration": True} | cycle
    )
    with pytest.raises(ArgusicError, match=re.escape(said)):
        ready(tmp_path, sandbox, monkeypatch, made)


def test_money_needs_a_cap_of_the_cycle(sandbox, broker, tmp_path, monkeypatch):
    with ModelServer(NOTHING) as server:
        made = declared(tmp_path, sandbox, own(server, broker))
        with pytest.raises(ArgusicError, match="spend_cap_micro_usd: agent agent-a spends money"):
            ready(tmp_path, sandbox, monkeypatch, made)


def test_the_slack_of_a_key_is_longer_than_everything_around_an_agent():
    from runner.agents.work import LEFT_SECONDS
    from runner.claims import REPLAY_SECONDS
    from runner.sources.prepare import PREPARE_SECONDS
    from runner.sources.registry import FETCH_SECONDS, TRIES

    assert (
        attempt_key_module.SLACK_SECONDS > FETCH_SECONDS * TRIES * 2 + PREPARE_SECONDS + LEFT_SECONDS + REPLAY_SECONDS
    )
