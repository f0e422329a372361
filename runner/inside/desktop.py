"""`argusic-desktop -- COMMAND [ARGS...]`: start a desktop application on the virtual display and say if it came up.

    argusic-desktop [--display-size WxH] [--seconds N] [--within N] -- COMMAND [ARGS...]
    argusic-desktop --answers -- COMMAND --version

The first starts the display :99 where none runs, and COMMAND on it. It came up when a window could be seen within
`--within` seconds (60) and one could be seen ever after for `--seconds` seconds (5), with the main process or one that
it started still there. The application and the display go on running; nothing is clicked.
The second runs a request for the version or the help: answered when it ended with 0 and printed something.

Standard output is one JSON object:
    {"started", "how", "why", "display", "pid", "exit", "windows": [{"id", "title", "width", "height", "pid"}],
     "output": the end of what it printed, "log": the file with all of it}
with null for what is not so. For other commands that need the display: DISPLAY=:99 COMMAND.
Exit codes: 0 it came up, or answered; 1 it did not; 2 wrong usage; 3 no display can be had.
"""

import sys
from pathlib import Path

if not __package__:  # started by its path: start again as a module, which ends the process; relative imports need that
    import runpy

    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    runpy.run_module("inside.desktop", run_name="__main__", alter_sys=True)

import argparse
import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass, field

from .display import Display, NoDisplay, Window, answers

CAME_UP, DID_NOT, USAGE, NO_DISPLAY = 0, 1, 2, 3
NAME = ":99"
SOCKET = "/tmp/.X11-unix/X99"
SIZE = "1280x800"
SMALLEST, LARGEST = 64, 4096
DISPLAY_SECONDS = 20.0
ANSWER_SECONDS = 60.0
LOOK_SECONDS = 0.25
MAX_OUTPUT = 4000
ASKS = re.compile(r"-?-?(version|help)|-[vVh]|-\?")
"""Words by which a program is asked for its version or its help."""
PR_SET_CHILD_SUBREAPER = 36


class Usage(ValueError):
    """The command line is not right; what would be."""


@dataclass
class Seen:
    """What was seen, in the form that is printed."""

    started: bool = False
    how: str | None = None
    why: str | None = None
    display: str | None = None
    pid: int | None = None
    exit: int | None = None
    windows: list[Window] = field(default_factory=list)
    output: str = ""
    log: str | None = None


@dataclass(frozen=True)
class Wish:
    """What the command line asks for."""

    command: list[str]
    answers: bool = False
    size: str = SIZE
    seconds: float = 5.0
    within: float = 60.0


def wish(arguments: list[str]) -> Wish:
    """Reads the command line. Raises Usage."""
    parser = argparse.ArgumentParser(prog="argusic-desktop", add_help=False, exit_on_error=False, allow_abbrev=False)
    parser.add_argument("--answers", action="store_true")
    parser.add_argument("--display-size", default=SIZE)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--within", type=float, default=60.0)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    try:
        found = parser.parse_args(arguments)
    except argparse.ArgumentError as error:
        raise Usage(str(error)) from None
    command = found.command[1:] if found.command[:1] == ["--"] else found.command
    sides = re.fullmatch(r"(\d{2,4})x(\d{2,4})", found.display_size)
    if not command:
        raise Usage("give the command: argusic-desktop [OPTIONS] -- COMMAND [ARGS...]")
    if not sides or not all(SMALLEST <= int(side) <= LARGEST for side in sides.groups()):
        raise Usage(f"--display-size: WIDTHxHEIGHT, each from {SMALLEST} to {LARGEST}, as {SIZE}")
    if not (0 < found.seconds <= 600 and 0 < found.within <= 3600):
        raise Usage("--seconds: more than 0, at most 600; --within: more than 0, at most 3600")
    if found.answers and not any(ASKS.fullmatch(word) for word in command[1:]):
        raise Usage("--answers: the command must ask for the version or the help, as COMMAND --version")
    return Wish(command, found.answers, found.display_size, found.seconds, found.within)


def raise_display(size: str) -> int | None:
    """Makes sure that the display is there; the process that was started for it. Raises NoDisplay."""
    if answers(SOCKET):
        return None
    program = shutil.which("Xvfb")
    if program is None:
        raise NoDisplay("this machine has no virtual display (Xvfb)")
    Path(SOCKET).parent.mkdir(mode=0o1777, exist_ok=True)
    # Without -noreset it would start anew whenever its last program has gone. Nothing but its socket file: another
    # machine on the same network must not answer in its place.
    words = ["-screen", "0", f"{size}x24", "-noreset", "-ac", "-nolisten", "tcp", "-nolisten", "local"]
    with tempfile.TemporaryFile() as said:
        process = _start([program, NAME, *words], said.fileno())
        until = time.monotonic() + DISPLAY_SECONDS
        while not answers(SOCKET):
            if process.poll() is not None or time.monotonic() > until:
                process.kill()
                said.seek(0)
                raise NoDisplay(f"the display did not start: {said.read(1000).decode(errors='replace').strip()}")
            time.sleep(0.02)
    return process.pid


def come_up(wish: Wish, seen: Seen) -> None:
    """Starts the application and looks for its windows until it has stayed, has ended, or its time is over."""
    server = raise_display(wish.size)
    seen.display = NAME
    before = {window.id for window in windows()}
    # What it starts and leaves behind becomes a child of this process and is still known to be its own.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    process = _application(wish.command, seen)
    if process is None:
        return
    began = time.monotonic()
    since: float | None = None
    while True:
        time.sleep(LOOK_SECONDS)
        # In this order: a window of a program that has ended by now is not taken for one that stays.
        seen.windows = [window for window in windows() if window.id not in before]
        seen.exit = process.poll()
        now = time.monotonic()
        if not _alive(process.pid, server):
            seen.why = f"it ended (exit {seen.exit}) {'without a window' if since is None else 'and did not stay'}"
            return
        if not seen.windows:
            since = None
        elif since is None:
            since = now
        elif now - since >= wish.seconds:
            seen.started, seen.how = True, "window"
            return
        if since is None and now - began >= wish.within:
            seen.why = f"no window could be seen within {wish.within:g} seconds; it still runs"
            return


def answer(wish: Wish, seen: Seen) -> None:
    """Asks for the version or the help. Some programs want a display even for that: it is there where it can be."""
    with contextlib.suppress(NoDisplay):
        raise_display(wish.size)
        seen.display = NAME
    process = _application(wish.command, seen)
    if process is None:
        return
    try:
        seen.exit = process.wait(ANSWER_SECONDS)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        seen.why = f"no answer within {ANSWER_SECONDS:g} seconds"
        return
    if seen.exit:
        seen.why = f"it ended with exit {seen.exit}"
    elif not _end(seen.log).strip():
        seen.why = "it printed nothing"
    else:
        seen.started, seen.how = True, "answer"


def _application(command: list[str], seen: Seen) -> "subprocess.Popen[bytes] | None":
    """The application, with what it prints in a file; None, and the reason noted, where it cannot be started."""
    try:
        process = _start(command, _log(seen))
    except OSError as error:
        seen.why = f"{command[0]}: {error.strerror}"
        return None
    seen.pid = process.pid
    return process


def windows() -> list[Window]:
    """All that can be seen on the display. Raises NoDisplay."""
    with Display(SOCKET) as display:
        return display.windows()


def _start(command: list[str], output: int) -> "subprocess.Popen[bytes]":
    """A process in a session of its own: it lives on when this one, and the terminal, have gone."""
    env = {**os.environ, "DISPLAY": NAME}
    if "XDG_RUNTIME_DIR" not in env:
        env["XDG_RUNTIME_DIR"] = f"/tmp/runtime-{os.getuid()}"
        with contextlib.suppress(OSError):
            Path(env["XDG_RUNTIME_DIR"]).mkdir(mode=0o700, exist_ok=True)
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=env, start_new_session=True
    )


def _log(seen: Seen) -> int:
    """A file for what the application prints: it may print for as long as it runs."""
    handle, seen.log = tempfile.mkstemp(prefix="argusic-desktop-", suffix=".log")
    return handle


def _end(log: str | None) -> str:
    if log is None:
        return ""
    with open(log, "rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - MAX_OUTPUT))
        return file.read().decode(errors="replace")


def _alive(main: int, server: int | None) -> bool:
    """Whether the application, or anything that it started, still runs. Takes note of what has ended."""
    with contextlib.suppress(ChildProcessError):
        while True:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if found is None or found.si_pid in (main, server):
                break
            os.waitpid(found.si_pid, 0)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            state, parent = stat.read_text(errors="replace").rpartition(")")[2].split()[:2]
            if int(parent) == os.getpid() and int(stat.parent.name) != server and state not in "ZX":
                return True
    return False


def main(arguments: list[str]) -> int:
    seen, code = Seen(), DID_NOT
    try:
        wanted = wish(arguments)
    except Usage as error:
        print(f"argusic-desktop: {error}", file=sys.stderr)
        return USAGE
    try:
        (answer if wanted.answers else come_up)(wanted, seen)
        code = CAME_UP if seen.started else DID_NOT
    except NoDisplay as error:
        seen.why, code = str(error), NO_DISPLAY
    seen.output = _end(seen.log)
    print(json.dumps(asdict(seen), indent=2))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
