"""Each row of the measured table of exit statuses, on what the program really left (MEASUREMENT §9).

The status of a row is the one that was measured. It decides nothing: every row reads the same with any other.
"""

from __future__ import annotations

import json

import pytest

from archive.reasons import Limit, Reason
from runner.agents import PROGRAMS, program
from runner.agents.reading import Condition, Output
from tests.agents.recorded import FOLDER, changed, output, read, text

REFUSED, UNFUNDED, CAP = Reason.KEY_REFUSED, Reason.KEY_UNFUNDED, Limit.KEY_CAP
LIMITED, ERROR = Reason.PROVIDER_RATE_LIMITED, Reason.PROVIDER_ERROR
CUT, UNREACHABLE = Reason.PROVIDER_STREAM_CUT, Reason.PROVIDER_UNREACHABLE

ROWS: list[tuple[str, int, Condition | None]] = [
    ("codex/ok", 0, None),
    ("codex/401", 1, REFUSED),
    ("codex/429", 1, LIMITED),
    ("codex/500", 1, ERROR),
    ("codex/402", 1, UNFUNDED),
    ("codex/403", 1, CAP),
    ("codex/budget400", 1, CAP),
    ("codex/budget422", 1, CAP),
    ("codex/budget429", 1, LIMITED),  # It keeps nothing of the answer but the status: the key's account settles it.
    ("codex/budgetmid", 1, UNFUNDED),
    ("codex/mid500", 1, ERROR),
    ("codex/notool", 0, None),
    ("codex/empty", 0, None),
    ("codex/trunc", 1, CUT),
    ("codex/noterm", 1, CUT),
    ("codex/nousage", 0, None),
    ("pi/ok", 0, None),
    ("pi/401", 0, REFUSED),
    ("pi/429", 0, LIMITED),
    ("pi/500", 0, ERROR),
    ("pi/402", 0, UNFUNDED),
    ("pi/403", 0, CAP),
    ("pi/budget400", 0, CAP),
    ("pi/budget422", 0, CAP),
    ("pi/budget429", 0, CAP),
    ("pi/budgetmid", 0, UNFUNDED),
    ("pi/mid500", 0, ERROR),
    ("pi/refused", 0, UNREACHABLE),
    ("pi/notool", 0, None),
    ("pi/empty", 0, None),
    ("pi/trunc", 0, CUT),
    ("pi/noterm", 0, None),
    ("pi/sseerr", 0, CAP),
    ("pi/401-print", 1, REFUSED),
    ("pi/402-print", 1, UNFUNDED),
    ("pi/budgetmid-print", 1, UNFUNDED),
    ("pi/refused-print", 1, UNREACHABLE),
    ("pi/trunc-print", 1, CUT),
    ("claude/ok-offline", 0, None),
    ("claude/401", 1, REFUSED),
    ("claude/429", 1, LIMITED),
    ("claude/429-defretry", 1, LIMITED),
    ("claude/500", 1, ERROR),
    ("claude/500-defretry", 1, ERROR),
    ("claude/402", 1, UNFUNDED),
    ("claude/budget400", 1, CAP),
    ("claude/budget422", 1, CAP),
    ("claude/budget429", 1, CAP),
    ("claude/budgetmid", 1, UNFUNDED),
    ("claude/mid500", 1, ERROR),
    ("claude/refused", 1, UNREACHABLE),
    ("claude/notool", 0, None),
    ("claude/empty", 0, None),
    ("claude/trunc", 0, None),  # It asks again without a stream, and gets its answer.
    ("claude/noterm", 0, None),
    ("opencode/ok", 0, None),
    ("opencode/401", 1, REFUSED),
    ("opencode/429", 1, LIMITED),
    ("opencode/500", 1, ERROR),
    ("opencode/402", 1, UNFUNDED),
    ("opencode/403", 1, CAP),
    ("opencode/budget400", 1, CAP),
    ("opencode/budget422", 1, CAP),
    ("opencode/budgetmid", 1, UNFUNDED),
    ("opencode/refused", 1, UNREACHABLE),
    ("opencode/notool", 0, None),
    ("opencode/empty", 0, None),
    ("opencode/sseerr", 1, CAP),
    ("mini-swe-agent/sseerr", 0, None),
    ("mini-swe-agent/401", 1, REFUSED),
    ("mini-swe-agent/429", 1, LIMITED),
    ("mini-swe-agent/500", 1, ERROR),
    ("mini-swe-agent/402", 1, UNFUNDED),
    ("mini-swe-agent/budget400", 1, CAP),
    ("mini-swe-agent/budget422", 1, CAP),
    ("mini-swe-agent/budgetmid", 1, UNFUNDED),
    ("mini-swe-agent/refused", 1, UNREACHABLE),
    ("mini-swe-agent/notool", 0, None),
    ("mini-swe-agent/empty", 0, None),
    ("mini-swe-agent/ok", 1, Reason.AGENT_CRASHED),  # It stops over a model that has no price.
    ("qwen/ok", 0, None),
    ("qwen/401", 1, REFUSED),
    ("qwen/402", 1, UNFUNDED),
    ("qwen/403", 1, CAP),
    ("qwen/budget422", 1, CAP),
    ("qwen/notool", 0, None),
    ("qwen/sseerr", 1, CAP),
    ("gemini/ok", 0, None),
    ("gemini/401", 145, REFUSED),  # The HTTP status modulo 256.
    ("gemini/402", 146, UNFUNDED),
    ("gemini/notool", 0, None),
]

STOPPED = [
    *("codex/hang-hangTERM", "codex/ok-toolTERM", "codex/ok-toolINT", "codex/ok-term2"),
    *("pi/hang-hangTERM", "pi/ok-toolTERM", "pi/ok-toolINT", "pi/ok-term2"),
    *("claude/hang-hangTERM", "claude/ok-toolTERM", "claude/ok-term2"),
    *("opencode/ok-term2", "mini-swe-agent/ok-term2"),
]


@pytest.mark.parametrize(("name", "measured", "condition"), ROWS, ids=[row[0] for row in ROWS])
def test_what_a_program_left_says_how_it_ended(name: str, measured: int, condition: Condition | None) -> None:
    for exit_status in (measured, 0, 1, 143, None):
        reading = read(name, exit_status)
        assert reading.condition == condition
        assert reading.complete is (condition is None or isinstance(condition, Limit))


@pytest.mark.parametrize("name", STOPPED)
@pytest.mark.parametrize("exit_status", [None, 124 + 128, 130, 137, 143, -15])
def test_a_program_that_was_stopped_has_no_end_of_its_own(name: str, exit_status: int | None) -> None:
    reading = read(name, exit_status)
    assert (reading.complete, reading.condition, reading.terminal) == (False, None, None)


@pytest.mark.parametrize("name", STOPPED)
def test_a_program_that_vanished_by_itself_has_crashed(name: str) -> None:
    found = read(name, 0).condition
    assert found is (Reason.HARNESS_AGENT_NOT_STARTED if name.startswith("mini") else Reason.AGENT_CRASHED)


def test_an_interrupted_program_that_says_success_is_not_complete() -> None:
    """claude, sent SIGINT, exits with 0."""
    reading = read("claude/ok-toolINT", 0)
    assert (reading.terminal, reading.complete, reading.condition) == ("aborted_tools", False, None)


def test_a_program_that_goes_on_after_its_signal_ends_by_itself() -> None:
    """qwen, sent SIGTERM, lets the command die, hears of it and finishes its turn; its status was 143."""
    reading = read("qwen/ok-term2", 143)
    assert (reading.terminal, reading.complete) == ("success", True)


@pytest.mark.parametrize("exit_status", [None, 124 + 128, 143])
def test_a_program_that_waits_for_ever_for_its_provider_was_cut_off_by_it(exit_status: int | None) -> None:
    """codex never gives up: its runner stops it."""
    assert read("codex/refused", exit_status).condition is UNREACHABLE
    assert program("codex").waits_for_ever


def test_one_failed_call_before_a_stop_is_not_what_ended_the_attempt() -> None:
    lines = text("codex/refused.out").splitlines(keepends=True)
    waiting = [number for number, line in enumerate(lines) if b"waiting for network" in line]
    for count, condition in ((1, None), (2, None), (3, UNREACHABLE)):
        left = Output(b"".join(lines[: waiting[count - 1] + 1]))
        assert program("codex").read(left).condition is condition


def test_failed_calls_with_work_between_them_are_got_over() -> None:
    lines = text("codex/budgetmid.out").splitlines(keepends=True)
    waiting = next(line for line in text("codex/refused.out").splitlines(keepends=True) if b"waiting" in line)
    work = next(line for line in lines if b'"exit_code":0' in line)
    assert program("codex").read(Output(waiting * 3)).condition is UNREACHABLE
    for left in (waiting * 2 + work + waiting * 2, waiting * 5 + work):
        assert program("codex").read(Output(left)).condition is None


def test_a_stop_in_the_first_retry_of_pi_is_no_condition() -> None:
    lines = text("pi/500.out").splitlines(keepends=True)
    retries = [number for number, line in enumerate(lines) if b'"type":"auto_retry_start"' in line]
    assert len(retries) == 2
    for retry in retries:
        assert program("pi").read(Output(b"".join(lines[: retry + 1]))).condition is None
    assert program("pi").read(Output(b"".join(lines))).condition is ERROR


def test_gemini_prints_for_a_person_the_status_that_its_event_leaves_out() -> None:
    left = output("gemini/401", 145)
    bare = left._replace(
        stdout=changed(left.stdout, lambda line: line | {"error": {"type": "unknown", "message": "x"}})
    )
    assert program("gemini").read(bare).condition is REFUSED
    assert program("gemini").read(bare._replace(stderr=b"")).condition is Reason.AGENT_CRASHED


def test_what_failed_may_stand_in_an_event_of_gemini_before_its_last_one() -> None:
    """As it was printed of a stream that its provider broke off; it exits with 0."""
    error = b'{"type":"error","severity":"error","message":"Model stream ended without a finish reason."}\n'
    last = b'{"type":"result","status":"error","stats":{"total_tokens":0}}\n'
    assert program("gemini").read(Output(error + last, exit=0)).condition is CUT
    warning = error.replace(b'"severity":"error"', b'"severity":"warning"')
    assert program("gemini").read(Output(warning + last, exit=0)).condition is Reason.AGENT_CRASHED


def test_endless_retries_are_trouble_once_they_stay() -> None:
    """claude, stopped in the middle of its ten retries."""
    for name, condition in (("429-defretry", LIMITED), ("500-defretry", ERROR), ("refused", None)):
        lines = text(f"claude/{name}.out").splitlines(keepends=True)
        retries = Output(b"".join(line for line in lines if b'"result"' not in line and b"synthetic" not in line))
        assert program("claude").read(retries).condition is condition


def test_an_endless_loop_of_cut_answers_is_recognised() -> None:
    """opencode asks again for ever, and each such step has a piece of text and reports nothing used."""
    steps = text("opencode/trunc.out").splitlines(keepends=True)
    assert [json.loads(step)["type"] for step in steps] == ["step_start", "text", "step_finish"] * 12
    for count, condition in ((1, None), (2, None), (3, CUT), (12, CUT)):
        reading = program("opencode").read(Output(b"".join(steps[: 3 * count])))
        assert (reading.condition, reading.complete) == (condition, False)
        assert (reading.usage.calls, reading.usage.output_tokens) == (count, None)


@pytest.mark.parametrize("name", ["codex/403", "pi/403", "opencode/403"])
def test_a_403_that_is_not_about_money_is_a_refusal(name: str) -> None:
    """Changed from what a router says of a spent key."""
    data = output(name, 1).stdout.replace(b"Key limit exceeded (total limit)", b"Not for this country")
    assert program(name.split("/")[0]).read(Output(data, exit=1)).condition is REFUSED


def test_text_without_events_proves_nothing() -> None:
    """pi, started to print text: "I have installed and verified everything." and status 0."""
    for name in ("pi/notool-print", "pi/ok-print"):
        reading = read(name, 0)
        assert (reading.complete, reading.condition) == (False, Reason.HARNESS_AGENT_NOT_STARTED)
        assert reading.commands is None


def test_a_program_that_refuses_to_start_is_our_failure() -> None:
    """claude as root, without the variable that says it is in a sandbox."""
    reading = read("claude/ok", 1)
    assert reading.condition is Reason.HARNESS_AGENT_NOT_STARTED
    assert reading.commands is None


def test_no_output_at_all_is_a_program_that_did_not_start() -> None:
    for name in PROGRAMS:
        if name != "command":
            assert program(name).read(Output(exit=0)).condition is Reason.HARNESS_AGENT_NOT_STARTED
            assert program(name).read(Output()).condition is None


def test_a_sandbox_of_its_own_in_which_nothing_can_be_run_looks_like_an_idle_agent() -> None:
    """codex ends with 0 and a claim. Its output does not tell it apart, so it is never started that way."""
    for name in ("codex/ok-wsw", "codex/ok-def"):
        reading = read(name, 0)
        assert (reading.complete, reading.commands) == (True, ())


def test_every_recorded_output_is_in_a_test() -> None:
    tested = {name for name, *_ in ROWS} | set(STOPPED)
    tested |= {"claude/ok-toolINT", "qwen/ok-term2", "codex/refused", "pi/notool-print", "pi/ok-print", "claude/ok"}
    tested |= {"codex/ok-wsw", "codex/ok-def", "opencode/trunc"}
    same = {
        "codex/ok-wsw2",
        "pi/ok-anthropic-messages",
        "pi/ok-openai-responses",
        "pi/nousage",
        "claude/nousage",
        "claude/blocks",
    }
    same |= {f"{agent}/ok-offline" for agent in ("codex", "pi", "opencode", "qwen", "gemini", "mini-swe-agent")}
    found = {f"{path.parent.name}/{path.name.split('.')[0]}" for path in FOLDER.glob("*/*.*")}
    assert found - {"codex/rollout", "pi/session", "claude/session"} == tested | same
    for name in same - {"mini-swe-agent/ok-offline"}:
        assert read(name, 0).complete
