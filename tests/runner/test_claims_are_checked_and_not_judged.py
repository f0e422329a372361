"""MEASUREMENT §6: was the verifying command run, can it decode, and what did it do when it was run once more."""

from __future__ import annotations

import pytest

from archive.report import Report, VerifiedHow
from runner.claims import claims, kind_of
from runner.watch import Ended

OK = Ended("agent", 0, 5)


def report(command: str | None, returned: str = "42") -> Report:
    how = "not verified" if command is None else VerifiedHow(command=command, returned=returned)
    return Report(
        schema_version=1, installed=True, launched=True, errors_encountered=0, errors_fixed=0, errors=(),
        test_depth="tier1_real", verified_how=how, final_state="It printed 42.", install_seconds=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("ffprobe -show_streams out.mp4", "probes"),
        ("file out.png && ls -l out.png", "probes"),
        ("wc -c < out.bin", "probes"),
        ("ffmpeg -v error -i out.mp4 -f null -", "decodes"),
        ("ffmpeg -i in.mp4 out.mp4", "unknown"),
        ("cd project && .venv/bin/python quickstart.py", "decodes"),
        ("python3.12 -m pip list", "probes"),
        ("python -m pytest -q", "decodes"),
        ("npm ls", "probes"),
        ("npm test", "decodes"),
        ("tool --version", "probes"),
        ("FOO=1 timeout 5 node index.mjs | head -1", "decodes"),
        ("./a.out", "unknown"),
        ("argusic-mcp -- python -m server", "decodes"),
        ("docker ps", "probes"),
        ("docker run image command", "unknown"),
        ("cat out.txt", "unknown"),
        ("curl http://localhost:8000/", "unknown"),
        ("psql -h localhost -c 'select 1'", "unknown"),
        ("echo $(python q.py)", "unknown"),
        ("tool help", "probes"),
        ("echo 'unclosed", "unknown"),
        ("", "unknown"),
    ],
)
def test_a_command_decodes_probes_or_is_unknown(command, kind):
    assert kind_of(command) == kind


def test_a_report_that_says_not_verified_makes_no_claim():
    assert claims(report(None), [], None) is None


def test_seen_is_yes_no_or_unknown():
    wanted = report("python q.py")
    assert claims(wanted, ["pip install x", "cd p &&  python   q.py"], None).seen == "yes"
    assert claims(wanted, ["python other.py"], None).seen == "no"
    assert claims(report("ls"), ["echo false", "./tools/ls-all"], None).seen == "no"
    assert claims(report("ls"), ["cd x && ls"], None).seen == "yes"
    assert claims(wanted, None, None).seen == "unknown"


@pytest.mark.parametrize(
    ("command", "ended", "printed", "state"),
    [
        ("python q.py", OK, "\x1b[32m42\x1b[0m\r\n", "same"),
        ("python q.py", OK, "warning: old\n 42 \ndone", "same"),
        ("python q.py", OK, "error 4242", "differs"),
        ("python q.py", OK, "43", "differs"),
        ("python q.py", Ended("agent", 1, 5), "Traceback", "failed"),
        ("curl localhost:8000", Ended("agent", 7, 5), "Failed to connect to localhost port 8000", "needs-live-process"),
        ("curl example.org", Ended("agent", 7, 5), "Failed to connect to example.org", "failed"),
        ("python q.py", Ended("budget", None, 5), "", "timed-out"),
    ],
)
def test_a_replay_says_what_came_of_it(command, ended, printed, state):
    found = claims(report(command), [], (ended, printed))
    assert found.replay == state


def test_an_empty_result_is_the_same_only_as_an_empty_one():
    assert claims(report("python q.py", ""), [], (OK, "")).replay == "same"
    assert claims(report("python q.py", ""), [], (OK, "something")).replay == "differs"


def test_claimed_lines_must_come_in_their_order():
    assert claims(report("python q.py", "a\nb"), [], (OK, "a\nwarning\nb")).replay == "same"
    assert claims(report("python q.py", "b\na"), [], (OK, "a\nb")).replay == "differs"


def test_what_a_replay_printed_is_kept_without_control_characters():
    found = claims(report("python q.py"), [], (OK, "\x1b]0;title\x07a\x00b\x1b[2J" + "x" * 5000))
    assert found.replay_returned.startswith("abx")
    assert len(found.replay_returned) == 2000
