"""An agent can leave anything: adapters answer, within bounds, and never with a traceback."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archive.reasons import Limit
from archive.usage import UsageReading
from runner.agents import PROGRAMS, program
from runner.agents.lines import MOST_LINE_BYTES, Lines, document
from runner.agents.reading import Output, Reading
from tests.agents.recorded import FOLDER, read

CHECKOUT = Path(__file__).resolve().parents[2]
SOME = [path.read_bytes() for path in sorted(FOLDER.glob("*/*.*")) if path.suffix in (".out", ".jsonl", ".json")]
READERS = [name for name in PROGRAMS if name != "command"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["error", "stop"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)


def sound(reading: Reading, output: Output) -> bool:
    """Whether it is what every reading is; raises where it cannot be written down at all."""
    json.dumps([reading.terminal, reading.commands]).encode()
    if UsageReading.model_validate(reading.usage.model_dump()) != reading.usage:
        return False
    if reading.condition is not None:
        return reading.complete == isinstance(reading.condition, Limit)
    by_outside = str(reading.terminal).startswith("abort") or reading.terminal == "turn_aborted"
    return not output.by_itself or reading.complete or by_outside


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SOME), st.data())
def test_a_recording_that_is_torn_and_spoilt_anywhere(data: bytes, draw: st.DataObject) -> None:
    end = draw.draw(st.integers(0, len(data)))
    at = draw.draw(st.integers(0, max(0, end - 1)))
    spoilt = data[:at] + draw.draw(st.binary(max_size=4)) + data[at + 1 : end]
    for name in READERS:
        for output in (Output(spoilt, exit=0), Output(sessions=(spoilt,), exit=0), Output(spoilt, spoilt, (data,))):
            assert sound(program(name).read(output), output)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_a_recording_in_which_any_value_is_another_one(draw: st.DataObject) -> None:
    lines = [json.loads(line) for line in draw.draw(st.sampled_from(SOME)).splitlines() if line.startswith(b'{"')]
    if not lines:
        return
    for _ in range(3):
        where = draw.draw(st.sampled_from(lines))
        while True:
            key = draw.draw(st.sampled_from(sorted(where) or ["type"]))
            inner = where.get(key)
            if not isinstance(inner, dict) or not inner or draw.draw(st.booleans()):
                where[key] = draw.draw(VALUES)
                break
            where = inner
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    for name in READERS:
        output = Output(data, b"", (data,), 1)
        assert sound(program(name).read(output), output)


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xfe\x00" * 1000,
        b'{"type":"message_end","message":{"role":"assistant","content":"\xff\xfe"}}\n',
        b'{"type":"error","message":"\\ud800 half"}\n' * 3,
        b'{"type":"result","usage":{"input_tokens":1e999,"output_tokens":-5}}\n',
        b'{"type":"result","usage":{"input_tokens":' + b"9" * 5000 + b"}}\n",
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"type":' + b"[" * 100_000,
        b'{"type":"item.completed","item":{"id":' + b"[" * 900 + b"]" * 900 + b',"type":"command_execution"}}',
        b"{}\r\n\r\n\r{}\n" * 10,
        b"",
    ],
    ids=lambda data: repr(data[:24]),
)
def test_strange_bytes_are_answered(name: str, data: bytes) -> None:
    for output in (Output(data, data, (data, data), 0), Output(data), Output(b"", b"", (data,))):
        assert sound(program(name).read(output), output)


def test_half_characters_are_replaced_and_the_line_is_read() -> None:
    (event,) = Lines(b'{"text":"\\ud83d","raw":"\xff"}\n')
    assert event["raw"] == "\ufffd"


def test_a_line_that_is_too_long_or_too_dense_is_lost_and_counted() -> None:
    long = b'{"text":"' + b"x" * MOST_LINE_BYTES + b'"}\n'
    dense = b'{"list":[' + b"[]," * 2_000_000 + b"[]]}\n"
    lines = Lines(long + dense + b'{"type":"kept"}\nno object\n"text"\n[1]\n')
    assert list(lines) == [{"type": "kept"}]
    assert lines.lost == 2
    assert document(dense) is None


def test_what_a_program_prints_between_its_events_is_passed_over() -> None:
    assert read("qwen/ok", 0).complete
    lines = Lines(b'Warning: basic terminal\n\x1b[0m\n  {"a":1}  \r\n')
    assert list(lines) == [{"a": 1}]
    assert lines.lost == 0


HUGE: dict[str, Callable[[int], bytes]] = {
    "empty objects": lambda size: b"{}\n" * (size // 3),
    "one line": lambda size: b'{"type":"' + b"x" * size,
    "nested": lambda size: b'{"a":' * (size // 5),
    "line breaks": lambda size: b"\r\n" * (size // 2),
    "spoilt text": lambda size: (b'{"type":"error","message":"' + b"\xff" * 1000 + b'"}\n') * (size // 1030),
    "commands": lambda size: (
        (
            b'{"type":"item.started","item":{"type":"command_execution","id":"%s","command":"/bin/bash -lc \''
            % (b"i" * 20)
            + b"echo " * 2000
            + b"'\"}}\n"
        )
        * (size // 10_100)
    ),
}


PAIRS = [
    *(("claude", "empty objects"), ("qwen", "one line"), ("pi", "nested"), ("mini-swe-agent", "nested")),
    *(("gemini", "line breaks"), ("opencode", "spoilt text"), ("codex", "commands")),
]


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_a_hundred_megabytes_are_answered_in_bounded_time_and_memory(name: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(HUGE[kind](100_000_000))
    options = ["--session" if name.startswith("mini") else "--stdout", str(tmp_path / "out"), "--exit", "0"]
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, CHECKOUT / "argusic.py", "agent", "explain", name, *options],
        capture_output=True,
        cwd=CHECKOUT,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1500 << 20, 1500 << 20)),
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["complete"] is False
    assert time.monotonic() - began < 60
