"""One attempt of the README control agent, for real and without a network: tiny wheels in a folder are the registry."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from archive.report import read_report
from runner.inside.check_report import FINE, check
from runner.inside.control_readme import attempt
from runner.inside.control_readme.session import TIMED_OUT, Session

CONTROL = Path(__file__).parents[2] / "runner/inside/control_readme"
NOP = CONTROL.with_name("control_nop.py")


def wheel(folder: Path, name: str, source: str) -> None:
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": source,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{name} = {name}:main\n",
    }
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        archive.writestr(f"{info}/RECORD", "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"]))


@pytest.fixture
def observed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make an attempt on a package with this source and README: (report, commands run)."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    wheel(wheels, "tabulate", "def table(x):\n    return x\n")
    for name, value in {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels), "PIP_CONFIG_FILE": "/dev/null"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)

    def make(source: str, readme: str, version: str = "1.0") -> Any:
        wheel(wheels, "greet", source)
        (tmp_path / "README.md").write_text(readme)
        report = tmp_path / "report.json"
        places = {"readme": tmp_path / "README.md", "project": tmp_path / "project", "report": report}
        task = {"source_type": "package", "ecosystem": "pypi", "name": "greet", "version": version, "budget_minutes": 5}
        task |= {name: str(path) for name, path in places.items()}
        (tmp_path / "task.json").write_text(json.dumps(task))
        monkeypatch.setattr(attempt, "TASK", tmp_path / "task.json")
        assert attempt.main() == 0
        assert check(report.read_bytes()).code == FINE
        read_report(report.read_bytes())
        session = (tmp_path / "session.jsonl").read_text().splitlines()
        return json.loads(report.read_bytes()), [json.loads(line)["command"] for line in session]

    return make


HELLO = "def hello(name):\n    print('hello', name)\ndef main():\n    print('hello from the command')\n"


def test_an_example_that_prints_what_the_readme_says_is_verified(observed: Any) -> None:
    report, commands = observed(HELLO, "```\n>>> import greet\n>>> greet.hello('you')\nhello you\n```\n")
    assert commands[:3] == [
        "python3 -m venv .venv",
        ".venv/bin/python -m pip install greet==1.0",
        ".venv/bin/python -m pip show greet",
    ]
    assert (report["installed"], report["launched"], report["test_depth"]) == (True, True, "tier1_real")
    assert report["verified_how"] == {"command": ".venv/bin/python quickstart_1.py", "returned": "hello you\n"}
    assert report["verified_how"]["command"] in commands
    assert (report["errors_encountered"], report["errors"]) == (0, [])
    assert report["final_state"].endswith("README printed 1 of the 1 results that the README states. No error met.")


def test_an_error_is_fixed_when_the_command_that_failed_is_seen_to_pass(observed: Any) -> None:
    report, commands = observed("import tabulate\n" + HELLO, "```sh\n$ greet\nhello from the command\n```\n")
    assert (report["errors_encountered"], report["errors_fixed"], report["test_depth"]) == (1, 1, "tier1_real")
    assert report["errors"][0]["what"] == "ModuleNotFoundError: No module named 'tabulate'"
    assert report["errors"][0]["fix"] == "installed tabulate: .venv/bin/python -m pip install tabulate"
    run = ". .venv/bin/activate && greet"
    assert report["verified_how"] == {"command": run, "returned": "hello from the command\n"}
    assert commands.count(run) == 2


def test_a_fix_that_does_not_make_the_command_pass_fixed_nothing(observed: Any) -> None:
    report, _ = observed("import tabulate\nraise ValueError('no service')\n", "```python\nimport greet\n```\n")
    assert [(error["what"], error["fixed"]) for error in report["errors"]] == [
        ("ModuleNotFoundError: No module named 'tabulate'", False),
        ("ValueError: no service", False),
    ]
    assert (report["installed"], report["launched"], report["verified_how"]) == (True, False, "not verified")
    assert "Example 1 of its README ended with exit code 1 (ValueError: no service)." in report["final_state"]


def test_an_example_that_prints_nothing_or_something_else_is_started_and_not_verified(observed: Any) -> None:
    readme = "```python\nimport greet\n```\n\n>>> import greet\n>>> greet.hello('you')\nbye you\n"
    report, _ = observed(HELLO, readme)
    assert (report["launched"], report["test_depth"], report["verified_how"]) == (True, "tier3_none", "not verified")
    assert "Example 1 of its README printed nothing to decode." in report["final_state"]
    assert "Example 2 of its README printed 0 of the 1 results" in report["final_state"]


def test_a_version_that_cannot_be_installed_is_said_so(observed: Any) -> None:
    report, commands = observed(HELLO, "```python\nimport greet\n```\n", version="9.9")
    assert (report["installed"], report["launched"], report["install_seconds"]) == (False, False, None)
    assert report["errors"][0]["what"] == "ERROR: No matching distribution found for greet==9.9"
    assert not any("quickstart" in command for command in commands)


def test_without_a_task_it_says_so_and_does_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(attempt, "TASK", tmp_path / "none.json")
    assert attempt.main() == 1
    assert "no readable task" in capsys.readouterr().err


def test_it_starts_by_its_folder_as_the_harness_starts_it() -> None:
    done = subprocess.run([sys.executable, str(CONTROL)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "no readable task at /argusic/task.json" in done.stderr) == (1, True)


def test_the_nop_control_does_nothing(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(NOP)], cwd=tmp_path, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr, list(tmp_path.iterdir())) == (0, b"", b"", [])


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path, tmp_path / "session.jsonl", budget_seconds=60)


def test_a_command_at_its_limit_is_killed_with_all_it_started(session: Session, tmp_path: Path) -> None:
    began = time.monotonic()
    result = session.run("(sleep 3; touch late) & sleep 100", limit_seconds=1)
    assert (result.exit, time.monotonic() - began < 3) == (TIMED_OUT, True)
    time.sleep(3)
    assert not (tmp_path / "late").exists()


def test_a_daemon_that_keeps_the_terminal_does_not_hold_the_session(session: Session) -> None:
    began = time.monotonic()
    assert session.run("sleep 100 & echo done", limit_seconds=30).printed == b"done\n"
    assert time.monotonic() - began < 5


def test_a_command_that_asks_gets_the_end_of_its_input_at_once(session: Session) -> None:
    reading, writing = os.pipe()
    ours = os.dup(0)
    os.dup2(reading, 0)  # an input that would never end
    try:
        assert session.run("cat", limit_seconds=5).passed
    finally:
        os.dup2(ours, 0)
        for descriptor in (ours, reading, writing):
            os.close(descriptor)


def test_both_streams_are_read_to_the_end_and_kept_in_part(session: Session, tmp_path: Path) -> None:
    result = session.run("head -c 1000000 /dev/zero | tr '\\0' a; echo late >&2", limit_seconds=30)
    assert (len(result.printed), len(result.tail), result.tail[-5:], result.complained) == (
        65_536,
        65_536,
        "late\n",
        True,
    )
    assert json.loads((tmp_path / "session.jsonl").read_text())["output_bytes"] == 1_000_005


def test_a_command_that_a_signal_ended_has_the_exit_code_of_a_shell(session: Session) -> None:
    assert session.run("kill -SEGV $$", limit_seconds=5).exit == 139


def test_odd_bytes_in_output_are_no_error(session: Session) -> None:
    result = session.run("printf '\\377\\376'; exit 3", limit_seconds=5)
    assert (result.exit, result.printed, result.tail) == (3, b"\xff\xfe", "\ufffd\ufffd")
