"""Claude Code: `claude -p --output-format stream-json`, with its project file as the session."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from archive.usage import UsageReading
from runner.agents.ending import Ending
from runner.agents.lines import Lines, blocks, dig, name, objects, whole
from runner.agents.program import Api, Package, Setting, Start, base_environment
from runner.agents.reading import Commands, Output, Reading
from runner.agents.tally import Tally, said
from runner.agents.trouble import condition_of

SYNTHETIC = "<synthetic>"
"""Model of the messages that the program writes by itself."""
_EXIT = re.compile(r"Exit code (\d{1,3})\b")


class Claude:
    """Its input excludes caches, its output includes thinking; the result line is cumulative, subagents included."""

    name = "claude"
    package: Package | None = Package("npm", "@anthropic-ai/claude-code", "2.1.332", "")
    apis: tuple[Api, ...] = ("anthropic-messages",)
    key_variable: str | None = "ANTHROPIC_API_KEY"
    session_files: tuple[str, ...] = ("claude/projects/**/*.jsonl",)
    waits_for_ever = False

    def start(self, setting: Setting) -> Start:
        """As `Program.start`."""
        return Start(
            (
                *("claude", "-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions"),
                *("--model", setting.model, "--setting-sources", "", "--strict-mcp-config", setting.prompt),
            ),
            base_environment(setting)
            | {
                "ANTHROPIC_BASE_URL": setting.endpoint,
                "ANTHROPIC_SMALL_FAST_MODEL": setting.model,
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(setting.answer_tokens),
                "CLAUDE_CONFIG_DIR": f"{setting.home}/claude",
                "DISABLE_AUTOUPDATER": "1",
                "DISABLE_ERROR_REPORTING": "1",
                "DISABLE_TELEMETRY": "1",
                # The machine is the sandbox: without this it refuses to be started by root.
                "IS_SANDBOX": "1",
            },
            {},
        )

    def read(self, output: Output) -> Reading:
        """As `Program.read`."""
        ending, commands, answers = Ending(), Commands(), _Answers()
        result: Any = None
        for event in (lines := Lines(output.stdout)):
            kind = event.get("type")
            if kind == "result":
                result = event
                _end(event, ending)
            elif kind == "system" and event.get("subtype") == "api_retry":
                status, named = whole(event.get("error_status")), event.get("error")
                # Without a status there was no answer at all.
                text = None if status else "connection error"
                ending.failed(condition_of(text, status=status, kinds=[named]))
            elif kind == "system":
                ending.began = True
            else:
                _message(event, ending, commands, answers)
        kept, kept_ending, kept_commands = _Answers(), Ending(), Commands()
        for event in (session := Lines(*output.sessions)):
            _message(event, kept_ending, kept_commands, kept)
        ending.began = ending.began or kept_ending.began
        complete, condition = ending.judged(output)
        usage = _usage(result, answers, kept, lost=bool(lines.lost or session.lost))
        shown = commands.all() or kept_commands.all()
        return Reading(usage, shown if ending.began else None, ending.terminal, complete, condition)


class Usage(NamedTuple):
    """The numbers of one answer, or of all."""

    uncached: int | None
    read: int | None
    written: int | None
    output: int | None
    thinking: int | None

    @classmethod
    def of(cls, usage: Any) -> Usage:
        """As the provider's interface names them."""
        return cls(
            whole(dig(usage, "input_tokens")),
            whole(dig(usage, "cache_read_input_tokens")),
            whole(dig(usage, "cache_creation_input_tokens")),
            whole(dig(usage, "output_tokens")),
            said(whole(dig(usage, "output_tokens_details", "thinking_tokens"))),
        )

    def into(self, tally: Tally, final: bool) -> None:
        """Into the sums; without its end an answer's output is not known."""
        tally.add(
            input_uncached=self.uncached,
            cache_read=self.read,
            cache_write=self.written,
            output=self.output if final else None,
            reasoning=self.thinking if final else None,
        )


class _Answers:
    """One answer is one line for each of its blocks, each with the whole usage: an id counts once."""

    def __init__(self) -> None:
        self._usage: dict[str, tuple[Usage, bool]] = {}

    def add(self, message: Any) -> None:
        """A message's line; until its stop reason stands there, its output is only that of the beginning."""
        answer = name(dig(message, "id"))
        if not answer:
            return
        usage, final = Usage.of(dig(message, "usage")), dig(message, "stop_reason") is not None
        old, was_final = self._usage.get(answer, (usage, False))
        most = max(old.output or 0, usage.output or 0) or None
        self._usage[answer] = (usage._replace(output=most), final or was_final)

    def tally(self) -> Tally:
        """The sums."""
        tally = Tally()
        for usage, final in self._usage.values():
            usage.into(tally, final)
        return tally


def _usage(result: Any, told: _Answers, kept: _Answers, *, lost: bool) -> UsageReading:
    from_session = kept.tally()
    answers = from_session if from_session.calls else told.tally()
    if isinstance(result, dict):
        lines = answers.reading("")
        total = Tally()
        Usage.of(result.get("usage")).into(total, True)
        found = total.total("stdout: result, cumulative", answers.calls, complete=not lost)
        if lines.input_uncached_tokens == found.input_uncached_tokens:
            return found
        # More than the lines account for: answers that were cut off are counted by their beginning only, and answers
        # without text and tools stand in no line.
        return found.model_copy(update={"calls": None, "complete": found.complete and not answers.calls})
    source = "session: messages, once per id" if from_session.calls else "stdout: messages, once per id"
    return answers.reading(source, complete=False)


def _message(event: dict[str, Any], ending: Ending, commands: Commands, answers: _Answers) -> None:
    kind, message = event.get("type"), event.get("message")
    if kind not in ("assistant", "user") or not isinstance(message, dict):
        return
    if message.get("model") == SYNTHETIC:
        return
    ending.progress()
    if kind == "assistant":
        answers.add(message)
    for block in objects(message.get("content")):
        if block.get("type") == "tool_use" and block.get("name") == "Bash":
            commands.began(block.get("id"), dig(block, "input", "command"))
        elif block.get("type") == "tool_result":
            text = blocks(block.get("content"))
            failed = _EXIT.match(text or "") if block.get("is_error") is True else None
            commands.ended(block.get("tool_use_id"), int(failed[1]) if failed else None, text)


def _end(event: dict[str, Any], ending: Ending) -> None:
    """The result line. Its subtype says "success" of an error too: the flag and the terminal reason say more."""
    terminal = event.get("terminal_reason") or event.get("subtype")
    if event.get("is_error") is not True:
        ending.own_end(terminal)
    elif name(event.get("subtype")).startswith("error_max_"):
        ending.own_end(event["subtype"])
    elif name(terminal).startswith("aborted"):
        ending.stopped(terminal)
    else:
        kinds = (event.get("api_error_type"), event.get("api_error"))
        status = whole(event.get("api_error_status"))
        ending.cut_off(terminal, condition_of(event.get("result"), status=status, kinds=kinds))
