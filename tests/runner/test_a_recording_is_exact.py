"""The recorder: byte-exact raw file, timing that adds up, a cast that says the same."""

from __future__ import annotations

import codecs
import hmac
import json
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.cast import Helper
from runner.recorder import RECORDING, TERMINAL, TIMING, Recorder, mend

KEY = b"k" * 32


def record(folder: Path, reads: list[bytes]) -> tuple[bytes, list[tuple[int, int]], list]:
    """Raw bytes, timing lines and cast lines of a recording of `reads`."""
    folder.mkdir(parents=True, exist_ok=True)
    recorder = Recorder(folder, KEY, 1_780_000_000)
    for read in reads:
        recorder.feed(read)
    recorder.close()
    return files(folder)


def files(folder: Path) -> tuple[bytes, list[tuple[int, int]], list]:
    timing = [tuple(map(int, line.split())) for line in (folder / TIMING).read_bytes().splitlines()]
    cast = [json.loads(line) for line in (folder / RECORDING).read_bytes().splitlines()]
    return (folder / TERMINAL).read_bytes(), timing, cast


@given(st.lists(st.binary(max_size=40), max_size=12))
def test_raw_timing_and_cast_agree_whatever_the_bytes(tmp_path_factory, reads):
    raw, timing, cast = record(tmp_path_factory.mktemp("r"), reads)
    assert raw == b"".join(reads)
    assert sum(count for _, count in timing) == len(raw)
    assert [at for at, _ in timing] == sorted(at for at, _ in timing)
    assert "".join(event[2] for event in cast[1:]) == codecs.decode(raw, "utf-8", "replace")
    assert all(event[1] == "o" for event in cast[1:])


def test_a_character_split_over_two_reads_is_one_character(tmp_path):
    euro = "€".encode()
    raw, _, cast = record(tmp_path, [b"a" + euro[:1], euro[1:2], euro[2:] + b"b"])
    assert raw == b"a" + euro + b"b"
    assert "".join(event[2] for event in cast[1:]) == "a€b"


def test_bytes_that_are_no_utf8_stay_in_the_raw_file_and_show_as_replacement_characters(tmp_path):
    raw, _, cast = record(tmp_path, [b"\xff\xfe", b"caf\xe9", b"\xe2\x82"])
    assert raw == b"\xff\xfecaf\xe9\xe2\x82"
    assert "".join(event[2] for event in cast[1:]) == "\ufffd\ufffdcaf\ufffd\ufffd"


def test_the_header_is_asciicast_version_2_with_the_stated_size(tmp_path):
    _, _, cast = record(tmp_path, [])
    assert cast == [
        {"version": 2, "width": 120, "height": 40, "timestamp": 1_780_000_000, "env": {"TERM": "xterm-256color"}}
    ]


def test_a_locale_without_utf8_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("LC_ALL", "C")
    _, _, cast = record(tmp_path, ["héé".encode()])
    assert cast[1][2] == "héé"


def test_the_commitment_is_to_what_arrived(tmp_path):
    recorder = Recorder(tmp_path, KEY, 0)
    for piece in (b"one ", b"", b"two\r\n"):
        recorder.feed(piece)
    assert recorder.close() == "hmac-sha256:" + hmac.digest(KEY, b"one two\r\n", "sha256").hex()


@pytest.mark.parametrize("lost", [0, 1, 5, 12, 13, 30])
def test_a_recording_cut_by_a_crash_is_mended_to_what_its_timing_proves(tmp_path, lost):
    reads = [b"one\r\n", "zwölf €".encode(), b"three"]
    record(tmp_path, reads)
    timing = (tmp_path / TIMING).read_bytes()
    (tmp_path / TIMING).write_bytes(timing[: max(0, len(timing) - lost)])
    cast = (tmp_path / RECORDING).read_bytes()
    (tmp_path / RECORDING).write_bytes(cast[: len(cast) - lost])
    assert mend(tmp_path, 7)
    raw, kept, events = files(tmp_path)
    whole = b"".join(reads)
    assert whole.startswith(raw)
    assert len(raw) == sum(count for _, count in kept)
    assert "".join(event[2] for event in events[1:]) == codecs.decode(raw, "utf-8", "replace")
    assert lost or raw == whole


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_leaves_no_file_of_a_recording_open_and_what_fits_is_mended(tmp_path):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(tmp_path)], check=True)
    try:
        recorder = Recorder(tmp_path, KEY, 7)
        for _ in range(9):
            recorder.feed(b"x" * 10_000)
        with pytest.raises(OSError, match="No space left"):
            recorder.close()
        assert all(file.closed for file in (recorder._raw, recorder._timing, recorder._events))
        subprocess.run(["mount", "-o", "remount,size=1m", str(tmp_path)], check=True)
        assert mend(tmp_path, 7)
        raw, timing, cast = files(tmp_path)
        assert raw == b"x" * sum(count for _, count in timing)
        assert "".join(event[2] for event in cast[1:]) == raw.decode()
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)


def test_there_is_nothing_to_mend_before_the_recorder_began(tmp_path):
    assert not mend(tmp_path, 0)


def chatty(monkeypatch, folder: Path) -> Recorder:
    """A recorder that has just handed its cast over to a process of its own, in the middle of a character."""
    monkeypatch.setattr("runner.recorder.ALONE_BYTES", 10)
    recorder = Recorder(folder, KEY, 7)
    recorder.feed("0123456789 €".encode()[:-1])
    assert isinstance(recorder._cast, Helper)
    return recorder


def test_a_chatty_terminal_gives_the_same_cast_as_a_quiet_one(tmp_path, monkeypatch):
    recorder = chatty(monkeypatch, tmp_path)
    rest = ["€".encode()[-1:], b"", b"\x1b[1m\r\n", b"x" * 100_000, b"\xff\xe2\x82"]
    for read in rest:
        recorder.feed(read)
    recorder.close()
    raw, timing, cast = files(tmp_path)
    assert raw == "0123456789 €".encode()[:-1] + b"".join(rest)
    assert "".join(event[2] for event in cast[1:]) == codecs.decode(raw, "utf-8", "replace")
    assert [at for at, _ in timing] == [round(event[0] * 1_000_000) for event in cast[1:-1]]
    assert recorder.size == sum((tmp_path / name).stat().st_size for name in (TERMINAL, TIMING, RECORDING))


def test_a_cast_whose_process_was_killed_is_made_again_from_the_bytes(tmp_path, monkeypatch):
    recorder = chatty(monkeypatch, tmp_path)
    recorder._cast._process.kill()
    recorder._cast._process.wait()
    for _ in range(3):
        recorder.feed(b"y" * 50_000)
    recorder.close()
    raw, _, cast = files(tmp_path)
    assert len(raw) == 150_000 + len("0123456789 €".encode()[:-1])
    assert "".join(event[2] for event in cast[1:]) == codecs.decode(raw, "utf-8", "replace")


def test_ctrl_c_is_for_the_recorder_and_not_for_the_process_that_makes_its_cast(tmp_path, monkeypatch):
    recorder = chatty(monkeypatch, tmp_path)
    assert os.getpgid(recorder._cast._process.pid) != os.getpgid(0)
    recorder.close()
    assert recorder._cast._process.returncode == 0
