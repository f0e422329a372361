"""opencode: `opencode run --format json`, one event per step."""

from __future__ import annotations

import json
from typing import Any

from archive.reasons import Reason
from runner.agents.ending import Ending
from runner.agents.lines import Lines, code, dig, whole
from runner.agents.program import Api, Package, Setting, Start, base_environment
from runner.agents.reading import Commands, Output, Reading
from runner.agents.tally import Tally, said
from runner.agents.trouble import condition_of

OWN_ENDS = ("stop", "length", "content-filter")
GOES_ON = ("tool-calls",)
SWITCHES = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "CLAUDE_CODE", "DEFAULT_PLUGINS", "PROJECT_CONFIG")


class OpenCode:
    """Its input excludes caches, its output excludes reasoning. A step that is stopped has no usage."""

    name = "opencode"
    package: Package | None = Package("npm", "opencode-ai", "1.18.33", "")
    apis: tuple[Api, ...] = ("openai-completions",)
    key_variable: str | None = "RUN_KEY"
    session_files: tuple[str, ...] = ()
    waits_for_ever = False

    def start(self, setting: Setting) -> Start:
        """As `Program.start`."""
        model = {
            "limit": {"context": setting.context_tokens, "output": setting.answer_tokens},
            "modalities": {"input": ["text"], "output": ["text"]},
        }
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{setting.endpoint}/v1", "apiKey": f"{{env:{self.key_variable}}}"},
            "models": {setting.model: model},
        }
        config = {
            "autoupdate": False,
            "share": "disabled",
            "permission": "allow",
            "provider": {"run": provider},
            "small_model": f"run/{setting.model}",
        }
        off = {f"OPENCODE_DISABLE_{switch}": "1" for switch in SWITCHES}
        return Start(
            (
                *("opencode", "run", "--pure", "--format", "json", "--model", f"run/{setting.model}"),
                *("--title", "run", setting.prompt),
            ),
            base_environment(setting) | off | {"OPENCODE_CONFIG": f"{setting.home}/opencode.json"},
            {f"{setting.home}/opencode.json": json.dumps(config)},
        )

    def read(self, output: Output) -> Reading:
        """As `Program.read`."""
        ending, commands, tally = Ending(), Commands(), Tally()
        in_step = False
        for event in (lines := Lines(output.stdout)):
            kind, part = event.get("type"), event.get("part")
            in_step = kind == "step_start" or (in_step and kind not in ("step_finish", "error"))
            if kind == "step_start":
                ending.again()
            elif kind == "step_finish":
                _step(part, ending, tally)
            elif kind == "tool_use":
                ending.progress()
                _tool(part, commands)
            elif kind == "error":
                ending.cut_off(dig(event, "error", "name"), _condition(event.get("error")))
        complete, condition = ending.judged(output)
        # What a step used is written at its end: a program that was stopped in one used more.
        known = ending.terminal is not None and not lines.lost
        usage = tally.total("stdout: step_finish", None if in_step else tally.calls, complete=known)
        return Reading(usage, commands.all() if ending.began else None, ending.terminal, complete, condition)


def _step(part: Any, ending: Ending, tally: Tally) -> None:
    reason, tokens = dig(part, "reason"), dig(part, "tokens")
    output, reasoning = whole(dig(tokens, "output")), whole(dig(tokens, "reasoning"))
    tally.add(
        input_uncached=whole(dig(tokens, "input")),
        cache_read=whole(dig(tokens, "cache", "read")),
        cache_write=said(whole(dig(tokens, "cache", "write"))),
        output=None if output is None else output + (reasoning or 0),
        reasoning=reasoning,
    )
    if reason in OWN_ENDS:
        ending.own_end(reason)
    elif reason in GOES_ON:
        ending.progress()
    else:
        # An answer without an end: the program asks again, without end itself; only a key's cap stops that.
        ending.failed(Reason.PROVIDER_STREAM_CUT)


def _tool(part: Any, commands: Commands) -> None:
    state = dig(part, "state")
    if dig(part, "tool") == "bash":
        commands.began(dig(part, "callID"), dig(state, "input", "command"))
        if dig(state, "status") != "running":
            commands.ended(dig(part, "callID"), code(dig(state, "metadata", "exit")), dig(state, "output"))


def _condition(error: Any) -> Any:
    data = dig(error, "data")
    answer = dig(data, "responseBody") or dig(data, "message")
    found = condition_of(answer, status=whole(dig(data, "statusCode")), kinds=[dig(error, "name")])
    return condition_of(dig(data, "message")) if found is None else found
