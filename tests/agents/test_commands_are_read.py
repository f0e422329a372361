"""Which commands an agent ran, and what they returned."""

from __future__ import annotations

import pytest

from runner.agents import program
from runner.agents.reading import MOST_CHARACTERS, RETURNED_CHARACTERS, Command, Commands, Output
from tests.agents.recorded import read, text

RAN = "echo hello-from-agent > proof.txt && cat proof.txt"
SLEPT = "echo started > started.txt; sleep 1234.5"


@pytest.mark.parametrize(
    ("name", "exit_status", "returned"),
    [
        ("codex/ok", 0, "hello-from-agent\n"),
        ("pi/ok", 0, "hello-from-agent\n"),
        ("claude/ok-offline", None, "hello-from-agent"),
        ("opencode/ok", 0, "hello-from-agent\n"),
        ("mini-swe-agent/sseerr", 0, "hello-from-agent\n"),
        ("qwen/ok-offline", None, "hello-from-agent"),
        ("gemini/ok", None, "hello-from-agent"),
    ],
)
def test_a_command_comes_with_what_it_returned(name: str, exit_status: int | None, returned: str) -> None:
    assert read(name, 0).commands == (Command(RAN, exit_status, returned),)


def test_session_files_have_the_commands_too() -> None:
    rollout = Output(sessions=(text("codex/rollout.ok.jsonl"),), exit=0)
    assert program("codex").read(rollout).commands == (Command(RAN, 0, "hello-from-agent\n"),)
    kept = program("pi").read(Output(sessions=(text("pi/session.ok.jsonl"),), exit=0))
    assert kept.commands == (Command(RAN, None, "hello-from-agent\n"),)
    assert kept.complete


def test_several_commands_of_one_answer_each_have_their_own_end() -> None:
    assert read("claude/blocks", 0).commands == (Command("echo one", None, "one"), Command("false", 1, "Exit code 1"))


def test_a_status_in_what_was_printed_for_the_model_is_read() -> None:
    assert read("claude/ok-toolTERM").commands == (Command(SLEPT, 137, "Exit code 137"),)
    (first,) = read("qwen/ok").commands or ()
    assert first.exit == 0


@pytest.mark.parametrize("name", ["codex/ok-toolTERM", "pi/ok-toolTERM", "pi/ok-toolINT"])
def test_a_command_that_never_came_back_was_run_all_the_same(name: str) -> None:
    assert read(name).commands == (Command(SLEPT, None, None),)


@pytest.mark.parametrize("name", ["codex/notool", "pi/notool", "claude/notool", "opencode/notool", "qwen/notool"])
def test_a_claim_without_a_command_shows_no_command(name: str) -> None:
    reading = read(name, 0)
    assert (reading.complete, reading.commands) == (True, ())


def test_the_word_with_which_an_agent_ends_is_no_command() -> None:
    assert b"COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT" in text("mini-swe-agent/sseerr.traj.json")
    assert [one.command for one in read("mini-swe-agent/sseerr").commands or ()] == [RAN]


def test_a_shell_around_a_command_is_taken_off_and_nothing_else() -> None:
    line = b'{"type":"item.completed","item":{"id":"1","type":"command_execution","command":%s}}'
    for said, command in (
        (b'"/bin/bash -lc \'pip install \\"a b\\"\'"', 'pip install "a b"'),
        (b"\"bash -c 'a' 'b'\"", "bash -c 'a' 'b'"),
        (b'"it\'s"', "it's"),
        (b'"ls -l"', "ls -l"),
    ):
        (found,) = program("codex").read(Output(line % said)).commands or ()
        assert found.command == command


def test_what_was_returned_is_kept_in_its_beginning() -> None:
    commands = Commands()
    commands.began("1", "yes")
    commands.ended("1", 0, "y\n" * 100_000)
    assert commands.all() == (Command("yes", 0, "y\n" * (RETURNED_CHARACTERS // 2)),)


def test_no_number_of_commands_is_too_much_to_keep() -> None:
    commands = Commands()
    for number in range(2000):
        commands.began(str(number), "x" * 30_000)
    assert 700 < len(commands.all()) < 2000
    assert sum(len(one.command) for one in commands.all()) <= MOST_CHARACTERS
