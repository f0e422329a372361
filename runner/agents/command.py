"""Any program as an agent, from the [command] table of its file."""

from __future__ import annotations

import re

from archive.command import PLACES, CommandProgram
from archive.reasons import Limit
from archive.usage import UsageReading
from runner.agents.program import Api, Package, Setting, Start, base_environment
from runner.agents.reading import Output, Reading

LAST_WORDS_BYTES = 1 << 16
_PLACE = re.compile("|".join(re.escape(place) for place in PLACES))


class CommandLine:
    """Nothing is known of the form of its output: no usage, no commands, and an end of its own is the agent's end.

    Its provider's trouble is seen where the file says what the program's last words then are, and where the key's own
    account shows it.
    """

    name = "command"
    apis: tuple[Api, ...] = ("openai-completions", "openai-responses", "anthropic-messages", "google")
    waits_for_ever = False

    def __init__(self, program: CommandProgram) -> None:
        self.program = program
        self.key_variable: str | None = program.key_variable
        self.session_files = program.session_files
        self.package: Package | None = None
        if program.package is not None:
            one = program.package
            self.package = Package(one.registry, one.name, one.version, "")

    def start(self, setting: Setting) -> Start:
        """As `Program.start`."""
        filled = {
            "{endpoint}": setting.endpoint,
            "{home}": setting.home,
            "{model}": setting.model,
            "{prompt}": setting.prompt,
        }
        return Start(
            tuple(_filled(word, filled) for word in self.program.argv),
            base_environment(setting)
            | {name: _filled(value, filled) for name, value in self.program.environment.items()},
            {f"{setting.home}/{path}": _filled(text, filled) for path, text in self.program.files.items()},
        )

    def read(self, output: Output) -> Reading:
        """As `Program.read`."""
        lines = output.stderr[-LAST_WORDS_BYTES:].decode("utf-8", "replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        for trouble in self.program.trouble:
            if last.startswith(trouble.stderr_begins):
                reached = isinstance(trouble.condition, Limit)
                return Reading(UsageReading.unknown(), None, None, reached, trouble.condition)
        return Reading(UsageReading.unknown(), None, None, output.by_itself, None)


def _filled(text: str, filled: dict[str, str]) -> str:
    # In one pass: what is filled in is not looked at again.
    return _PLACE.sub(lambda match: filled[match.group()], text)
