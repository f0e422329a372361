"""One clear message each, and nothing half-written or left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from archive.errors import DataError, MachineError
from runner.image import build, system
from runner.image.command import explained, run
from runner.image.workplace import workplace

ARGUSIC = str(Path(sys.executable).with_name("argusic"))


def argusic(root: Path, *words: str, **env: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [ARGUSIC, "--root", str(root), "image", "build", *words],
        env=os.environ | env,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout, done.stderr


def test_without_mmdebstrap_it_names_the_package_and_the_other_way(tmp_path: Path) -> None:
    status, said, error = argusic(tmp_path, "--variant", "slim", "--no-load", PATH=str(tmp_path))
    assert (status, said) == (4, "")
    assert error.startswith("error: mmdebstrap is not installed; on Debian and Ubuntu: apt-get install mmdebstrap.")
    assert "runner/image/Dockerfile" in error
    assert list(tmp_path.iterdir()) == []


def test_without_an_engine_and_without_a_file_nothing_is_built(tmp_path: Path) -> None:
    status, _, error = argusic(tmp_path, "--variant", "slim", DOCKER_HOST=f"unix://{tmp_path}/none")
    assert status == 4
    assert error.startswith("error: no container engine can be reached: no engine listens there")
    assert error.rstrip().endswith("or keep the image as a file: --out FILE.tar")


def test_an_unknown_variant_names_the_known_ones(tmp_path: Path) -> None:
    status, _, error = argusic(tmp_path, "--variant", "huge", "--no-load")
    assert status == 2
    assert "variant.huge: no such variant, or it extends itself; there are: slim, desktop, full" in error


def test_a_place_for_the_archive_that_is_none_is_refused_before_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system, "missing", lambda: None)
    for place in (tmp_path, tmp_path / "nowhere/image.tar"):
        with pytest.raises(DataError, match="--out: must be a file in a folder that there is"):
            build.build("slim", "a:b", place, None)


def test_a_user_who_is_not_root_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "mmdebstrap"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert (system.missing() or "").startswith("a system is unpacked by root only")


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ("E: Failed to fetch x  Temporary failure resolving 'm'\nE: apt-get failed", "is there a network?"),
        ("dpkg: error: failed to write: No space left on device\nE: run failed", "the disk is full"),
        ("E: Unable to locate package nftable", "the suite has no such package; correct variants.toml"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM", "not the one that constraints.txt names by its hash"),
        ("ERROR: [SSL: CERTIFICATE_VERIFY_FAILED] failed to establish", "the network intercepts TLS"),
        ("something else", "ended with 3: something else"),
        ("", "it said nothing"),
    ],
)
def test_a_failed_program_is_explained_in_one_line(said: str, means: str) -> None:
    message = explained("/usr/bin/mmdebstrap", 3, said)
    assert message.startswith("mmdebstrap ended with 3: ")
    assert means in message
    assert "\n" not in message


def test_no_room_is_said_before_anything_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with pytest.raises(MachineError, match=r"no room to build in: 999999999 MB are needed .* tried .* MB free"):
        with workplace(999_999_999):
            pytest.fail("there is no such disk")
    assert list(tmp_path.iterdir()) == []


WAITS = """\
import signal, sys, time
from pathlib import Path
# Whoever starts the tests in the background makes them ignore it, and a shell cannot trap what it was begun without.
signal.signal(signal.SIGINT, signal.default_int_handler)
from runner.image.command import run
from runner.image.workplace import workplace
with workplace(1) as place:
    (place / "half").write_text("written")
    (place / "folder").mkdir()
    print(place, flush=True)
    wait = f"trap 'echo ended > {sys.argv[1]}; exit 1' INT; echo > {sys.argv[1]}.ready; while :; do sleep 0.05; done"
    run(["sh", "-c", wait], {"PATH": "/usr/bin:/bin"})
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_build_ends_its_programs_and_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    work = tmp_path / "work"
    work.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", WAITS, str(tmp_path / "ended")],
        env=os.environ | {"TMPDIR": str(work)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    place = Path(process.stdout.readline().strip())
    assert place.parent == work
    until = time.monotonic() + 30
    while not (tmp_path / "ended.ready").exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    time.sleep(0.3)  # Until whoever started the program waits for it.
    process.send_signal(number)
    process.wait(20)
    assert (tmp_path / "ended").read_text() == "ended\n"
    assert list(work.iterdir()) == []


def test_a_program_gets_no_terminal_and_only_the_environment_it_is_given() -> None:
    assert run(["/bin/sh", "-c", "cat; umask; env"], {"A": "1"}).split("\n")[0] == "0022"
    assert "HOME=" not in run(["/usr/bin/env"], {"A": "1"})
