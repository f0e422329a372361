"""`argusic-desktop` says what is wrong with its command line, and that there is no display where none can be had."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from runner.inside.desktop import CAME_UP, DID_NOT, NO_DISPLAY, USAGE, Usage, Wish, wish
from runner.inside.display import Display, NoDisplay, answers

PROGRAM = Path(__file__).parents[2] / "runner/inside/desktop.py"
REFUSAL = b"\x00\x0a\x0b\x00\x00\x00\x03\x00no access!!!"


def desktop(*words: str, path: str = "/nowhere") -> tuple[int, dict[str, Any], str]:
    """Exit code, what it printed, what it complained of; without a display, since PATH holds no program for one."""
    env = {"PATH": path, "HOME": "/nowhere", "LANG": "C.UTF-8", "XDG_RUNTIME_DIR": "/nowhere"}
    done = subprocess.run(
        [sys.executable, "-I", str(PROGRAM), *words], capture_output=True, text=True, env=env, timeout=60, check=False
    )
    found = json.loads(done.stdout) if done.stdout else {}
    if found.get("log"):
        Path(found["log"]).unlink()
    return done.returncode, found, done.stderr


def test_options_end_where_the_command_begins() -> None:
    assert wish(["--seconds", "2", "--", "app", "--seconds", "3"]) == Wish(["app", "--seconds", "3"], seconds=2.0)
    assert wish(["--display-size", "800x600", "app", "--", "x"]) == Wish(["app", "--", "x"], size="800x600")
    assert wish(["--answers", "app", "--version"]) == Wish(["app", "--version"], answers=True)


@pytest.mark.parametrize(
    ("words", "right"),
    [
        ([], "give the command"),
        (["--"], "give the command"),
        (["--display-size", "800", "--", "app"], "WIDTHxHEIGHT"),
        (["--display-size", "9999x9999", "--", "app"], "from 64 to 4096"),
        (["--seconds", "0", "--", "app"], "more than 0"),
        (["--within", "nan", "--", "app"], "more than 0"),
        (["--seconds", "soon", "--", "app"], "invalid float value"),
        (["--answers", "--", "app", "--run"], "must ask for the version or the help"),
    ],
)
def test_a_wrong_command_line_is_told_with_what_would_be_right(words: list[str], right: str) -> None:
    with pytest.raises(Usage, match=right):
        wish(words)


def test_wrong_usage_is_one_line_and_an_exit_code() -> None:
    code, _, said = desktop("--seconds", "0", "--", "app")
    assert (code, len(said.splitlines())) == (USAGE, 1)


@pytest.mark.parametrize(
    "word", ["--version", "-version", "version", "--help", "help", "-v", "-V", "-h", "-?"]
)  # fmt: skip
def test_ways_to_ask_for_version_and_help(word: str) -> None:
    assert wish(["--answers", "app", word]).answers


needs_no_display = pytest.mark.skipif(answers("/tmp/.X11-unix/X99"), reason="this computer has a display :99 itself")


@needs_no_display
def test_without_a_display_nothing_is_started_and_that_is_no_verdict() -> None:
    code, found, _ = desktop("--", sys.executable, "-c", "print('started')")
    assert (code, found["started"], found["output"]) == (NO_DISPLAY, False, "")
    assert found["why"] == "this machine has no virtual display (Xvfb)"


@needs_no_display
def test_a_version_can_be_asked_for_without_a_display() -> None:
    code, found, _ = desktop("--answers", "--", sys.executable, "--version")
    assert (code, found["started"], found["how"], found["display"]) == (CAME_UP, True, "answer", None)
    assert found["output"].startswith("Python 3.")


@needs_no_display
@pytest.mark.parametrize(
    ("program", "why"), [("exit 3", "it ended with exit 3"), ("exit 0", "it printed nothing"), ("echo; ", "it printed")]
)
def test_no_answer_is_none(tmp_path: Path, program: str, why: str) -> None:
    script = tmp_path / "app"
    script.write_text(f"#!/bin/sh\n{program}\n")
    script.chmod(0o755)
    code, found, _ = desktop("--answers", "--", str(script), "--version")
    assert (code, found["started"]) == (DID_NOT, False)
    assert found["why"].startswith(why)


@needs_no_display
def test_a_command_that_does_not_exist_is_told() -> None:
    code, found, _ = desktop("--answers", "--", "no-such-program", "--help")
    assert (code, found["why"]) == (DID_NOT, "no-such-program: No such file or directory")


@pytest.fixture
def say(tmp_path: Path) -> Iterator[Callable[[bytes], str]]:
    """A socket at which a caller hears some bytes and no more; its path, short enough for one."""
    path = os.path.relpath(tmp_path / "s")
    threads: list[threading.Thread] = []
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()

        def once(said: bytes) -> str:
            def answer() -> None:
                there, _ = server.accept()
                with there:
                    there.recv(12)
                    there.sendall(said)

            threads.append(threading.Thread(target=answer))
            threads[-1].start()
            return path

        yield once
        for thread in threads:
            thread.join(10)


def test_where_nothing_listens_no_display_answers(tmp_path: Path) -> None:
    path = os.path.relpath(tmp_path / "s")
    assert not answers(path)
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(path)
        assert not answers(path)


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\n\r\n", REFUSAL, REFUSAL[:9], b"\x01" + b"\0" * 7])
def test_what_is_no_display_does_not_answer(say: Callable[[bytes], str], said: bytes) -> None:
    assert not answers(say(said))


def test_a_refusal_is_told_in_the_displays_own_words(say: Callable[[bytes], str]) -> None:
    with pytest.raises(NoDisplay, match="the display refuses: no access!"):
        Display(say(REFUSAL))
