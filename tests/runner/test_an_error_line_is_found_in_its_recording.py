"""The moment of an error line (scoring/moments.py), on terminals that real programs wrote."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.recorder import TERMINAL, TIMING, Recorder
from runner.sandbox import Sandbox
from scoring import moments
from scoring.moments import error_moments
from tests.runner.scripted import bench, report

LONG = "npm error ERESOLVE could not resolve: react@19.0.0 from the root project, and 12 other things were not told"


def recorded(folder: Path, program: str, columns: int = 120) -> tuple[bytes, bytes]:
    """Terminal and timing of a Python program that writes to a real terminal of so many columns."""
    folder.mkdir(exist_ok=True)
    recorder = Recorder(folder, b"k" * 32, 1_780_000_000)
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "40", "FORCE_COLOR": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    while True:
        try:
            data = os.read(ours, 65536)
        except OSError:
            break
        if not data:
            break
        recorder.feed(data)
    os.close(ours)
    assert process.wait() == 0
    recorder.close()
    return (folder / TERMINAL).read_bytes(), (folder / TIMING).read_bytes()


def timed(*reads: tuple[int, bytes]) -> tuple[bytes, bytes]:
    """Terminal and timing of reads, each at its milliseconds."""
    timing = b"".join(b"%d %d\n" % (at * 1000, len(data)) for at, data in reads)
    return b"".join(data for _, data in reads), timing


def test_the_moment_is_that_of_the_first_time_it_was_shown() -> None:
    files = timed((5, b"start\r\n"), (1_700, b"sh: cmake: not found\r\n"), (9_000, b"sh: cmake: not found\r\n"))
    assert error_moments(*files, ["sh: cmake: not found", "start of it all", "cmake: not found"]) == (1700, None, 1700)


def test_a_line_that_comes_in_two_reads_has_the_moment_of_the_first() -> None:
    files = timed((100, b"ok\r\n"), (200, b"error: no such"), (300, b" command\r\n"), (400, b"end"))
    assert error_moments(*files, ["error: no such command"]) == (200,)


def test_a_box_and_colours_of_a_real_program_hide_nothing(tmp_path: Path) -> None:
    program = f"""
import time
from rich.console import Console
from rich.panel import Panel
console = Console(force_terminal=True, width=38)
console.print("[bold green]installing[/]")
time.sleep(0.3)
console.print(Panel(f"[red]{LONG}[/]", title="[blue]it failed[/]"))
time.sleep(0.3)
console.print("done")
"""
    terminal, timing = recorded(tmp_path / "recorded", program, columns=38)
    assert LONG.encode() not in terminal
    assert b"\x1b[31m" in terminal
    assert "│".encode() in terminal
    (found,) = error_moments(terminal, timing, [LONG])
    assert found is not None
    last = int(timing.splitlines()[-1].split()[0]) // 1000
    assert 250 < found <= last - 250


def test_a_real_traceback_is_found_whole_and_by_its_last_line(tmp_path: Path) -> None:
    program = """
import subprocess, sys, time
time.sleep(0.2)
subprocess.run([sys.executable, "-c", "import no_such_module_at_all"])
"""
    terminal, timing = recorded(tmp_path / "recorded", program)
    whole = (
        'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\n'
        "ModuleNotFoundError: No module named 'no_such_module_at_all'"
    )
    first, last, own_words = error_moments(
        terminal, timing, [whole, whole.splitlines()[-1], "The module was missing, so I installed it"]
    )
    assert first is not None
    assert 150 < first <= (last or 0)
    assert own_words is None


@pytest.mark.sandbox
def test_the_files_of_a_real_attempt_have_the_moments_of_its_report(
    tmp_path: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = bench(tmp_path, sandbox, monkeypatch)
    said = [
        {"what": what, "fix": None, "fixed": False, "at_seconds": None}
        for what in ("no-such-program: not found", "I could not find the program")
    ]
    written = report(installed=False, launched=False, errors=said, errors_encountered=2, errors_fixed=0)
    record = one.make(f"sleep 0.5; printf '\\033[31m'; dash -c no-such-program; sleep 0.5; {written}")
    assert record.report is not None
    terminal, timing = (one.text(record, role).encode() for role in ("terminal", "timing"))
    first, second = error_moments(terminal, timing, [error.what for error in record.report.errors])
    assert first is not None
    assert record.times.agent_ms is not None
    assert 450 < first <= record.times.agent_ms - 450
    assert second is None


def test_titles_links_spinners_and_cursor_movement_are_not_part_of_a_line() -> None:
    files = timed(
        (10, b"\x1b]0;build: permission denied\x07\x1b[2K\r"),
        (20, b"\x1b[1;31mE: \x1b[0m\x1b[38;5;9mbuild:\x1b[K permission\x1b[3;1Hdenied"),
        (30, "\u00a0by\u2009the owner\r\n".encode()),
    )
    assert error_moments(*files, ["E: build: permission denied by the owner", "build: permission denied"]) == (20, 20)


def test_a_shortened_line_is_found_by_what_is_left() -> None:
    files = timed((7, b"fatal: repository not found at the address\r\n"))
    assert error_moments(*files, ["fatal: repository not fou\u2026", "fatal: repository not..."]) == (7, 7)


@pytest.mark.parametrize("line", ["", " ", "Killed", "\u2026", "exit 1", "\x1b[31m\x1b[0m"])
def test_a_line_too_short_to_be_told_from_others_has_no_moment(line: str) -> None:
    files = timed((7, b"Killed\r\nexit 1\r\n"))
    assert error_moments(*files, [line]) == (None,)


def test_what_the_timing_does_not_account_for_has_no_moment() -> None:
    terminal = b"one line of text\r\nanother line of text\r\n"
    assert error_moments(terminal, b"5000 18\nbroken", ["one line of text", "another line of text"]) == (5, None)
    assert error_moments(terminal, b"", ["one line of text"]) == (None,)
    assert error_moments(b"", b"", ["one line of text"]) == (None,)
    assert error_moments(terminal, b"5000 18\n", []) == ()


def test_an_error_that_is_no_valid_text_is_not_found_and_breaks_nothing() -> None:
    assert error_moments(*timed((7, b"\xff\xfe\xe2\x94 some text\r\n")), ["\ud800 some text"]) == (None,)


@given(
    words=st.lists(st.sampled_from(["error:", "größe", "of", "\x1b[31mred\x1b[0m", "│", "\r\n", "\t"]), max_size=12),
    cuts=st.lists(st.integers(0, 400), max_size=6),
)
def test_any_line_between_others_is_found_however_it_is_cut_into_reads(words: list[str], cuts: list[int]) -> None:
    line = " ".join(["begin of it", *words, "end of it"])
    before, text = b"something else\r\n", line.encode() + b"\r\nmore"
    places = sorted({cut for cut in cuts if 0 < cut < len(text)})
    parts = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    files = timed((1, before), *((100 + number, part) for number, part in enumerate(parts)))
    assert error_moments(*files, [line]) == (100,)


def test_a_line_is_found_wherever_windows_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moments, "WINDOW", 64)
    monkeypatch.setattr(moments, "OVERLAP", 48)
    line = b"\x1b[31mEADDRINUSE\x1b[0m \xe2\x94\x82 port 80"
    for lead in range(130):
        files = timed((1, b"." * lead), (2, line), (3, b" end")) if lead else timed((2, line), (3, b" end"))
        assert error_moments(*files, ["EADDRINUSE port 80"]) == (2,), lead


def test_a_long_recording_takes_seconds() -> None:
    block = b"\x1b[32mcompiling\x1b[0m unit number 0123456789 of many\r\n" * 80_000
    terminal = block * 4 + b"\x1b[31mundefined reference to `main'\x1b[0m\r\n"
    timing = b"1000 %d\n2000 %d\n" % (len(block) * 4, len(terminal) - len(block) * 4)
    errors = ["undefined reference to `main'", *(f"something that was never shown {n}" for n in range(20))]
    began = time.monotonic()
    assert error_moments(terminal, timing, errors) == (2, *[None] * 20)
    assert time.monotonic() - began < 10, len(terminal)
