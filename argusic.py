"""The command. Each room mounts its own commands, and a room is imported only when one of them is called."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperGroup

COMMANDS: dict[str, dict[str, str] | str] = {
    "demo": "demo:demo",
    "cycle": {
        "plan": "bot.commands:cycle_plan",
        "run": "runner.commands:cycle_run",
        "status": "runner.commands:cycle_status",
        "close": "bot.commands:cycle_close",
    },
    "attempt": {"run": "runner.commands:attempt_run"},
    "agent": {"explain": "runner.agents.commands:agent_explain"},
    "reproduce": "runner.commands:reproduce",
    "keys": {"sweep": "runner.keys.commands:keys_sweep", "stop": "runner.keys.commands:keys_stop"},
    "score": {
        "attempt": "scoring.commands:score_attempt",
        "set": "scoring.commands:score_set",
        "board": "scoring.commands:score_board",
        "verdict": "scoring.commands:score_verdict",
    },
    "evidence": {
        "mask": "runner.masking.commands:evidence_mask",
        "apply": "runner.masking.commands:evidence_apply",
        "check": "audit.cleanliness.commands:evidence_check",
        "play": "runner.commands:play",
        "text": "runner.commands:evidence_text",
        "release": "runner.commands:evidence_release",
        "push": "audit.commands:evidence_push",
        "fetch": "audit.commands:evidence_fetch",
        "stamp": "audit.commands:evidence_stamp",
        "take-down": "audit.commands:evidence_take_down",
    },
    "verify": "audit.commands:verify",
    "audit": {
        "complete": "audit.commands:audit_complete",
        "append-only": "audit.commands:audit_append_only",
        "rules": "audit.commands:audit_rules",
        "pages": "audit.commands:audit_pages",
    },
    "image": {
        "build": "runner.image.commands:image_build",
        "show": "runner.image.commands:image_show",
        "diff": "runner.image.commands:image_diff",
    },
    "pages": {"build": "bot.commands:pages_build"},
    "play": "runner.commands:play",
    "doctor": "runner.commands:doctor",
}
"""Words of the command line, in the order of the help, to the function that carries them out."""

ABOUT = {
    "demo": "Measure a small pool of real packages here and now, from plan to pull request.",
    "cycle": "Plan, run, watch and close a round of measurement.",
    "attempt": "Make a single attempt.",
    "agent": "Say what an agent's program left behind.",
    "keys": "Delete model keys that no attempt owns, or all of them.",
    "reproduce": "Make an attempt once more and compare.",
    "score": "Check the arithmetic: JSON lines in, JSON lines out.",
    "evidence": "Mask, prove clean, read and let out what attempts recorded.",
    "verify": "Check everything about one run or one cycle.",
    "audit": "Check what the project promises.",
    "image": "Build, show and compare the environment in which attempts are made.",
    "pages": "Build the pages from pools and results.",
    "play": "Play a recording in this terminal.",
    "doctor": "Say what this computer can and cannot guarantee.",
}


class Rooms(TyperGroup):
    """A group whose members are imported when they are called."""

    members: ClassVar[dict[str, Any]] = {}
    sentences: ClassVar[dict[str, str]] = {}

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.members)

    def get_command(self, ctx: Any, name: str) -> Any:
        target = self.members.get(name)
        if target is None:
            return None
        if isinstance(target, dict):
            return _group(target, name)
        return _command(name, target)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.sentences.get(name) or self._sentence(ctx, name)) for name in self.members])

    def _sentence(self, ctx: Any, name: str) -> str:
        return str(self.get_command(ctx, name).get_short_help_str(100))


def _group(members: dict[str, Any], name: str) -> Any:
    room = type("Room", (Rooms,), {"members": members})
    app = typer.Typer(cls=room, add_completion=False, no_args_is_help=True, rich_markup_mode=None)
    app.callback(help=ABOUT[name])(lambda: None)
    group = typer.main.get_command(app)
    group.name = name
    return group


def _command(name: str, target: str) -> Any:
    module, _, function = target.partition(":")
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(name)(getattr(importlib.import_module(module), function))
    return typer.main.get_command(app)


app = typer.Typer(
    cls=type("Argusic", (Rooms,), {"members": COMMANDS, "sentences": ABOUT}),
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback()
def root_options(
    ctx: typer.Context,
    root: Annotated[
        Path | None, typer.Option(help="Checkout whose pools and results are meant.", show_default="this one")
    ] = None,
) -> None:
    """Can an AI coding agent, alone, make real software run?

    Exit status: 0 fine, 1 a check found something, 2 wrong input, 4 this computer cannot, 5 work is left, 130 stopped.
    """
    ctx.obj = (root or Path(__file__).parent).resolve()


def main() -> None:
    """Runs the command; an expected error is one message and an exit status, never a traceback."""
    from archive.errors import ArgusicError, MachineError, printable

    try:
        app()
    except ArgusicError as error:
        print(f"error: {printable(str(error))}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(141)
    except OSError as error:
        print(printable(f"error: {error.filename or 'this computer'}: {error.strerror or error}"), file=sys.stderr)
        sys.exit(MachineError.exit_code)


if __name__ == "__main__":
    main()
