"""Which tools to try, in which order: rather one that reads, with few arguments; never one that destroys."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .mcp_arguments import CannotFill, arguments_for

_DESTROYS = {
    "buy", "cancel", "clear", "close", "delete", "destroy", "drop", "erase", "flush", "format", "kill", "overwrite",
    "pay", "post", "publish", "purchase", "purge", "remove", "reset", "revoke", "rm", "send", "shutdown", "stop",
    "terminate", "transfer", "truncate", "uninstall", "unlink", "wipe",
}  # fmt: skip
_TELLS_SECRETS = {
    "credential", "credentials", "env", "environment", "key", "keys", "password", "passwords", "secret", "secrets",
    "token", "tokens",
}  # fmt: skip
_CHANGES = {
    "add", "apply", "click", "commit", "copy", "create", "edit", "elicit", "exec", "execute", "insert", "install",
    "invoke", "merge", "move", "navigate", "open", "push", "put", "rename", "run", "sample", "save", "set", "sleep",
    "start", "subscribe", "toggle", "trigger", "type", "update", "upload", "wait", "write",
}  # fmt: skip
_READS = {
    "calculate", "check", "compute", "convert", "count", "current", "describe", "echo", "fetch", "find", "get",
    "help", "info", "list", "lookup", "now", "parse", "ping", "query", "read", "search", "show", "status",
    "validate", "version", "view",
}  # fmt: skip


@dataclass(frozen=True)
class Tool:
    """What the choice needs of a listed tool. `reads` and `destroys` are its own hints, None when not given."""

    name: str
    schema: Mapping[str, Any] = field(default_factory=dict)
    reads: bool | None = None
    destroys: bool | None = None


@dataclass(frozen=True)
class Call:
    """One call to make."""

    tool: str
    arguments: dict[str, Any]


def calls(tools: Iterable[Tool], at_most: int) -> list[Call]:
    """The calls to try, best first. A tool that looks harmful by its name or by its own hint is never among them."""
    ranked = sorted(
        (tool for tool in tools if not looks_harmful(tool)),
        key=lambda tool: (_rank(tool), len(_required(tool))),
    )
    found: list[Call] = []
    for tool in ranked:
        if len(found) == at_most:
            break
        try:
            found.append(Call(tool.name, arguments_for(tool.schema)))
        except CannotFill:
            continue
    return found


def looks_harmful(tool: Tool) -> bool:
    """It destroys, or it tells secrets. A hint can add a doubt and never take one away: the name is believed."""
    return bool(_words(tool.name) & (_DESTROYS | _TELLS_SECRETS)) or (tool.destroys is True and tool.reads is not True)


def _rank(tool: Tool) -> int:
    words = _words(tool.name)
    if words & _CHANGES or tool.reads is False:
        return 3
    if tool.reads:
        return 0
    return 1 if words & _READS else 2


def _required(tool: Tool) -> list[Any]:
    required = tool.schema.get("required")
    return required if isinstance(required, list) else []


def _words(name: str) -> set[str]:
    """`getUserName`, `get_user-name` -> get, user, name."""
    return set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name[:200]).lower()))
