"""The recording shows what the terminal gave, byte for byte and moment for moment (MEASUREMENT §10)."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.recording import LINE_LIMIT, READ_LIMIT, Differs, recording
from runner.recorder import RECORDING, TERMINAL, TIMING, Recorder, mend
from tests.audit.making import SESSION, event, session

Files = dict[str, bytes]


def compared(folder: Path, files: Files) -> int:
    for role, data in files.items():
        (folder / role).write_bytes(data)
    return recording(folder / "recording", folder / "terminal", folder / "timing")


def refused(folder: Path, files: Files) -> Differs:
    with pytest.raises(Differs) as caught:
        compared(folder, files)
    return caught.value


def test_a_session_with_cut_characters_and_stray_bytes_agrees(tmp_path: Path) -> None:
    assert compared(tmp_path, session(SESSION)) == 7


def test_a_silent_session_agrees(tmp_path: Path) -> None:
    assert compared(tmp_path, session([])) == 0


def test_the_rest_of_a_cut_character_may_stand_with_the_last_event(tmp_path: Path) -> None:
    files = session([(5, b"ab\xe2\x82")])
    assert compared(tmp_path, files) == 2
    joined = files["recording"].split(b"\n")[0] + b"\n" + event(5, "ab\ufffd").encode() + b"\n"
    assert compared(tmp_path, files | {"recording": joined}) == 1


@given(st.lists(st.tuples(st.integers(0, 10**7), st.binary(min_size=1, max_size=30)), max_size=12))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_in_any_reads_agree(tmp_path: Path, reads: list[tuple[int, bytes]]) -> None:
    files = session(sorted(reads, key=lambda read: read[0]))
    assert compared(tmp_path, files) == files["recording"].count(b"\n") - 1


@given(reads=st.lists(st.binary(max_size=40), max_size=10))
@settings(max_examples=50)
def test_what_the_recorder_writes_agrees(tmp_path_factory: pytest.TempPathFactory, reads: list[bytes]) -> None:
    folder = tmp_path_factory.mktemp("recorded")
    recorder = Recorder(folder, b"key", 1_796_000_000)
    for data in reads:
        recorder.feed(b"$ " + data)
        recorder.feed(b"\xc3")
    recorder.close()
    events = (folder / RECORDING).read_bytes().count(b"\n") - 1
    assert recording(folder / RECORDING, folder / TERMINAL, folder / TIMING) == events


@pytest.mark.parametrize("lost", [0, 1, 5, 40])
def test_what_a_killed_recorder_left_agrees_once_it_is_mended(tmp_path: Path, lost: int) -> None:
    recorder = Recorder(tmp_path, b"key", 1_796_000_000)
    for _, data in SESSION:
        recorder.feed(data)
    recorder.close()
    for name in (TERMINAL, TIMING, RECORDING):
        data = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(data[: len(data) - lost])
    assert mend(tmp_path, 1_796_000_000)
    recording(tmp_path / RECORDING, tmp_path / TERMINAL, tmp_path / TIMING)


def still_a_header(cast: bytes) -> bool:
    try:
        header = json.loads(cast.split(b"\n")[0])
    except ValueError:
        return False
    facts = (header.get("version"), header.get("width"), header.get("height"))
    return facts == (2, 120, 40) and isinstance(header.get("timestamp"), int)


@pytest.mark.parametrize("role", ["terminal", "timing", "recording"])
def test_any_other_byte_is_noticed_in_one_of_the_three(tmp_path: Path, role: str) -> None:
    files = session([(1_000, "añ\r\n".encode()), (2_500_000, b"b\xffc")])
    for place in range(len(files[role])):
        changed = files[role][:place] + bytes([files[role][place] ^ 0x01]) + files[role][place + 1 :]
        if role == "recording" and place < files[role].index(b"\n") and still_a_header(changed):
            continue  # its other facts are held by the digest alone
        if role == "terminal" and changed[place : place + 1] in b"\xfe\xfd":
            continue  # shown by the same U+FFFD
        assert str(refused(tmp_path, files | {role: changed}))


@pytest.mark.parametrize(
    ("change", "role", "said"),
    [
        (lambda f: f | {"terminal": f["terminal"] + b"x"}, "timing", "accounts for"),
        (lambda f: f | {"terminal": f["terminal"][:-1]}, "timing", "more bytes than the terminal gave"),
        (lambda f: f | {"timing": f["timing"] + b"99000000 1\n"}, "timing", "more bytes"),
        (lambda f: f | {"timing": b"5000 0\n" + f["timing"]}, "timing", "line 1 is not"),
        (lambda f: f | {"timing": f["timing"].replace(b"1000 ", b"+1000 ", 1)}, "timing", "line 1 is not"),
        (lambda f: f | {"timing": f["timing"].replace(b"1000 23\n", b"1000 23\r\n", 1)}, "timing", "line 1 is not"),
        (lambda f: f | {"timing": f["timing"].replace(b"250000 ", b"100 ", 1)}, "timing", "back in time"),
        (lambda f: f | {"timing": f["timing"][:-1]}, "timing", "cut off"),
        (lambda f: f | {"recording": f["recording"][:-1]}, "recording", "cut off"),
        (lambda f: f | {"recording": f["recording"] + event(61_000_001, "x").encode() + b"\n"}, "recording", "goes on"),
        (lambda f: f | {"recording": b"".join(f["recording"].splitlines(True)[:3])}, "recording", "ends before"),
        (lambda f: f | {"recording": f["recording"].replace(b"[0.25", b"[0.26", 1)}, "recording", "another time"),
        (lambda f: f | {"recording": f["recording"].replace(b'"o"', b'"i"', 1)}, "recording", "is no event"),
        (lambda f: f | {"recording": f["recording"].replace(b"0.250000", b"true", 1)}, "recording", "is no event"),
        (lambda f: f | {"recording": f["recording"].replace(b"0.250000", b"NaN", 1)}, "recording", "is no JSON"),
        (lambda f: f | {"recording": f["recording"].replace(b"0.250000", b"1e999999999", 1)}, "recording", ""),
        (lambda f: f | {"recording": f["recording"].replace(b"installed", b"failed", 1)}, "recording", "does not show"),
        (
            lambda f: f | {"recording": f["recording"].replace(b'"width": 120', b'"width": 80', 1)},
            "recording",
            "header",
        ),
        (
            lambda f: f | {"recording": f["recording"].replace(b'"version": 2', b'"version": 3', 1)},
            "recording",
            "header",
        ),
        (
            lambda f: f | {"recording": f["recording"].replace(b'"version": 2', b'"version": true', 1)},
            "recording",
            "header",
        ),
        (
            lambda f: f | {"recording": f["recording"].replace(b"1796000000", b"1796000000.5", 1)},
            "recording",
            "timestamp",
        ),
        (lambda f: f | {"recording": b""}, "recording", "header"),
        (lambda f: f | {"recording": b"[" * 100_000 + b"\n"}, "recording", "is no JSON"),
        (lambda f: f | {"recording": b'{"version": 2, "x": "\xff"}\n'}, "recording", "is no JSON"),
    ],
)
def test_each_way_to_differ_is_named_with_its_file(
    tmp_path: Path, change: Callable[[Files], Files], role: str, said: str
) -> None:
    found = refused(tmp_path, change(session(SESSION)))
    assert found.path.name == role
    assert said in found.problem


def test_a_cut_recording_of_a_whole_session_is_noticed_at_every_length(tmp_path: Path) -> None:
    files = session(SESSION)
    for length in range(0, len(files["recording"]), 7):
        assert refused(tmp_path, files | {"recording": files["recording"][:length]}).path.name == "recording"


def test_an_endless_line_is_not_read_into_memory(tmp_path: Path) -> None:
    files = session(SESSION)
    for role in ("timing", "recording"):
        (tmp_path / role).write_bytes(b"")
        (tmp_path / role).touch()
        with (tmp_path / role).open("r+b") as file:
            file.truncate(20 * LINE_LIMIT)
        other = {key: data for key, data in files.items() if key != role}
        tracemalloc.start()
        found = refused(tmp_path, other)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert f"longer than {LINE_LIMIT} bytes" in found.problem
        assert peak < 5 * LINE_LIMIT


def test_a_read_larger_than_any_terminal_gives_is_refused(tmp_path: Path) -> None:
    files = session(SESSION) | {"timing": b"1 %d\n" % (READ_LIMIT + 1)}
    assert "at most" in refused(tmp_path, files).problem


def test_a_long_session_is_compared_in_constant_memory(tmp_path: Path) -> None:
    reads = [(number * 1000, b"line %d of a long build\r\n" % number * 40) for number in range(20_000)]
    for role, data in session(reads).items():
        (tmp_path / role).write_bytes(data)
    del reads
    assert (tmp_path / "terminal").stat().st_size > 15_000_000
    tracemalloc.start()
    assert recording(tmp_path / "recording", tmp_path / "terminal", tmp_path / "timing") == 20_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000


def test_what_is_compared_is_what_a_player_reads(tmp_path: Path) -> None:
    files = session(SESSION)
    header, *events = (json.loads(line) for line in files["recording"].decode().splitlines())
    assert header["version"] == 2
    assert "".join(text for _, _, text in events) == files["terminal"].decode("utf-8", "replace")
