"""What can be confirmed of a report without judging it (MEASUREMENT §6): seen, decoded or probed, and replayed."""

from __future__ import annotations

import re
import shlex
from typing import Literal

from archive.record import Claims
from archive.report import Report, VerifiedHow
from runner.watch import Ended

REPLAY_SECONDS = 120
REPLAY_BYTES = 1 << 20
RETURNED_CHARACTERS = 2000

PROBES = frozenset(
    (
        *("[", "command", "du", "exiftool", "ffprobe", "file", "find", "identify", "ls", "lsof", "md5sum", "mediainfo"),
        *("nc", "netstat", "pgrep", "pip", "ps", "sha256sum", "ss", "stat", "test", "type", "wc", "which"),
    )
)
"""Programs that say that something is there, its size or its header, and decode nothing."""
LISTS = {
    "docker": frozenset(("images", "inspect", "logs", "ps")),
    "npm": frozenset(("i", "install", "list", "ls", "view")),
    "podman": frozenset(("images", "inspect", "logs", "ps")),
    "uv": frozenset(("pip",)),
}
"""Programs that only probe with one of these words."""
DECODES = frozenset(
    (
        *("argusic-mcp", "bun", "cargo", "deno", "go", "java", "jest", "node", "npm", "npx", "perl", "php", "pytest"),
        *("python", "ruby", "uv", "uvx"),
    )
)
"""Programs that run the subject or its tests."""
ABOUT_ITSELF = frozenset(("--version", "-V", "--help", "-h", "version", "help"))
"""Words that alone after a program make it tell about itself."""
LIVE = re.compile(r"localhost|127\.0\.0\.1|\[::1\]|0\.0\.0\.0")
REFUSED = re.compile(r"refused|ECONNREFUSED|Failed to connect|Couldn't connect", re.I)
ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


def claims(report: Report, commands: list[str] | None, replayed: tuple[Ended, str] | None) -> Claims | None:
    """What was found out about `verified_how`; None where the report itself says "not verified".

    `commands` are those of the session file, None where there is none to read; `replayed` is how the command ended and
    what it printed when the harness ran it once more.
    """
    if not isinstance(report.verified_how, VerifiedHow):
        return None
    how = report.verified_how
    state, ended, printed = _replay(how, replayed)
    return Claims(
        seen="unknown" if commands is None else "yes" if _seen(how.command, commands) else "no",
        kind=kind_of(how.command),
        replay=state,
        replay_exit=ended,
        replay_returned=printed,
    )


def kind_of(command: str) -> Literal["decodes", "probes", "unknown"]:
    """Whether a shell command can decode a result: one part that decodes is enough, one that is unknown is not."""
    kinds = [_kind_of_part(part) for part in re.split(r"\|\||&&|[|;&\n]", command) if part.strip()]
    if "decodes" in kinds:
        return "decodes"
    return "probes" if kinds and all(kind == "probes" for kind in kinds) else "unknown"


def _kind_of_part(part: str) -> Literal["decodes", "probes", "unknown"]:
    try:
        words = shlex.split(part)
    except ValueError:
        return "unknown"
    if "$(" in part or "`" in part:
        return "unknown"
    while words and (re.match(r"[A-Za-z_]\w*=", words[0]) or words[0] in ("env", "exec", "time", "timeout", "sudo")):
        words = words[2:] if words[0] == "timeout" else words[1:]
    if not words or words[0] in ("cd", "true", "echo", ".", "source", "export", "set"):
        return "probes"
    program = re.sub(r"^python[\d.]*$", "python", words[0].rsplit("/", 1)[-1])
    if program == "ffmpeg":
        return "decodes" if re.search(r"-f null", part) else "unknown"
    rest = words[1:]
    if program in PROBES or (rest and ABOUT_ITSELF.issuperset(rest)):
        return "probes"
    if rest and rest[0] in LISTS.get(program, ()):
        return "probes"
    if program == "python" and rest[:2] == ["-m", "pip"]:
        return "probes"
    return "decodes" if program in DECODES else "unknown"


def _seen(command: str, commands: list[str]) -> bool:
    """Whether one of `commands` is the command or has it as a part of its own, not as a piece of a longer word."""
    wanted = re.compile(rf"(?<![\w./-]){re.escape(' '.join(command.split()))}(?![\w./-])")
    return any(wanted.search(" ".join(run.split())) for run in commands)


def _replay(
    how: VerifiedHow, replayed: tuple[Ended, str] | None
) -> tuple[Literal["same", "differs", "failed", "timed-out", "needs-live-process", "not-run"], int | None, str | None]:
    if replayed is None:
        return "not-run", None, None
    ended, text = replayed
    printed = _plain(text)
    shown = printed[:RETURNED_CHARACTERS]
    if ended.by == "harness":
        return "not-run", None, None
    if ended.by != "agent":
        return "timed-out", None, shown
    if ended.exit != 0:
        live = LIVE.search(how.command + printed) and REFUSED.search(printed)
        return "needs-live-process" if live else "failed", ended.exit, shown
    return "same" if _says(printed, how.returned) else "differs", 0, shown


def _plain(text: str) -> str:
    return "".join(c for c in ESCAPES.sub("", text).replace("\r\n", "\n") if c >= " " or c in "\n\t")


def _says(printed: str, claimed: str) -> bool:
    """Whether every claimed line was printed, whole and in this order; nothing claimed is true of nothing printed."""
    lines = iter(_lines(printed))
    wanted = _lines(claimed)
    return all(line in lines for line in wanted) if wanted else not _lines(printed)


def _lines(text: str) -> list[str]:
    squeezed = (" ".join(line.split()) for line in _plain(text).splitlines())
    return [line for line in squeezed if line]
