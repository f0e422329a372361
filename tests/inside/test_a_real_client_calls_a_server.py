"""`argusic-mcp`: the real client of the PyPI package `mcp` against a real server process over stdio."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).parents[2] / "runner/inside/mcp_client.py"
FOUND = importlib.util.find_spec("mcp")
pytestmark = pytest.mark.skipif(FOUND is None, reason="the PyPI package mcp (2.3.0) is not installed here")

SERVER = r"""
import json, os, pathlib, signal, sys, time
mode, pid = sys.argv[1], pathlib.Path(sys.argv[2])
pid.write_text(str(os.getpid()))
print("server says hello", file=sys.stderr, flush=True)
if mode == "dies":
    sys.exit("Please set A_TOKEN")
if mode == "silent":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)
if mode == "chatty":
    print("this line is not JSON", flush=True)
tools = [{"name": "delete_all", "inputSchema": {"type": "object"}},
         {"name": "get_first", "inputSchema": {"type": "object"}},
         {"name": "get_zone", "inputSchema": {"type": "object", "required": ["timezone"],
                                              "properties": {"timezone": {"type": "string"}}}}]
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, params = asked["method"], asked.get("params", {})
    if method == "initialize":
        answer = {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "tiny", "version": "1.0"}}
    elif method == "tools/list":
        answer = {"tools": [] if mode == "empty" else tools}
    elif params["name"] == "delete_all":
        pid.with_name("deleted").write_text("")
        answer = {"content": []}
    elif params["name"] == "get_first" or mode == "refuses":
        answer = {"content": [{"type": "text", "text": "not today\x1b[31m"}], "isError": True}
    else:
        said = f"{params['arguments']['timezone']} {os.environ.get('PYTHONPATH')} {os.environ.get('GIVEN')}"
        answer = {"content": [{"type": "text", "text": "x" * 100_000 if mode == "long" else said}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
"""


def started(tmp_path: Path, mode: str, *options: str) -> subprocess.Popen[str]:
    assert FOUND is not None
    assert FOUND.origin is not None
    server = tmp_path / "server.py"
    server.write_text(SERVER)
    command = [sys.executable, str(server), mode, str(tmp_path / "pid")]
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), *options, "--", *command],
        env={**os.environ, "PYTHONPATH": str(Path(FOUND.origin).parents[1]), "GIVEN": "yes"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(tmp_path: Path, mode: str, *options: str) -> tuple[int, dict[str, Any], str]:
    client = started(tmp_path, mode, *options)
    out, err = client.communicate(timeout=60)
    return client.returncode, json.loads(out), err


def is_alive(pid_file: Path) -> bool:
    try:
        os.kill(int(pid_file.read_text()), 0)
    except ProcessLookupError:
        return False
    return True


def test_it_initializes_lists_and_calls_until_a_tool_answers(tmp_path: Path) -> None:
    code, seen, err = run(tmp_path, "good")
    assert (code, seen["server"], seen["protocol"]) == (0, {"name": "tiny", "version": "1.0"}, "2024-11-05")
    assert seen["tools"] == ["delete_all", "get_first", "get_zone"]
    # The server gets the environment, without the folder in which this client finds its own packages.
    assert seen["called"] == {
        "tool": "get_zone",
        "arguments": {"timezone": "UTC"},
        "is_error": False,
        "text": "UTC None yes",
    }
    assert "server says hello" in err
    assert not (tmp_path / "deleted").exists()
    assert not is_alive(tmp_path / "pid")


def test_a_server_whose_tools_all_refuse_is_three(tmp_path: Path) -> None:
    code, seen, err = run(tmp_path, "refuses")
    assert (code, seen["called"]["is_error"]) == (3, True)
    assert "error: the tool get_zone answered: not today [31m" in err


def test_a_server_without_tools_is_three(tmp_path: Path) -> None:
    code, seen, _ = run(tmp_path, "empty")
    assert (code, seen["tools"], seen["called"]) == (3, [], None)


def test_a_server_that_dies_is_four_and_its_own_words_are_shown(tmp_path: Path) -> None:
    code, seen, err = run(tmp_path, "dies")
    assert (code, seen) == (4, {"server": None, "protocol": None, "tools": None, "called": None})
    assert "Please set A_TOKEN" in err


def test_a_command_that_is_not_there_is_four(tmp_path: Path) -> None:
    assert FOUND is not None
    assert FOUND.origin is not None
    environment = {**os.environ, "PYTHONPATH": str(Path(FOUND.origin).parents[1])}
    command = [sys.executable, str(PROGRAM), "--", str(tmp_path / "none")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, "FileNotFoundError" in done.stderr, "Traceback" in done.stderr) == (4, True, False)


def test_a_server_that_never_answers_is_five_and_does_not_live_on(tmp_path: Path) -> None:
    began = time.monotonic()
    code, _, err = run(tmp_path, "silent", "--timeout", "2")
    assert (code, "error: the session was not over after 2 seconds" in err) == (5, True)
    assert time.monotonic() - began < 20
    assert not is_alive(tmp_path / "pid")


def test_a_client_told_to_stop_ends_its_server(tmp_path: Path) -> None:
    client = started(tmp_path, "silent")
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        time.sleep(0.05)
    client.send_signal(signal.SIGTERM)
    client.communicate(timeout=30)
    assert client.returncode == 5
    assert not is_alive(tmp_path / "pid")


def test_a_line_that_is_not_json_is_passed_over(tmp_path: Path) -> None:
    assert run(tmp_path, "chatty")[0] == 0


def test_a_long_answer_is_cut(tmp_path: Path) -> None:
    assert len(run(tmp_path, "long")[1]["called"]["text"]) == 4_000


@pytest.mark.parametrize("options", [["--timeout", "0"], ["--timeout", "nan"], ["--timeout", "inf"], []])
def test_wrong_usage_is_two(options: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *options], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, "usage: argusic-mcp" in done.stderr) == (2, True)
