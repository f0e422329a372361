"""mini-SWE-agent: its trajectory file says all that its output says, and in a form that can be read."""

from __future__ import annotations

from typing import Any

from runner.agents.ending import Ending
from runner.agents.lines import code, dig, document, objects, whole, words
from runner.agents.program import Api, Package, Setting, Start, base_environment
from runner.agents.reading import Commands, Output, Reading
from runner.agents.tally import Tally, without
from runner.agents.trouble import condition_of

TRAJECTORY = "mini/trajectory.json"
NOT_RUN = "action was not executed"
"""What the trajectory says of the command that only says "I am done"."""


class MiniSweAgent:
    """Usage is the provider's own, once per answer; an ending by an exception is the only one that is not its own."""

    name = "mini-swe-agent"
    package: Package | None = Package("pypi", "mini-swe-agent", "2.4.6", "python3.11", ("litellm==1.110.2",))
    apis: tuple[Api, ...] = ("openai-completions",)
    key_variable: str | None = "OPENAI_API_KEY"
    session_files: tuple[str, ...] = (TRAJECTORY,)
    waits_for_ever = False

    def start(self, setting: Setting) -> Start:
        """As `Program.start`. The trajectory's path is fresh: a stopped program leaves an older file as it was."""
        return Start(
            (
                *("mini", "-y", "--exit-immediately", "-m", f"openai/{setting.model}", "-l", "0"),
                *("-o", f"{setting.home}/{TRAJECTORY}", "-t", setting.prompt),
            ),
            base_environment(setting)
            | {
                # It fetches a table of prices at its start and refuses models that are not in it.
                "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                "MSWEA_CONFIGURED": "true",
                "MSWEA_COST_TRACKING": "ignore_errors",
                "MSWEA_GLOBAL_CONFIG_DIR": f"{setting.home}/mini",
                "OPENAI_API_BASE": f"{setting.endpoint}/v1",
            },
            {},
        )

    def read(self, output: Output) -> Reading:
        """As `Program.read`. Without a trajectory nothing can be read: its output is text for a person."""
        ending, commands, tally = Ending(), Commands(), Tally()
        trajectory = next((found for data in output.sessions if (found := document(data))), None)
        ending.began = trajectory is not None
        for message in objects(dig(trajectory, "messages")):
            _message(message, ending, commands, tally)
        if ending.terminal is None and (status := words(dig(trajectory, "info", "exit_status"))):
            ending.own_end(status)
        complete, condition = ending.judged(output)
        usage = tally.reading("trajectory: the provider's usage of each answer")
        if trajectory is None:
            return Reading(usage.unknown(), None, None, complete, condition)
        return Reading(usage, commands.all(), ending.terminal, complete, condition)


def _message(message: dict[str, Any], ending: Ending, commands: Commands, tally: Tally) -> None:
    extra = message.get("extra")
    usage = dig(extra, "response", "usage")
    if isinstance(usage, dict):
        ending.progress()
        _count(tally, usage)
    for action in objects(dig(extra, "actions")):
        commands.began(action.get("tool_call_id"), action.get("command"))
    if message.get("role") == "tool":
        if dig(extra, "exception_info") == NOT_RUN:
            commands.forget(message.get("tool_call_id"))
        commands.ended(message.get("tool_call_id"), code(dig(extra, "returncode")), dig(extra, "raw_output"))
    if message.get("role") == "exit":
        status, exception = words(dig(extra, "exit_status")), dig(extra, "exception_str")
        if exception is None:
            ending.own_end(status)
        else:
            ending.cut_off(status, condition_of(exception, kinds=[status]))


def _count(tally: Tally, usage: dict[str, Any]) -> None:
    read = whole(dig(usage, "prompt_tokens_details", "cached_tokens"))
    tally.add(
        input_uncached=without(whole(usage.get("prompt_tokens")), read),
        cache_read=read,
        cache_write=None,
        output=whole(usage.get("completion_tokens")),
        reasoning=whole(dig(usage, "completion_tokens_details", "reasoning_tokens")),
    )
