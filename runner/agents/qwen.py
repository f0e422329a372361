"""Qwen Code: `qwen --output-format stream-json`."""

from __future__ import annotations

import json
import re
from typing import Any

from archive.usage import UsageReading
from runner.agents.ending import Ending
from runner.agents.lines import Lines, blocks, dig, name, objects, whole
from runner.agents.program import Api, Package, Setting, Start, base_environment
from runner.agents.reading import Commands, Output, Reading
from runner.agents.tally import Tally, without
from runner.agents.trouble import condition_of

_EXIT = re.compile(r"^Exit Code: (\d{1,3})$", re.M)


class Qwen:
    """Its lines look like another program's and mean something else: the input includes what came from a cache."""

    name = "qwen"
    package: Package | None = Package("npm", "@qwen-code/qwen-code", "0.24.4", "node@24.21.0")
    apis: tuple[Api, ...] = ("openai-completions",)
    key_variable: str | None = "OPENAI_API_KEY"
    session_files: tuple[str, ...] = ()
    waits_for_ever = False

    def start(self, setting: Setting) -> Start:
        """As `Program.start`. It has no switch for instructions that lie in the project or above it."""
        settings = {"privacy": {"usageStatisticsEnabled": False}}
        return Start(
            (
                *("qwen", "--auth-type", "openai", "-m", setting.model, "--output-format", "stream-json"),
                *("--yolo", "-p", setting.prompt),
            ),
            base_environment(setting) | {"OPENAI_BASE_URL": f"{setting.endpoint}/v1"},
            {f"{setting.home}/.qwen/settings.json": json.dumps(settings)},
        )

    def read(self, output: Output) -> Reading:
        """As `Program.read`."""
        ending, commands, answers = Ending(), Commands(), Tally()
        result: Any = None
        for event in (lines := Lines(output.stdout)):
            kind = event.get("type")
            if kind == "result":
                result = event
                _end(event, ending)
            elif kind in ("assistant", "user"):
                _message(event, kind, ending, commands, answers)
            else:
                ending.began = True
        complete, condition = ending.judged(output)
        usage = _usage(result, answers, lost=bool(lines.lost))
        return Reading(usage, commands.all() if ending.began else None, ending.terminal, complete, condition)


def _message(event: dict[str, Any], kind: Any, ending: Ending, commands: Commands, answers: Tally) -> None:
    message = event.get("message")
    usage = dig(message, "usage")
    if kind == "assistant":
        if not whole(dig(usage, "input_tokens")) and (blocks(dig(message, "content")) or "").startswith("[API Error"):
            return  # Written by the program itself in the place of an answer.
        _count(answers, usage)
    ending.progress()
    for block in objects(dig(message, "content")):
        if block.get("type") == "tool_use" and block.get("name") == "run_shell_command":
            commands.began(block.get("id"), dig(block, "input", "command"))
        elif block.get("type") == "tool_result":
            text = blocks(block.get("content"))
            status = _EXIT.search((text or "")[-2000:])
            commands.ended(block.get("tool_use_id"), int(status[1]) if status else None, text)


def _end(event: dict[str, Any], ending: Ending) -> None:
    subtype = event.get("subtype")
    if event.get("is_error") is not True or name(subtype).startswith("error_max_"):
        ending.own_end(subtype)
    else:
        ending.cut_off(subtype, condition_of(dig(event, "error", "message")))


def _usage(result: Any, answers: Tally, *, lost: bool) -> UsageReading:
    single = answers.reading("stdout: messages", complete=False)
    if not isinstance(result, dict):
        return single
    total = Tally()
    _count(total, result.get("usage"))
    # Calls that stand in no line (a check whether to go on, say) are in the total all the same.
    stated = (whole(dig(result, "usage", "input_tokens")), whole(dig(result, "usage", "output_tokens")))
    lines = (_plus(single.input_uncached_tokens, single.cache_read_tokens), single.output_tokens)
    known = stated == lines or not any(stated)
    return total.total("stdout: result, cumulative", answers.calls if known else None, complete=not lost)


def _plus(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _count(tally: Tally, usage: Any) -> None:
    read = whole(dig(usage, "cache_read_input_tokens"))
    tally.add(
        input_uncached=without(whole(dig(usage, "input_tokens")), read),
        cache_read=read,
        cache_write=None,
        output=whole(dig(usage, "output_tokens")),
        reasoning=None,
    )
