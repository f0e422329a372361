"""Gemini CLI: `gemini --output-format stream-json`."""

from __future__ import annotations

import json
import re
from typing import Any

from runner.agents.ending import Ending
from runner.agents.lines import Lines, dig, whole
from runner.agents.program import Api, Package, Setting, Start, base_environment
from runner.agents.reading import Commands, Output, Reading
from runner.agents.tally import Tally, without
from runner.agents.trouble import condition_of

STDERR_BYTES = 1 << 18
_STATUS = re.compile(rb"^\s*status: ([45]\d\d),?\s*$", re.M)


class Gemini:
    """Its input includes what came from a cache; reasoning is in neither input nor output, only in the total."""

    name = "gemini"
    package: Package | None = Package("npm", "@google/gemini-cli", "0.61.0", "node@24.21.0")
    apis: tuple[Api, ...] = ("google",)
    key_variable: str | None = "GEMINI_API_KEY"
    session_files: tuple[str, ...] = ()
    waits_for_ever = False

    def start(self, setting: Setting) -> Start:
        """As `Program.start`. It has no switch for instructions that lie in the project."""
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
        }
        return Start(
            (
                *("gemini", "-m", setting.model, "--output-format", "stream-json", "--yolo", "--skip-trust"),
                *("-p", setting.prompt),
            ),
            base_environment(setting) | {"GEMINI_CLI_HOME": setting.home, "GOOGLE_GEMINI_BASE_URL": setting.endpoint},
            {f"{setting.home}/.gemini/settings.json": json.dumps(settings)},
        )

    def read(self, output: Output) -> Reading:
        """As `Program.read`. Its exit status is an HTTP status modulo 256, and means nothing here."""
        ending, commands, total = Ending(), Commands(), Tally()
        said: Any = None
        for event in (lines := Lines(output.stdout)):
            kind = event.get("type")
            if kind == "result":
                _end(event, output, ending, said)
                _count(total, event.get("stats"))
            elif kind == "tool_use":
                ending.progress()
                if event.get("tool_name") == "run_shell_command":
                    commands.began(event.get("tool_id"), dig(event, "parameters", "command"))
            elif kind == "tool_result":
                ending.progress()
                commands.ended(event.get("tool_id"), None, event.get("output"))
            elif kind == "message" and event.get("role") == "assistant":
                ending.progress()
            else:
                ending.began = True
                if kind == "error" and event.get("severity") == "error":
                    said = event.get("message")
        complete, condition = ending.judged(output)
        usage = total.total("stdout: result.stats, cumulative", None, complete=not lines.lost)
        return Reading(usage, commands.all() if ending.began else None, ending.terminal, complete, condition)


def _end(event: dict[str, Any], output: Output, ending: Ending, said: Any) -> None:
    """The result line; what failed may stand in an event before it, and is `said` then."""
    status = event.get("status")
    if status == "success":
        ending.own_end(status)
        return
    # What it prints for a person has the HTTP status that its own event leaves out.
    found = _STATUS.findall(output.stderr[-STDERR_BYTES:])
    text, kind = dig(event, "error", "message") or said, dig(event, "error", "type")
    ending.cut_off("error", condition_of(text, status=int(found[-1]) if found else None, kinds=[kind]))


def _count(tally: Tally, stats: Any) -> None:
    total, given = whole(dig(stats, "total_tokens")), whole(dig(stats, "input_tokens"))
    output = without(total, given) if given is not None else None
    shown = whole(dig(stats, "output_tokens"))
    read = whole(dig(stats, "cached"))
    tally.add(
        input_uncached=without(given, read),
        cache_read=read,
        cache_write=None,
        output=output,
        reasoning=without(output, shown) if shown is not None else None,
    )
