"""OpenAI Codex CLI: `codex exec --json`, with its rollout files as the session."""

from __future__ import annotations

import json
import shlex
from typing import Any

from archive.errors import ArgusicError
from archive.usage import UsageReading
from runner.agents.ending import Ending
from runner.agents.lines import Lines, code, dig, name, whole
from runner.agents.program import Api, Package, Setting, Start, base_environment
from runner.agents.reading import Commands, Output, Reading
from runner.agents.tally import Tally, said, without
from runner.agents.trouble import condition_of

SHELL_FLAGS = ("-c", "-lc")
OFF = ("plugins", "apps", "remote_plugin", "view_image", "image_generation")
"""Features that ask servers of its maker, or that are about images."""


class Codex:
    """Usage is from the rollout files: the event of a failed turn has none, and the total leaves compaction out."""

    name = "codex"
    package: Package | None = Package("npm", "@openai/codex", "0.171.0", "")
    apis: tuple[Api, ...] = ("openai-responses",)
    key_variable: str | None = "RUN_KEY"
    session_files: tuple[str, ...] = ("codex/sessions/**/rollout-*.jsonl",)
    waits_for_ever = True

    def start(self, setting: Setting) -> Start:
        """As `Program.start`. Raises ArgusicError for a home below /tmp, where it makes no helper programs."""
        if setting.home == "/tmp" or setting.home.startswith("/tmp/"):
            raise ArgusicError("codex: its home must not be below /tmp, where it runs commands and reports no failure")
        config = "\n".join(
            (
                f"model = {_quoted(setting.model)}",
                'model_provider = "run"',
                f"model_context_window = {setting.context_tokens}",
                # The machine is the sandbox. In one of its own the program writes nothing and still ends well.
                'approval_policy = "never"',
                'sandbox_mode = "danger-full-access"',
                "check_for_update_on_startup = false",
                'web_search = "disabled"',
                "project_doc_max_bytes = 0",
                "[model_providers.run]",
                'name = "run"',
                f"base_url = {_quoted(setting.endpoint + '/v1')}",
                f'env_key = "{self.key_variable}"',
                'wire_api = "responses"',
                "[analytics]",
                "enabled = false",
                "[feedback]",
                "enabled = false\n",
            )
        )
        off = tuple(word for feature in OFF for word in ("--disable", feature))
        return Start(
            ("codex", "exec", "--json", "--skip-git-repo-check", *off, setting.prompt),
            base_environment(setting) | {"CODEX_HOME": f"{setting.home}/codex"},
            {f"{setting.home}/codex/config.toml": config},
        )

    def read(self, output: Output) -> Reading:
        """As `Program.read`."""
        ending, commands, stated = Ending(), Commands(), Tally()
        for event in Lines(output.stdout):
            _of_stdout(event, ending, commands, stated)
        usage, from_rollout = self._rollouts(output, ending)
        complete, condition = ending.judged(output)
        if usage is None:
            usage = stated.total("stdout: turn.completed, cumulative", None)
        shown = tuple(one._replace(command=_unwrapped(one.command)) for one in commands.all() or from_rollout.all())
        return Reading(usage, shown if ending.began else None, ending.terminal, complete, condition)

    def _rollouts(self, output: Output, ending: Ending) -> tuple[UsageReading | None, Commands]:
        """Usage, None where there is no rollout; and the commands. The end is asked only where stdout has none."""
        tally, commands, counted = Tally(), Commands(), set[str]()
        asked = ending.terminal is None
        for line in (lines := Lines(*output.sessions)):
            payload = line.get("payload")
            kind = dig(payload, "type")
            if line.get("type") == "token_usage_record":
                # Forks and subagents replay records: each answer counts once, under its own id.
                answer = name(dig(payload, "response_id"))
                if answer not in counted:
                    counted.add(answer)
                    _count(tally, dig(payload, "usage"))
            elif kind == "item_completed" and dig(payload, "item", "type") == "CommandExecution":
                item = dig(payload, "item")
                argv = dig(item, "command")
                texts = [part for part in argv if isinstance(part, str)] if isinstance(argv, list) else []
                commands.began(dig(item, "id"), _inner(texts))
                commands.ended(dig(item, "id"), code(dig(item, "exit_code")), dig(item, "aggregated_output"))
            elif asked and kind == "task_complete":
                ending.own_end("task_complete")
            elif asked and kind == "turn_aborted":
                ending.stopped("turn_aborted")
            elif asked and kind == "task_started":
                ending.progress()
        if not lines.found:
            return None, commands
        # A program that was stopped used more than it wrote down.
        known = ending.terminal is not None and not lines.lost
        source = "rollout: token_usage_record, once per response_id"
        return tally.total(source, tally.calls or None, complete=known), commands


def _of_stdout(event: dict[str, Any], ending: Ending, commands: Commands, stated: Tally) -> None:
    kind, item = event.get("type"), event.get("item")
    if kind in ("thread.started", "turn.started"):
        ending.progress()
    elif kind == "turn.completed":
        ending.own_end(kind)
        _count(stated, event.get("usage"))
    elif kind == "turn.failed":
        ending.cut_off(kind, condition_of(dig(event, "error", "message")))
    elif kind == "error":
        ending.failed(condition_of(event.get("message")))
    elif dig(item, "type") == "command_execution":
        ending.progress()
        commands.began(dig(item, "id"), dig(item, "command"))
        if kind == "item.completed":
            commands.ended(dig(item, "id"), code(dig(item, "exit_code")), dig(item, "aggregated_output"))
    elif isinstance(kind, str) and kind.startswith("item.") and dig(item, "type") != "error":
        ending.progress()


def _count(tally: Tally, usage: Any) -> None:
    read = whole(dig(usage, "cached_input_tokens"))
    written = said(whole(dig(usage, "cache_write_input_tokens")))
    tally.add(
        input_uncached=without(whole(dig(usage, "input_tokens")), read, written),
        cache_read=read,
        cache_write=written,
        output=whole(dig(usage, "output_tokens")),
        reasoning=whole(dig(usage, "reasoning_output_tokens")),
    )


def _unwrapped(command: str) -> str:
    """The command itself, without the shell around it."""
    try:
        argv = shlex.split(command)
    except ValueError:
        return command
    return _inner(argv) if len(argv) == 3 and argv[1] in SHELL_FLAGS else command


def _inner(argv: list[str]) -> str:
    if len(argv) == 3 and argv[1] in SHELL_FLAGS:
        return argv[2]
    return shlex.join(argv)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
