"""A virtual display in a machine: an application comes up on it or does not, and what was on it is evidence."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator

import pytest

from archive.errors import MachineError
from runner.machine import INSIDE, LIMITS, spec
from runner.sandbox import FIRST, Machine, Mount, Sandbox, bubblewrap_command, container
from runner.sandbox.container import Docker
from runner.watch import run
from tests.runner.conftest import shell, wait_for
from tests.runner.scripted import bench, report

pytestmark = pytest.mark.sandbox
IMAGE = "argusic/machine:desktop"
WINDOW = """cat > app.py <<'P'
import tkinter
root = tkinter.Tk()
root.title("a window")
tkinter.Label(root, text="a label", width=40, height=10, bg="orange").pack()
root.after(LIFE, root.destroy)
root.mainloop()
P
"""
STAYS, GOES = WINDOW.replace("LIFE", "600000"), WINDOW.replace("LIFE", "700")
NAMES = "ls /argusic/harness"
FILM = "/argusic/harness/session-1.mp4"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(params=["bubblewrap", "docker"])
def sandbox(request, sandboxes, tmp_path_factory) -> Sandbox:
    """A sandbox whose machines have a display and what films it."""
    found: Sandbox = sandboxes(request.param)
    if request.param == "docker":
        try:
            found = Docker(tmp_path_factory.mktemp("machines"), IMAGE)
        except MachineError as error:
            pytest.skip(f"no image with a display here: {error}")
        return found
    machine = found.start(spec(found, (), None, LIMITS))
    try:
        status, said = shell(machine, "command -v Xvfb && test -x /usr/bin/ffmpeg && python3 -c 'import tkinter'")
    finally:
        machine.destroy()
    if status:
        pytest.skip(f"no Xvfb, ffmpeg and tkinter on this computer, which bubblewrap shares: {said.strip()[-60:]}")
    return found


@pytest.fixture
def machine(sandbox) -> Iterator[Machine]:
    made = sandbox.start(spec(sandbox, (Mount(INSIDE, "/argusic/inside"),), None, LIMITS)._replace(network="none"))
    yield made
    made.destroy()


def told(said: str) -> dict:  # type: ignore[type-arg]
    return json.loads(said[said.index("{") :])  # type: ignore[no-any-return]


def decodes(machine: Machine, path: str = FILM) -> int:
    """Pictures in a film, all of them decoded."""
    count = "-count_frames -select_streams v:0 -show_entries stream=nb_read_frames -of csv=p=0"
    status, said = shell(machine, f"ffprobe -v error {count} {path}", 60)
    assert (status, said.strip().isdigit()) == (0, True), said
    return int(said)


def until(machine: Machine, command: str) -> None:
    end = time.monotonic() + 20
    while shell(machine, command)[0]:
        assert time.monotonic() < end, command
        time.sleep(0.1)


def test_a_window_that_comes_up_and_stays_is_a_start_and_goes_on_running(machine):
    status, said = shell(machine, STAYS + "argusic-desktop --seconds 1 -- python3 app.py", 60)
    found = told(said)
    assert (status, found["started"], found["how"], found["display"]) == (0, True, "window", ":99")
    assert [window["title"] for window in found["windows"]] == ["a window"]
    assert shell(machine, f"kill -0 {found['pid']}")[0] == 0
    assert "a window" in shell(machine, "DISPLAY=:99 xwininfo -root -tree")[1]


def test_a_program_that_ends_at_once_did_not_start_and_its_words_are_shown(machine):
    status, said = shell(machine, "argusic-desktop -- sh -c 'echo no library >&2; exit 3'", 60)
    found = told(said)
    assert (status, found["started"], found["exit"], found["output"]) == (1, False, 3, "no library\n")
    assert found["why"] == "it ended (exit 3) without a window"


def test_a_window_that_goes_with_its_program_did_not_stay(machine):
    status, said = shell(machine, GOES + "argusic-desktop --seconds 3 -- python3 app.py", 60)
    assert (status, told(said)["started"]) == (1, False)


def test_a_program_without_a_window_did_not_come_up(machine):
    status, said = shell(machine, "argusic-desktop --within 1 -- sleep 60", 60)
    assert (status, told(said)["why"]) == (1, "no window could be seen within 1 seconds; it still runs")


def test_a_launcher_that_leaves_the_application_behind_started_it(machine):
    status, said = shell(machine, STAYS + "argusic-desktop --seconds 1 -- sh -c 'setsid python3 app.py & exit 0'", 60)
    found = told(said)
    assert (status, found["started"], found["exit"]) == (0, True, 0)


def test_a_request_for_the_version_that_is_answered_is_a_start(machine):
    status, said = shell(machine, "argusic-desktop --answers -- ffmpeg -version", 60)
    assert (status, told(said)["how"]) == (0, "answer")
    assert "ffmpeg version" in told(said)["output"]
    assert shell(machine, "argusic-desktop --answers -- false --version", 60)[0] == 1


def test_an_application_that_was_started_does_not_hold_the_terminal(machine):
    ended, _ = run(
        machine.exec(["sh", "-c", STAYS + "argusic-desktop --seconds 1 -- python3 app.py | cat"]),
        seconds=60,
        most_bytes=1 << 20,
    )
    assert (ended.by, ended.exit) == ("agent", 0)


def test_without_a_display_nothing_is_filmed(machine):
    shell(machine, "sleep 1")
    used = machine.stop()
    assert (used.films, used.film_trouble) == ((), ())


def test_a_film_ends_with_the_machines_processes_and_is_whole(machine):
    shell(machine, STAYS + "argusic-desktop --seconds 2 -- python3 app.py", 60)
    began = time.monotonic()
    used = machine.stop()
    assert time.monotonic() - began < 20
    assert ([film.path for film in used.films], used.film_trouble) == ([FILM], ())
    assert decodes(machine) > 15
    # The agent's processes alone are counted: the shell, the display, the application, the command that watches it.
    assert used.peak_processes <= 5


def test_a_film_that_was_cut_off_decodes_up_to_there(machine):
    shell(machine, STAYS + "argusic-desktop --seconds 4 -- python3 app.py; pkill -STOP Xvfb", 60)
    # A display that does not answer holds the film: it cannot end by itself.
    shell(machine, "sleep 0.5")
    assert [film.path for film in machine.stop().films] == [FILM]
    assert decodes(machine) >= 20


def test_a_display_that_goes_ends_its_film_and_the_next_one_is_another(machine):
    shell(machine, "argusic-desktop --seconds 1 --within 1 -- sleep 60", 60)
    until(machine, f"test -s {FILM}")
    shell(machine, "pkill -KILL Xvfb; sleep 1; argusic-desktop --within 2 -- sleep 60", 60)
    used = machine.stop()
    assert (len(used.films), used.film_trouble) == (2, ())
    assert decodes(machine) > 0
    assert decodes(machine, used.films[1].path) > 0


@pytest.mark.parametrize("sandbox", ["docker"], indirect=True)  # In bubblewrap there is one user, who could.
def test_the_agent_can_neither_end_nor_change_the_film(machine):
    shell(machine, "argusic-desktop --within 1 -- sleep 60", 60)
    until(machine, f"test -s {FILM}")
    attack = (
        "p=$(pidof ffmpeg); kill -9 $p; kill -STOP $p; kill -INT $p; ls /proc/$p/fd; echo x > " + FILM + "; "
        "rm -f " + FILM + "; mv /argusic/harness /argusic/other; touch /argusic/harness/session-2.mp4; "
        "chmod 777 /argusic/harness; kill -0 $p; ls -l /proc/$p/exe; pidof ffmpeg"
    )
    status, said = shell(machine, attack)
    assert (status, said.splitlines()[-1].isdigit()) == (0, True)
    assert said.count("Operation not permitted") >= 4
    assert said.count("ermission denied") >= 3
    used = machine.stop()
    assert ([film.path for film in used.films], used.film_trouble) == ([FILM], ())
    assert decodes(machine) > 5


@pytest.mark.parametrize("sandbox", ["docker"], indirect=True)  # In bubblewrap the film has a disk of its own.
def test_a_disk_that_the_agent_has_filled_leaves_room_for_the_film(sandbox):
    small = LIMITS._replace(disk_bytes=64 << 20)
    one = sandbox.start(spec(sandbox, (Mount(INSIDE, "/argusic/inside"),), None, small)._replace(network="none"))
    try:
        shell(one, "argusic-desktop --within 1 -- sleep 60", 60)
        shell(one, "cat /dev/zero > /home/agent/a; dd if=/dev/zero of=/home/agent/b bs=1k; sleep 3", 60)
        used = one.stop()
        assert used.disk_full
        assert used.film_trouble == ()
        assert decodes(one) > 30
    finally:
        one.destroy()


def test_a_display_that_cannot_be_filmed_is_told(machine):
    listen = "import socket, time; s = socket.socket(socket.AF_UNIX); s.bind('/tmp/.X11-unix/X99'); s.listen(); "
    session = machine.exec(["sh", "-c", f'mkdir -p /tmp/.X11-unix; python3 -c "{listen}print(1, flush=True)\n'
                            'while True: s.accept()[0].close()"'])  # fmt: skip
    wait_for(session, b"1")
    until(machine, f"test ! -s {FILM} && test -e /argusic/harness/said && sleep 2")
    used = machine.stop()
    assert [kind for kind, _ in used.film_trouble] == ["video-lost"]
    assert "display" in used.film_trouble[0][1]


def test_a_film_that_reaches_its_ceiling_ends_there_decodes_and_is_told(sandbox, tmp_path, monkeypatch):
    shutil.copytree(FIRST, tmp_path / "first", ignore=shutil.ignore_patterns("__pycache__"))
    program = (FIRST / "film.py").read_text()
    for name, value, small in (("FILM_BYTES", "300 << 20", "6000"), ("FILM_END_BYTES", "1 << 20", "3000")):
        assert f"{name} = {value}\n" in program
        program = program.replace(f"{name} = {value}\n", f"{name} = {small}\n")
    (tmp_path / "first/film.py").write_text(program)
    for place in (container, bubblewrap_command):
        monkeypatch.setattr(place, "FIRST", tmp_path / "first")
    one = sandbox.start(spec(sandbox, (Mount(INSIDE, "/argusic/inside"),), None, LIMITS)._replace(network="none"))
    try:
        shell(one, "argusic-desktop --within 1 -- sleep 60; sleep 6", 60)
        used = one.stop()
        assert ([kind for kind, _ in used.film_trouble], len(used.films)) == (["video-ceiling"], 1)
        assert 5000 < used.films[0].bytes < 20_000
        assert decodes(one) > 0
    finally:
        one.destroy()


@pytest.fixture
def one(tmp_path, sandbox, monkeypatch):
    return bench(tmp_path, sandbox, monkeypatch)


def test_an_attempt_keeps_the_video_and_its_last_picture(one):
    record = one.make(STAYS + "argusic-desktop --seconds 2 -- python3 app.py\n" + report())
    kinds = {item.role: item.media_type for item in record.evidence}
    assert (kinds["video"], kinds["screenshot"]) == ("video/mp4", "image/png")
    assert record.incidents == ()
    assert '"started": true' in one.text(record, "terminal")
    store = one.condition.store
    assert store.read(record.file("screenshot").digest).startswith(PNG)
    assert b"ftyp" in store.read(record.file("video").digest)[:12]


def test_an_attempt_without_a_display_has_neither(one):
    record = one.make("true")
    assert {"video", "screenshot"}.isdisjoint(item.role for item in record.evidence)
    assert record.incidents == ()
