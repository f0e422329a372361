"""pi: `pi --mode json`, whose session file has the same messages as its output."""

from __future__ import annotations

import json
from typing import Any

from archive.reasons import Reason
from runner.agents.ending import Ending
from runner.agents.lines import Lines, blocks, code, dig, objects, whole
from runner.agents.program import Api, Package, Setting, Start, base_environment
from runner.agents.reading import Commands, Output, Reading
from runner.agents.tally import Tally, said
from runner.agents.trouble import condition_of

REPEATS = tuple(
    b'{"type":"%s"' % kind
    for kind in (b"message_start", b"message_update", b"turn_end", b"agent_end", b"tool_execution_update")
)
"""Events that hold a message once more: each would count its usage again."""
EXTRA = ("usage", "compaction", "branch_summary")
"""Entries of a session that are no message and were answers of a model all the same."""
OFF = (
    *("--no-extensions", "--no-skills", "--no-prompt-templates", "--no-context-files", "--no-themes", "--no-approve"),
    "--offline",
)


class Pi:
    """Its input excludes what came from a cache, its output includes reasoning."""

    name = "pi"
    package: Package | None = Package("npm", "@earendil-works/pi-coding-agent", "1.6.0", "node@24.21.0")
    apis: tuple[Api, ...] = ("openai-completions", "openai-responses", "anthropic-messages")
    key_variable: str | None = "RUN_KEY"
    session_files: tuple[str, ...] = ("sessions/**/*.jsonl",)
    waits_for_ever = False

    def start(self, setting: Setting) -> Start:
        """As `Program.start`."""
        home = setting.home
        free = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0)
        model = {
            "id": setting.model,
            "name": setting.model,
            "reasoning": False,
            "input": ["text"],
            "contextWindow": setting.context_tokens,
            "maxTokens": setting.answer_tokens,
            "cost": free,
        }
        provider = {
            "baseUrl": f"{setting.endpoint}/v1",
            "api": self.apis[0],
            "apiKey": f"${self.key_variable}",
            "models": [model],
        }
        settings = {"enableInstallTelemetry": False, "images": {"blockImages": True}}
        return Start(
            (
                *("pi", "--provider", "run", "--model", setting.model, "--mode", "json"),
                *("--session-dir", f"{home}/sessions", *OFF, setting.prompt),
            ),
            base_environment(setting)
            | {
                "PI_CODING_AGENT_DIR": f"{home}/pi",
                "PI_OFFLINE": "1",
                "PI_SKIP_VERSION_CHECK": "1",
                "PI_TELEMETRY": "0",
            },
            {
                f"{home}/pi/models.json": json.dumps({"providers": {"run": provider}}),
                f"{home}/pi/settings.json": json.dumps(settings),
            },
        )

    def read(self, output: Output) -> Reading:
        """As `Program.read`. The session file is asked first: it has the answers that no event shows."""
        told = self._messages(Lines(output.stdout, skip=REPEATS), "stdout: message_end", output)
        if not output.sessions:
            return told
        kept = self._messages(Lines(*output.sessions), "session: messages, usage and summaries", output)
        if told.terminal is None and told.commands is None:
            return kept
        return told._replace(usage=kept.usage) if kept.usage.source else told

    def _messages(self, lines: Lines, source: str, output: Output) -> Reading:
        ending, commands, tally = Ending(), Commands(), Tally()
        for event in lines:
            kind = event.get("type")
            if kind in ("message_end", "message"):
                _message(event.get("message"), ending, commands, tally)
            elif kind in EXTRA and isinstance(event.get("usage"), dict):
                _count(tally, event["usage"], "")
            elif kind == "tool_execution_end":
                said_exit = code(dig(event, "result", "structuredContent", "exit_code"))
                commands.ended(event.get("toolCallId"), said_exit, blocks(dig(event, "result", "content")))
            elif kind == "auto_retry_start":
                ending.again()
            elif kind in ("session", "agent_start"):
                ending.began = True
        if not ending.began and output.stderr.strip():
            # Without events, its last words are on the other stream.
            last = output.stderr[-20_000:].decode("utf-8", "replace")
            if (condition := condition_of(last)) is not None:
                ending.cut_off("error", condition)
        complete, condition = ending.judged(output)
        # A program that was stopped, or got a part of an answer, used more than it wrote down.
        cut = ending.terminal is None or condition is Reason.PROVIDER_STREAM_CUT
        usage = tally.reading(source, complete=not cut and not lines.lost)
        return Reading(usage, commands.all() if ending.began else None, ending.terminal, complete, condition)


def _message(message: Any, ending: Ending, commands: Commands, tally: Tally) -> None:
    role, reason = dig(message, "role"), dig(message, "stopReason")
    if role == "toolResult":
        ending.progress()
        commands.ended(dig(message, "toolCallId"), None, blocks(dig(message, "content")))
    if role != "assistant":
        return
    if reason == "error":
        condition = condition_of(dig(message, "errorMessage"))
        ending.failed(condition)
        ending.cut_off("error", condition)
        return
    ending.progress()
    _count(tally, dig(message, "usage"), dig(message, "api"))
    for block in objects(dig(message, "content")):
        if block.get("type") == "toolCall" and block.get("name") == "bash":
            commands.began(block.get("id"), dig(block, "arguments", "command"))
    if reason in ("stop", "length"):
        ending.own_end(reason)
    elif reason == "aborted":
        ending.stopped(reason)


def _count(tally: Tally, usage: Any, api: Any) -> None:
    written = whole(dig(usage, "cacheWrite"))
    tally.add(
        input_uncached=whole(dig(usage, "input")),
        cache_read=whole(dig(usage, "cacheRead")),
        # Only this interface tells of writing; for the others the program writes 0.
        cache_write=written if api == "anthropic-messages" else said(written),
        output=whole(dig(usage, "output")),
        reasoning=whole(dig(usage, "reasoning")),
    )
