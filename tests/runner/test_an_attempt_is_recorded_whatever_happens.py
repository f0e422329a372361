"""One attempt from end to end in a real sandbox: what the record says of each way it can go."""

from __future__ import annotations

import json
import threading
import time

import pytest

from archive import places
from archive.canonical import canonical
from archive.errors import MachineError
from archive.reasons import Outcome, Reason, Validity
from archive.record import Record
from runner.sources import FetchFailed
from runner.watch import Halt
from tests.runner.conftest import SMALL
from tests.runner.scripted import SHELL, bench, report

pytestmark = pytest.mark.sandbox
GOOD = f"echo 42 > result.txt; echo '{SHELL}' > /home/agent/session.jsonl; {SHELL}\n" + report()


@pytest.fixture(params=["bubblewrap", "docker"])
def sandbox(request, sandboxes):
    return sandboxes(request.param)


@pytest.fixture
def one(tmp_path, sandbox, monkeypatch):
    return bench(tmp_path, sandbox, monkeypatch)


def test_a_verified_run_passes_and_its_claims_are_confirmed(one):
    record = one.make(GOOD)
    assert (record.validity, record.outcome, record.ended_by, record.agent_exit) == ("valid", "pass_full", "agent", 0)
    assert record.claims.model_dump() == {
        "seen": "yes", "kind": "unknown", "replay": "same", "replay_exit": 0, "replay_returned": "42\n",
    }  # fmt: skip
    assert {item.role for item in record.evidence} == {
        "recording", "terminal", "timing", "log", "report", "session", "replay",
    }  # fmt: skip
    assert one.text(record, "terminal") == "42\r\n"
    steps = [json.loads(line)["step"] for line in one.text(record, "log").splitlines()]
    assert steps == [
        "planned", "key", "fetch", "machine", "agent", "stopped", "collect", "replay", "destroyed", "key-closed",
        "mask", "prove",
    ]  # fmt: skip
    assert Record.model_validate_json(canonical(record)) == record


def test_the_agent_finds_its_task_its_readme_its_instructions_and_an_empty_project(one):
    record = one.make(
        "cat /argusic/task.json /argusic/subject/README.md; ls -A | wc -l; test -s /argusic/instructions.md"
    )
    said = one.text(record, "terminal")
    assert '"subject": "pkg:pypi/six@1.17.0"' in said
    assert "A README of a test subject" in said
    assert said.splitlines()[-1].strip() == "0"
    assert record.agent_exit == 0


def test_an_agent_that_says_done_and_did_nothing_has_failed(one):
    record = one.make("echo 'Done! Everything works.'; exit 0")
    assert (record.validity, record.outcome, record.report_state) == ("valid", "fail", "missing")


def test_a_refused_report_is_a_valid_fail_and_says_why(one):
    record = one.make(report(installed="yes"))
    assert (record.outcome, record.report_state, record.report) == ("fail", "refused", None)
    assert "installed" in record.incidents[0].detail


@pytest.mark.parametrize("trap", ["ln -s /etc/passwd", "mkfifo", "mkdir"], ids=["a link", "a pipe", "a folder"])
def test_a_report_that_is_no_file_is_refused_and_nothing_hangs(one, trap):
    record = one.make(f"{trap} /home/agent/report.json")
    assert (record.validity, record.outcome, record.report_state) == ("valid", "fail", "refused")


def test_a_report_larger_than_the_limit_is_refused(one):
    record = one.make("head -c 300000 /dev/zero | tr '\\0' ' ' > /home/agent/report.json")
    assert record.report_state == "refused"
    assert "300000 bytes" in record.incidents[0].detail


def test_more_fixes_than_errors_is_invalid_and_kept(one):
    record = one.make(report(errors_encountered=1, errors_fixed=2, errors=[]))
    assert (record.validity, record.reason, record.outcome) == ("invalid", Reason.AGENT_REPORT_CONTRADICTORY, None)
    assert record.report is not None
    assert record.file("report") is not None


def test_the_budget_ends_everything_and_the_outcome_is_a_timeout(one):
    began = time.monotonic()
    record = one.make(GOOD + "(trap '' TERM; setsid sleep 600) & echo working; sleep 600", seconds=1.0)
    assert time.monotonic() - began < 20
    assert (record.validity, record.outcome, record.ended_by) == ("valid", "timeout", "budget")
    assert record.times.agent_ms >= 1000
    assert "working" in one.text(record, "recording")


def test_the_output_ceiling_ends_an_attempt_and_what_was_recorded_is_complete(one, monkeypatch):
    monkeypatch.setattr(one, "condition", one.condition._replace(ceiling_bytes=200_000))
    record = one.make(GOOD + "yes")
    assert (record.validity, record.outcome, record.ended_by) == ("valid", "fail", "output-ceiling")
    timing = one.text(record, "timing").split()
    assert sum(map(int, timing[1::2])) == record.file("terminal").bytes
    assert sum(record.file(role).bytes for role in ("terminal", "timing", "recording")) >= 200_000
    assert record.report_state == "not-reached"


def test_a_program_over_its_memory_ends_by_that_limit_and_it_is_named(tmp_path, sandbox, monkeypatch):
    small = bench(tmp_path, sandbox, monkeypatch, SMALL)
    record = small.make("exec python3 -c 'x = bytearray(900 << 20); import time; time.sleep(60)'")
    assert (record.validity, record.outcome, record.ended_by) == ("valid", "fail", "memory-limit")


def test_a_child_over_the_memory_limit_is_an_incident(tmp_path, sandbox, monkeypatch):
    small = bench(tmp_path, sandbox, monkeypatch, SMALL)
    record = small.make("python3 -c 'x = bytearray(900 << 20); import time; time.sleep(60)'; sleep 0.5\n" + GOOD)
    assert record.outcome == "pass_full"
    assert [incident.kind for incident in record.incidents] == ["memory-limit"]


def test_a_full_machine_disk_is_an_incident_and_the_agents_affair(tmp_path, sandbox, monkeypatch):
    small = bench(tmp_path, sandbox, monkeypatch, SMALL._replace(disk_bytes=16 << 20))
    record = small.make("head -c 900000000 /dev/zero > /home/agent/fill; sleep 0.5")
    assert (record.validity, record.outcome) == ("valid", "fail")
    assert "disk-limit" in [incident.kind for incident in record.incidents]


def test_a_subject_that_cannot_be_fetched_is_our_trouble(one):
    def fail(*_):
        raise FetchFailed(Reason.INFRA_NETWORK, "no route")

    one.source.fetch = fail
    record = one.make(GOOD)
    assert (record.validity, record.reason, record.outcome) == ("invalid", Reason.INFRA_NETWORK, None)
    assert record.times.agent_ms is None
    assert {item.role for item in record.evidence} == {"log"}


@pytest.mark.parametrize(("here", "validity"), [(True, Validity.VALID), (False, Validity.INVALID)])
def test_a_failure_without_a_network_is_never_the_agents(one, here, validity):
    one.source.here = here
    record = one.make("echo 'getaddrinfo ENOTFOUND registry'; exit 1")
    assert record.validity is validity
    assert record.reason is (None if here else Reason.INFRA_NETWORK)


def test_a_machine_that_cannot_be_made_is_our_trouble(one, monkeypatch):
    class Broken:
        python, name = "/usr/bin/python3", "bubblewrap"

        def tools(self):
            return ()

        def start(self, spec):
            raise MachineError("no namespaces here")

    monkeypatch.setattr(one, "condition", one.condition._replace(sandbox=Broken()))
    assert one.make(GOOD).reason is Reason.INFRA_MACHINE


def test_a_report_that_we_lost_is_our_trouble(one, monkeypatch):
    from runner.sandbox import MachineLost
    from runner.sandbox.control import ControlledMachine

    real = ControlledMachine.read

    def lost(self, path, most):
        if path.endswith("report.json"):
            raise MachineLost("gone")
        return real(self, path, most)

    monkeypatch.setattr(ControlledMachine, "read", lost)
    record = one.make(GOOD)
    assert (record.validity, record.reason, record.outcome) == ("invalid", Reason.HARNESS_REPORT_LOST, None)


def test_a_full_runner_disk_is_our_trouble(one, monkeypatch):
    import errno

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("runner.recorder.Recorder.feed", full)
    record = one.make(GOOD)
    assert (record.validity, record.reason) == ("invalid", Reason.INFRA_DISK)


def test_a_defect_of_ours_spoils_one_attempt_and_is_written_down(one, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr("runner.attempt.claim.claims", broken)
    record = one.make(GOOD)
    assert (record.validity, record.reason) == ("invalid", Reason.HARNESS_ERROR)
    assert "ZeroDivisionError" in one.text(record, "log")


def test_a_person_who_stops_the_run_leaves_an_invalid_attempt_with_what_was_recorded(one):
    halt = Halt()
    threading.Timer(0.8, halt.now, (Reason.INFRA_CANCELLED, "Ctrl-C")).start()
    record = one.make("echo begun; sleep 600", halt=halt)
    assert (record.validity, record.reason, record.outcome) == ("invalid", Reason.INFRA_CANCELLED, None)
    assert "begun" in one.text(record, "recording")


def test_a_person_who_stops_the_run_during_the_replay_does_not_wait_for_it(one):
    halt = Halt()
    threading.Timer(2.0, halt.now, (Reason.INFRA_CANCELLED, "Ctrl-C")).start()
    began = time.monotonic()
    record = one.make(report(verified_how={"command": "sleep 60", "returned": "42"}), halt=halt)
    assert time.monotonic() - began < 20
    assert (record.validity, record.outcome, record.claims.replay) == ("valid", "pass_full", "not-run")


def test_a_computer_that_slept_during_an_attempt_is_an_incident_and_takes_nothing_from_the_budget(one, monkeypatch):
    slept = iter([5_000, 65_000])
    monkeypatch.setattr("runner.journal._asleep_ms", lambda: next(slept))
    real, began = time.time, time.time()
    monkeypatch.setattr(time, "time", lambda: real() + (60 if real() > began + 0.3 else 0))
    record = one.make("sleep 0.5; " + GOOD)
    assert record.outcome is Outcome.PASS_FULL
    assert [(item.kind, item.detail) for item in record.incidents] == [
        ("suspended", "the runner was suspended for 60000 ms, which no budget counts")
    ]
    assert record.times.agent_ms < 30_000


def test_a_wall_clock_that_jumps_is_an_incident_and_takes_nothing_from_the_budget(one, monkeypatch):
    real, began = time.time, time.time()
    monkeypatch.setattr(time, "time", lambda: real() - (3600 if real() > began + 0.3 else 0))
    record = one.make("sleep 0.5; " + GOOD)
    assert (record.outcome, [item.kind for item in record.incidents]) == (Outcome.PASS_FULL, ["clock-jump"])
    assert record.times.agent_ms < 30_000


def test_a_value_that_was_handed_in_is_masked_everywhere(one):
    secret = "sk-test-4f9c2b7e1d"
    loud = (
        f"echo {secret}; printf %s sk-test-4f9c; sleep 0.2; echo 2b7e1d; echo '{secret}' > /home/agent/session.jsonl\n"
    )
    record = one.make(loud + report(final_state=f"key {secret}"), values=(secret,))
    assert record.outcome is Outcome.PASS_FULL
    assert record.report.final_state == "key " + "*" * len(secret)
    for item in record.evidence:
        assert secret not in one.text(record, item.role)
    assert record.file("terminal").masked == {"credential": 2}
    assert secret not in canonical(record).decode()


def test_a_value_that_is_put_together_where_no_byte_can_be_named_withholds_the_attempt(one):
    secret = "sk-test-4f9c2b7e1d"
    # On the screen, in a region that scrolls, the second half first.
    drawn = "printf '\\033[2;9r\\033[5;9H4f9c2b7e1d\\033[5;1Hsk-test-'\n"
    record = one.make(drawn + report(), values=(secret,))
    assert (record.validity, record.reason) == ("withheld", Reason.EVIDENCE_NOT_PROVEN_CLEAN)
    assert record.evidence == ()
    assert record.report is None
    assert not list((one.root / ".argusic/evidence").rglob("*")) or not any(
        secret[8:].encode() in path.read_bytes()
        for path in (one.root / ".argusic/evidence").rglob("*")
        if path.is_file()
    )


def test_a_commitment_key_is_kept_for_the_auditor_alone(one):
    record = one.make(GOOD)
    path = places.private(one.root) / "commitments" / record.run
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(bytes.fromhex(path.read_text())) == 32


def test_a_server_that_is_gone_is_not_a_lie(one):
    how = {"command": "python3 -c \"import urllib.request as u; u.urlopen('http://127.0.0.1:9')\"", "returned": "ok"}
    record = one.make(report(verified_how=how))
    assert record.claims.replay == "needs-live-process"
    assert record.outcome is Outcome.PASS_FULL


def test_a_replay_runs_after_every_process_of_the_agent_has_ended(one):
    how = {"command": "ls /proc/[0-9]*/comm | xargs cat 2>/dev/null", "returned": "x"}
    record = one.make("setsid sleep 600 &\n" + report(verified_how=how))
    assert "sleep" not in record.claims.replay_returned


def test_a_session_file_of_a_million_brackets_is_no_trouble(one, monkeypatch):
    from runner.agents.control import ControlReadme

    real = ControlReadme()
    one.agent("")
    agent = type(
        "Deep",
        (),
        {
            "argv": lambda self, _: ["sh", "-c", "python3 -c \"print('[' * 1000000)\" > ~/session.jsonl\n" + GOOD],
            "commands": lambda self, session: real.commands(session),
        },
    )()
    monkeypatch.setattr("runner.attempt.adapter", lambda _: agent)
    from runner.attempt import Attempt

    record = Attempt(one.condition, one.job, Halt()).make()
    assert (record.validity, record.outcome) == ("valid", "pass_full")


def test_half_a_surrogate_pair_as_a_key_is_a_refused_report(one):
    record = one.make('printf \'{"\\\\ud800":1,"\\\\ud800":2}\' > /home/agent/report.json')
    assert (record.validity, record.outcome, record.report_state) == ("valid", "fail", "refused")


def test_a_runner_with_a_closed_umask_gives_the_agent_readable_files(one):
    import os

    old = os.umask(0o077)
    try:
        record = one.make("cat /argusic/task.json /argusic/subject/README.md && umask")
    finally:
        os.umask(old)
    assert record.agent_exit == 0
    assert one.text(record, "terminal").split()[-1] == "0022"


def test_a_record_that_cannot_be_made_is_replaced_by_one_that_says_so(one, monkeypatch):
    monkeypatch.setattr("runner.evidence.Bundle.keep", lambda *_: 1 / 0)
    record = one.make(GOOD)
    assert (record.validity, record.reason, record.evidence) == ("invalid", Reason.HARNESS_ERROR, ())
    assert "ZeroDivisionError" in record.reason_detail


def test_the_first_process_of_a_machine_cannot_be_ended_to_be_run_again(one):
    record = one.make("for s in $(seq 64); do kill -$s 1; done; sleep 0.3; exit 1")
    assert (record.validity, record.outcome) == ("valid", "fail")
