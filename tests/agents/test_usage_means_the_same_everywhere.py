"""Each accounting trap, on recorded output: the normal form is the same whatever the program counts."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from archive.usage import UsageReading
from runner.agents import program
from runner.agents.reading import Output
from tests.agents.recorded import FOLDER, changed, output, read, sums, text

ROLLOUT = text("codex/rollout.ok.jsonl")
SESSION = text("pi/session.ok.jsonl")
BLOCKS = text("claude/session.blocks.jsonl")


@pytest.mark.parametrize(
    ("name", "sessions", "expected"),
    [
        # Server: 1000 in, 400 of it cached, 50 out, 20 of it reasoning; then 1500, 900, 70, 30.
        ("codex/ok", (ROLLOUT,), (1200, 1300, None, 120, 50, 2)),
        ("codex/ok", (), (1200, 1300, None, 120, 50, None)),
        ("pi/ok", (), (1200, 1300, None, 120, 50, 2)),
        ("pi/ok", (SESSION,), (1200, 1300, None, 120, 50, 2)),
        ("pi/ok-openai-responses", (), (1200, 1300, None, 120, 50, 2)),
        ("pi/ok-anthropic-messages", (), (900, 1300, 300, 120, None, 2)),
        ("claude/ok-offline", (), (900, 1300, 300, 120, None, 2)),
        ("claude/noterm", (), (900, 1300, 300, 120, None, 2)),
        ("opencode/ok", (), (1200, 1300, None, 120, 50, 2)),
        ("mini-swe-agent/sseerr", (), (1200, 1300, None, 120, 50, 2)),
        ("mini-swe-agent/notool", (), (1800, 1200, None, 150, 60, 3)),
        ("qwen/ok", (), (1200, 1300, None, 120, None, 2)),
        ("gemini/ok", (), (1200, 800, None, 100, 40, None)),
        ("gemini/notool", (), (600, 400, None, 50, 20, None)),
    ],
)
def test_a_finished_session_has_its_sums(name: str, sessions: tuple[bytes, ...], expected: tuple[int, ...]) -> None:
    reading = read(name, 0, *sessions)
    assert sums(reading) == expected
    assert reading.usage.complete
    assert reading.usage.source


@pytest.mark.parametrize("name", ["codex/nousage", "pi/nousage"])
def test_a_provider_that_tells_nothing_makes_it_unknown_and_not_0(name: str) -> None:
    reading = read(name, 0)
    assert sums(reading)[:5] == (None,) * 5
    assert not reading.usage.complete
    assert reading.complete


def test_answers_are_counted_where_their_tokens_are_unknown() -> None:
    assert read("pi/nousage").usage.calls == 2
    assert read("codex/nousage").usage.calls is None


@pytest.mark.parametrize("name", ["codex/401", "pi/401", "claude/401", "opencode/401", "qwen/401", "gemini/401"])
def test_without_an_answer_no_number_is_known(name: str) -> None:
    reading = read(name, 1)
    assert sums(reading)[:5] == (None,) * 5
    assert reading.usage.calls in (0, None)
    assert (reading.usage.source, reading.usage.complete) == (None, False)


def test_a_failed_turn_of_codex_has_its_usage_in_the_rollout_only() -> None:
    assert sums(read("codex/budgetmid", 1)) == (None,) * 6
    first = b"".join(ROLLOUT.splitlines(keepends=True)[:14])
    assert sums(read("codex/budgetmid", 1, first)) == (600, 400, None, 50, 20, 1)


def test_a_rollout_without_any_record_has_no_number_of_answers() -> None:
    bare = changed(ROLLOUT, lambda line: None if line["type"] == "token_usage_record" else line)
    assert sums(read("codex/nousage", 0, bare)) == (None,) * 6


def test_records_that_forks_and_subagents_replay_count_once() -> None:
    assert sums(read("codex/ok", 0, ROLLOUT, ROLLOUT)) == (1200, 1300, None, 120, 50, 2)


def test_cumulative_totals_that_are_repeated_are_not_summed() -> None:
    again = changed(ROLLOUT, lambda line: [line, line] if line["payload"].get("type") == "token_count" else line)
    assert again.count(b'"token_count"') == 2 * ROLLOUT.count(b'"token_count"') > 2
    assert sums(read("codex/ok", 0, again)) == (1200, 1300, None, 120, 50, 2)


def test_compaction_counts_although_the_programs_total_leaves_it_out() -> None:
    def with_another(line: dict[str, Any]) -> Any:
        if line["type"] != "token_usage_record" or line["payload"]["usage"]["input_tokens"] != 1000:
            return line
        more = {"input_tokens": 300, "cached_input_tokens": 0, "output_tokens": 10, "reasoning_output_tokens": 0}
        return [line, line | {"payload": line["payload"] | {"response_id": "resp_compaction", "usage": more}}]

    assert sums(read("codex/ok", 0, changed(ROLLOUT, with_another))) == (1500, 1300, None, 130, 50, 3)


def test_a_message_of_pi_that_stands_in_three_events_counts_once() -> None:
    data = text("pi/ok.out")
    assert data.count(b'"totalTokens":1570') >= 3
    assert read("pi/ok").usage.output_tokens == 120


def test_summaries_and_warming_of_caches_count_though_they_are_no_messages() -> None:
    extra = {"input": 7, "output": 5, "cacheRead": 0, "cacheWrite": 0, "reasoning": 0, "totalTokens": 12}
    for kind in ("usage", "compaction", "branch_summary"):
        line = b'{"type":"%s","usage":%s}\n' % (kind.encode(), str(extra).replace("'", '"').encode())
        assert sums(read("pi/ok", 0, SESSION + line)) == (1207, 1300, None, 125, 50, 3)


def test_an_answer_of_claude_with_three_blocks_counts_once() -> None:
    lines = [json.loads(line) for line in BLOCKS.splitlines()]
    told = [
        (line["message"]["id"], line["message"]["usage"]["output_tokens"])
        for line in lines
        if "usage" in line["message"]
    ]
    assert told == [("msg_1", 50), ("msg_1", 50), ("msg_1", 50), ("msg_2", 70)]
    kept = program("claude").read(Output(sessions=(BLOCKS,)))
    assert sums(kept) == (900, 1300, 300, 120, None, 2)
    assert not kept.usage.complete
    assert sums(read("claude/blocks", 0)) == sums(read("claude/blocks", 0, BLOCKS)) == (900, 1300, 300, 120, None, 2)


def test_the_session_of_a_stopped_claude_has_what_its_events_lack() -> None:
    first = b"".join(text("claude/blocks.out").splitlines(keepends=True)[:5])
    assert sums(program("claude").read(Output(first))) == (500, 400, 100, None, None, 1)
    begun = b"".join(BLOCKS.splitlines(keepends=True)[:4])
    assert sums(program("claude").read(Output(first, sessions=(begun,)))) == (500, 400, 100, 50, None, 1)


def test_the_output_of_an_answer_that_has_only_begun_is_unknown() -> None:
    """claude's events tell 1 token of output of every answer; the real number is in its last line or its session."""
    reading = read("claude/ok-toolTERM", 143)
    assert sums(reading) == (500, 400, 100, None, None, 1)
    assert not reading.usage.complete


def test_answers_that_were_cut_off_are_in_clauses_total_and_make_it_incomplete() -> None:
    reading = read("claude/trunc", 0)
    assert sums(reading) == (1800, 2600, 600, 122, None, None)
    assert not reading.usage.complete


def test_answers_without_a_line_of_their_own_are_in_the_total() -> None:
    assert sums(read("claude/empty", 0)) == (1000, 800, 200, 100, None, None)
    assert sums(read("qwen/notool", 0)) == (1200, 800, None, 100, None, None)


def test_messages_that_claude_writes_itself_are_no_answers() -> None:
    assert b"<synthetic>" in text("claude/budgetmid.out")
    assert sums(read("claude/budgetmid", 1)) == (500, 400, 100, 50, None, 1)


def test_qwen_counts_its_input_with_the_cache_and_claude_without() -> None:
    assert b'"input_tokens":2500' in text("qwen/ok.out")
    assert b'"input_tokens":900' in text("claude/noterm.out")
    assert read("qwen/ok").usage.input_uncached_tokens == 2500 - 1300
    assert read("claude/noterm").usage.input_uncached_tokens == 900


def test_reasoning_of_gemini_is_what_the_total_has_more() -> None:
    usage = read("gemini/ok").usage
    assert (usage.output_tokens, usage.reasoning_tokens) == (2100 - 2000, 2100 - 2000 - 60)


def test_output_of_opencode_is_made_of_two_numbers() -> None:
    usage = read("opencode/notool").usage
    assert (usage.output_tokens, usage.reasoning_tokens) == (30 + 20, 20)


def test_a_stopped_step_of_opencode_has_no_usage() -> None:
    reading = read("opencode/ok-term2", 143)
    assert sums(reading) == (None,) * 6


def test_a_stopped_program_used_more_than_it_wrote_down() -> None:
    for name in ("pi/ok-toolTERM", "pi/ok-toolINT"):
        reading = read(name, 143)
        assert sums(reading) == (600, 400, None, 50, 20, 1)
        assert not reading.usage.complete
    first = b"".join(ROLLOUT.splitlines(keepends=True)[:11])
    stopped = read("codex/ok-toolTERM", 143, first)
    assert sums(stopped) == (600, 400, None, 50, 20, 1)
    assert not stopped.usage.complete


def test_a_stopped_mini_leaves_nothing_to_count() -> None:
    assert read("mini-swe-agent/ok-term2", 143).usage == UsageReading.unknown()


def _with_error(line: dict[str, Any], said: str) -> dict[str, Any]:
    message = line.get("message", {})
    return line | {"message": message | {"errorMessage": said}} if "errorMessage" in message else line


def test_one_answer_that_tells_nothing_makes_the_sums_incomplete() -> None:
    nothing = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "totalTokens"), 0)

    def silent(line: dict[str, Any]) -> dict[str, Any]:
        first = line.get("message", {}).get("stopReason") == "toolUse"
        return line | {"message": line["message"] | {"usage": nothing}} if first else line

    reading = read("pi/ok", 0, changed(SESSION, silent))
    assert sums(reading) == (600, 900, None, 70, 30, 2)
    assert not reading.usage.complete


def test_a_step_of_opencode_that_was_stopped_makes_the_sums_incomplete() -> None:
    stopped = b"".join(text("opencode/ok.out").splitlines(keepends=True)[:4])
    reading = program("opencode").read(Output(stopped))
    assert sums(reading) == (600, 400, None, 50, 20, None)
    assert not reading.usage.complete


def test_a_cut_answer_makes_the_sums_incomplete() -> None:
    left = output("pi/budgetmid", 0)
    cut = changed(left.stdout, lambda line: _with_error(line, "Stream ended without finish_reason"))
    reading = program("pi").read(Output(cut, exit=0))
    assert (sums(reading), reading.usage.complete) == ((600, 400, None, 50, 20, 1), False)
    assert read("pi/budgetmid").usage.complete


def test_a_line_that_cannot_be_read_makes_the_sums_incomplete() -> None:
    broken = output("opencode/ok", 0)
    reading = program("opencode").read(broken._replace(stdout=broken.stdout + b'{"type":"step_fin\n'))
    assert sums(reading) == (1200, 1300, None, 120, 50, 2)
    assert not reading.usage.complete


def test_no_program_is_asked_what_it_cost() -> None:
    """Costs are made up (claude), 0 for unknown (pi, opencode, mini) or missing: money is the broker's to say."""
    assert b'"costBasis":"unknown"' in text("claude/ok-offline.out")
    assert not [name for name in UsageReading.model_fields if "cost" in name or "usd" in name]


def test_reasoning_is_a_part_of_the_output() -> None:
    made = read("pi/ok").usage.model_dump()
    with pytest.raises(ValidationError, match="reasoning_tokens: more than output_tokens"):
        UsageReading.model_validate(made | {"reasoning_tokens": 121})
    with pytest.raises(ValidationError, match="complete: input and output must be known"):
        UsageReading.model_validate(UsageReading.unknown().model_dump() | {"complete": True})


def test_every_recording_gives_a_usage_that_holds_together() -> None:
    for path in sorted(FOLDER.glob("*/*.out")):
        usage = read(f"{path.parent.name}/{path.stem}", 0).usage
        assert UsageReading.model_validate(usage.model_dump()) == usage
