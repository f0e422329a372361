"""The process as it is started: what it answers, and that nothing it says holds a value."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from archive.certificate import Certificate
from audit.cleanliness import __main__ as process
from audit.cleanliness import deadline, scanner, views
from tests.cleanliness.escapes import PLAIN, SECRETS, _b64, archive, cast

ROOT = Path(__file__).parents[2]
END = b"\n"
KNOWN = json.dumps(PLAIN).encode() + b"\n" + END


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    where = tmp_path / "served"
    where.mkdir()
    (where / "recording.cast").write_bytes(cast("all is well\r\n"))
    (where / "log.jsonl").write_text('{"event": "said", "text": "hello"}\n')
    return where


def answer(folder: Path, told: bytes = KNOWN) -> tuple[int, list[dict[str, str]], str]:
    """Exit status, reasons and message, without the start of a process."""
    out, trouble = io.StringIO(), io.StringIO()
    status = process.main([str(folder)], io.BytesIO(told), out, trouble)
    assert PLAIN[:8] not in out.getvalue() + trouble.getvalue()
    return status, json.loads(out.getvalue())["withheld"] if out.getvalue() else [], trouble.getvalue()


def test_a_clean_folder_gets_its_certificate(folder: Path) -> None:
    run = subprocess.run([sys.executable, "-m", "audit.cleanliness", str(folder)], input=KNOWN, cwd=ROOT, check=False)
    assert run.returncode == 0
    certificate = Certificate.model_validate_json((folder / "certificate.json").read_bytes())
    assert [(one.name, one.form) for one in certificate.files] == [
        ("log.jsonl", "text"),
        ("recording.cast", "asciicast"),
    ]
    assert certificate.known == 1
    assert certificate.scanner.name == "kingfisher"
    seen = {view.name: view.looked_at for view in certificate.files[1].views}
    assert seen["bytes"] == certificate.files[1].bytes == (folder / "recording.cast").stat().st_size
    assert set(seen) >= {"strings", "joined", "payloads", "stripped", "squeezed", "rendered", "decoded", "scanner"}


def test_a_value_withholds_and_leaves_no_certificate(folder: Path) -> None:
    (folder / "terminal.raw").write_text(f"a\n{PLAIN}\n")
    status, doubts, _ = answer(folder)
    assert status == 3
    assert {"file": "terminal.raw", "view": "bytes", "reason": "a known value, or twelve characters of one"} in doubts
    assert not (folder / "certificate.json").exists()


def test_a_value_in_pieces_of_a_log_is_found(folder: Path) -> None:
    lines = [json.dumps({"type": "delta", "at": at, "text": PLAIN[at : at + 4]}) for at in range(0, 40, 4)]
    (folder / "session.jsonl").write_text("\n".join(lines) + "\n")
    assert {one["view"] for one in answer(folder)[1]} >= {"squeezed"}


@pytest.mark.parametrize("told", [b"", json.dumps(PLAIN).encode(), json.dumps(PLAIN).encode() + b"\n"])
def test_a_list_without_its_end_checks_nothing(folder: Path, told: bytes) -> None:
    status, doubts, message = answer(folder, told)
    assert (status, doubts) == (2, [])
    assert "nothing was checked" in message
    assert not (folder / "certificate.json").exists()


@pytest.mark.parametrize("told", [b'"' + PLAIN.encode() + b"\n\n", b"\xff" + PLAIN.encode() + b"\n\n", b'"short"\n\n'])
def test_a_list_that_cannot_be_read_checks_nothing(folder: Path, told: bytes) -> None:
    status, _, message = answer(folder, told)
    assert status == 2
    assert "line 1 of the known values" in message


@pytest.mark.parametrize(
    ("told", "problem"),
    [
        (b"some-other-value\n\n" + KNOWN, "goes on after its end in line 2"),
        (b"z" * 40 + b"\n" + KNOWN, "line 1 of the known values holds nothing that could be searched"),
    ],
)
def test_a_list_of_which_not_all_would_be_searched_checks_nothing(folder: Path, told: bytes, problem: str) -> None:
    status, _, message = answer(folder, told)
    assert (status, problem in message) == (2, True)
    assert not (folder / "certificate.json").exists()


def test_an_empty_line_in_the_file_of_known_values_hides_none(folder: Path, tmp_path: Path) -> None:
    known = tmp_path / "known"
    known.write_text(f"some-other-value\n\n  \n{PLAIN}\n")
    (folder / "a.txt").write_text(PLAIN)
    command = [sys.executable, "argusic.py", "evidence", "check", "--known", str(known), str(folder)]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 3


def test_plain_lines_are_values_too(folder: Path) -> None:
    (folder / "a.txt").write_text(PLAIN)
    assert answer(folder, PLAIN.encode() + b"\n\n")[0] == 3


def test_without_the_scanner_nothing_is_proven(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanner.importlib.util, "find_spec", lambda _: None)
    status, doubts, _ = answer(folder)
    assert status == 3
    assert {(one["view"], one["reason"]) for one in doubts} == {("scanner", "kingfisher is not installed")}


@pytest.mark.parametrize("program", ["exit 3", "echo no JSON", 'echo "{}"; exit 0', "kill -9 $$"])
def test_a_scanner_that_fails_proves_nothing(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    broken = tmp_path / "broken"
    broken.write_text(f"#!/bin/sh\n{program}\n")
    broken.chmod(0o755)
    monkeypatch.setattr(scanner, "binary", lambda: str(broken))
    status, doubts, _ = answer(folder)
    assert status == 3
    assert {one["view"] for one in doubts} == {"scanner"}


def test_the_scanner_finds_what_we_do_not(folder: Path) -> None:
    token = "rubygems" + "_" + SECRETS["hex"][:48]
    (folder / "a.txt").write_text(f"x\n{token}\n")
    _, doubts, _ = answer(folder)
    assert {(one["file"], one["view"]) for one in doubts} == {("a.txt", "bytes"), ("a.txt", "stripped")}
    assert "rubygems" in doubts[0]["reason"]


@pytest.mark.parametrize("begins", [b"\xff\xfe", b"\xfe\xff", b"PK\x03\x04" + bytes(30), b"\x1f\x8b\x08\0", bytes(9)])
def test_no_beginning_of_a_file_blinds_the_scanner(folder: Path, begins: bytes) -> None:
    (folder / "a.txt").write_bytes(begins)
    assert answer(folder)[0] == 0
    (folder / "b.txt").write_text("rubygems" + "_" + SECRETS["hex"][:48])
    assert {one["file"] for one in answer(folder)[1]} >= {"b.txt"}


def test_a_bomb_withholds(folder: Path) -> None:
    (folder / "recording.cast").write_bytes(cast(_b64(archive(40 << 20))))
    status, doubts, _ = answer(folder)
    assert status == 3
    assert ("decoded", "something compressed unfolds to more than 16 MB") in {(d["view"], d["reason"]) for d in doubts}


def test_what_is_encoded_too_often_withholds(folder: Path) -> None:
    text = "nothing but a sentence that is written down over and over again. " * 3
    for _ in range(5):
        text = _b64(text)
    (folder / "a.txt").write_text(text)
    assert "more than 3 times" in str(answer(folder)[1])


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (b'[9.5,"o","cut', "the last line is cut off"),
        (b'[9.5,"o","cut\n', "line 4 is no JSON"),
        (b'[9.5,"o"]\n', "line 4 is no event"),
        (b'["9","o","x"]\n', "line 4 is no event"),
        (b'[9.5,"z","x"]\n', "line 4 is an event of a kind that players do not show"),
        (b"\n", "line 4 is no JSON"),
    ],
)
def test_a_torn_recording_withholds(folder: Path, end: bytes, reason: str) -> None:
    whole = cast()
    (folder / "recording.cast").write_bytes(whole + end)
    doubts = answer(folder)[1]
    assert {"file": "recording.cast", "view": "joined", "reason": reason} in doubts


def test_another_look_compares_with_the_certificate(folder: Path) -> None:
    assert answer(folder)[0] == 0
    assert answer(folder)[0] == 0
    (folder / "log.jsonl").write_text("{}\n")
    (folder / "recording.cast").unlink()
    (folder / "new.txt").write_text("new\n")
    status, doubts, _ = answer(folder)
    assert status == 3
    assert [(one["file"], one["reason"]) for one in doubts] == [
        ("log.jsonl", "was changed"),
        ("new.txt", "is not in the certificate"),
        ("recording.cast", "is gone"),
    ]


def test_a_folder_must_hold_files_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert answer(tmp_path / "empty")[0] == 2
    assert answer(tmp_path / "none")[0] == 2
    (folder / "link").symlink_to("log.jsonl")
    assert answer(folder)[0] == 2


def test_a_name_is_read_too(folder: Path) -> None:
    (folder / f"{PLAIN}.txt").write_text("x")
    assert answer(folder)[1] == [{"file": ".", "view": "name", "reason": "the name of a file holds a value or a token"}]


def test_a_name_that_no_certificate_can_hold_is_no_input(folder: Path) -> None:
    (folder / "a b.txt").write_text("x")
    assert answer(folder)[0] == 2


def test_a_file_that_cannot_be_read_is_no_input(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refused)
    assert answer(folder) == (2, [], "log.jsonl cannot be read\n")


def test_a_check_that_breaks_off_withholds_and_says_nothing_of_what_it_saw(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "recording.cast").write_bytes(cast(PLAIN))

    def broken(text: str) -> str:
        raise ValueError(text)

    monkeypatch.setattr(views.escapes, "mended", broken)
    status, doubts, message = answer(folder)
    assert (status, message) == (3, "")
    assert [(one["file"], one["view"]) for one in doubts] == [(".", "all")]
    assert doubts[0]["reason"].startswith("the check broke off: ValueError in test_a_folder")


def test_a_check_that_takes_too_long_withholds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(_: str) -> str:
        while True:
            pass

    monkeypatch.setattr(views.escapes, "mended", endless)
    monkeypatch.setattr(deadline, "AT_LEAST", 0.5)
    assert answer(folder)[1] == [{"file": ".", "view": "all", "reason": "takes longer than a check may"}]


def test_a_view_whose_process_is_killed_withholds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> str:
        os.kill(os.getpid(), signal.SIGKILL)
        return ""

    monkeypatch.setattr(views, "rendered", killed)
    status, doubts, _ = answer(folder)
    assert status == 3
    assert {one["reason"] for one in doubts} == {"the process of this view ended before its work"}


def test_a_view_that_breaks_off_in_its_process_says_nothing_of_what_it_saw(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "recording.cast").write_bytes(cast("all is well", PLAIN[:11]))

    def broken(text: str, *_: object) -> str:
        raise KeyError(text)

    monkeypatch.setattr(views, "rendered", broken)
    status, doubts, _ = answer(folder)
    assert status == 3
    assert "KeyError" in str(doubts)
    assert PLAIN[:8] not in str(doubts) + "".join(capfd.readouterr())


def test_no_room_is_no_answer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "certificate.json")

    monkeypatch.setattr(process.atomic, "write", full)
    assert answer(folder) == (4, [], "certificate.json: No space left on device\n")


def test_the_command_says_what_it_found(folder: Path, tmp_path: Path) -> None:
    known = tmp_path / "known"
    known.write_text(PLAIN + "\n")
    command = [sys.executable, "argusic.py", "evidence", "check", "--known", str(known), str(folder)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    (folder / "a.txt").write_text(PLAIN)
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 3
    assert "a.txt" in run.stdout
    assert PLAIN[:8] not in run.stdout + run.stderr
