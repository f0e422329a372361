"""argusic agent explain: what an adapter reads, and what follows from it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from archive.reasons import LIMITS, POLICIES, Reason
from runner.agents import PROGRAMS
from tests.agents.recorded import FOLDER
from tests.agents.test_any_program_can_be_an_agent import AGENT

CHECKOUT = Path(__file__).resolve().parents[2]


def explain(*words: str | Path, root: Path = CHECKOUT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, CHECKOUT / "argusic.py", "--root", root, "agent", "explain", *words]
    return subprocess.run(command, capture_output=True, text=True, cwd=CHECKOUT, check=False)


def answer(*words: str | Path, root: Path = CHECKOUT) -> Any:
    done = explain(*words, root=root)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_a_finished_run_is_explained() -> None:
    found = answer(
        *("codex", "--stdout", FOLDER / "codex/ok.out", "--session", FOLDER / "codex/rollout.ok.jsonl", "--exit", "0")
    )
    assert found == {
        "adapter": "codex",
        "usage": {
            "input_uncached_tokens": 1200,
            "cache_read_tokens": 1300,
            "cache_write_tokens": None,
            "output_tokens": 120,
            "reasoning_tokens": 50,
            "calls": 2,
            "source": "rollout: token_usage_record, once per response_id",
            "complete": True,
        },
        "calls": 2,
        "commands": [
            {
                "command": "echo hello-from-agent > proof.txt && cat proof.txt",
                "exit": 0,
                "returned": "hello-from-agent\n",
            }
        ],
        "terminal": "turn.completed",
        "complete": True,
        "condition": None,
        "policy": {
            "counts": True,
            "reruns": 0,
            "means": "the agent came to its own end; what that is worth is asked of its report",
        },
    }


def test_a_condition_comes_with_its_policy() -> None:
    found = answer("pi", "--stdout", FOLDER / "pi/429.out", "--exit", "0")
    assert (found["complete"], found["condition"]) == (False, "provider:rate-limited")
    assert found["policy"] == POLICIES[Reason.PROVIDER_RATE_LIMITED]._asdict()
    assert found["policy"] == {
        "counts": False,
        "reruns": 3,
        "means": "the model's provider allowed no more requests for the moment",
    }


def test_a_spent_key_counts() -> None:
    found = answer("claude", "--stdout", FOLDER / "claude/budget422.out", "--exit", "1")
    assert (found["complete"], found["condition"]) == (True, "key:cap-reached")
    assert found["policy"] == next(policy for limit, policy in LIMITS.items() if limit == found["condition"])._asdict()
    assert (found["policy"]["counts"], found["policy"]["reruns"]) == (True, 0)


def test_a_stopped_run_is_left_to_its_runner() -> None:
    found = answer("opencode", "--stdout", FOLDER / "opencode/ok-term2.out")
    assert (found["complete"], found["condition"]) == (False, None)
    assert (found["policy"]["counts"], found["policy"]["reruns"]) == (None, None)
    assert "its runner knows what stopped it" in found["policy"]["means"]


def test_standard_error_is_read_too() -> None:
    found = answer(
        "gemini", "--stdout", FOLDER / "gemini/402.out", "--stderr", FOLDER / "gemini/402.err", "--exit", "146"
    )
    assert found["condition"] == "key:unfunded"


def test_several_sessions_and_both_spellings_are_taken() -> None:
    path = FOLDER / "mini-swe-agent/notool.traj.json"
    for name in ("mini-swe-agent", "mini_swe_agent"):
        assert answer(name, "--session", path, "--exit", "0")["terminal"] == "RepeatedFormatError"
    rollout = FOLDER / "codex/rollout.ok.jsonl"
    assert answer("codex", "--session", rollout, "--session", rollout, "--exit", "0")["calls"] == 2


def test_an_agent_of_the_pool_is_an_adapter_too(tmp_path: Path) -> None:
    (tmp_path / "pools/agents").mkdir(parents=True)
    (tmp_path / "pools/agents/own.toml").write_text(AGENT)
    (tmp_path / "err").write_text("fatal: 429\n")
    found = answer("own", "--stderr", tmp_path / "err", "--exit", "1", root=tmp_path)
    assert (found["adapter"], found["condition"]) == ("command", "provider:rate-limited")


@pytest.mark.parametrize("name", PROGRAMS)
def test_output_of_no_form_is_explained_as_unfinished(name: str) -> None:
    assert answer(name, "--stdout", FOLDER / "README.md")["complete"] is False


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("aider", "--stdout", "x"), "error: no adapter and no agent 'aider'; one of claude, codex, command, gemini"),
        (("codex",), "error: nothing to read; give at least one of --stdout, --stderr and --session"),
        (("codex", "--stdout", "/nowhere/out"), "error: /nowhere/out: no such file"),
        (("codex", "--session", "/"), "error: /: no such file"),
        (("codex", "--stdout", "a\x1b[2Jb"), "error: a\\x1b[2Jb: no such file"),
    ],
)
def test_wrong_input_is_one_message(words: tuple[str, ...], message: str) -> None:
    done = explain(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1


def test_an_agent_without_a_model_has_nothing_to_explain() -> None:
    done = explain("control-nop", "--stdout", FOLDER / "README.md")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: no program 'control-nop'; one of claude,")


def test_a_word_that_is_no_exit_status_is_refused() -> None:
    assert explain("codex", "--stdout", FOLDER / "codex/ok.out", "--exit", "one").returncode == 2


def test_what_cannot_be_read_is_wrong_input(tmp_path: Path) -> None:
    # A file without permissions is no obstacle to root; a folder and a link in a circle are, to everybody.
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    for name in ("", "circle"):
        done = explain("codex", "--stdout", tmp_path / name)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr


def test_a_file_that_is_larger_than_any_output_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as sparse:
        sparse.truncate((256 << 20) + 1)
    done = explain("codex", "--stdout", tmp_path / "out")
    assert done.returncode == 2
    assert done.stderr.endswith("out: larger than the 256 MiB that are read of one file\n")
