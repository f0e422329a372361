"""What is different between two images."""

from __future__ import annotations

from typing import NamedTuple

from runner.image.describe import Described


class Change(NamedTuple):
    """One thing that is not the same; null where one image does not have it."""

    kind: str
    """package, tool or config."""
    name: str
    before: str | None
    after: str | None

    def __str__(self) -> str:
        if self.before is None:
            return f"+ {self.kind} {self.name} {self.after}"
        if self.after is None:
            return f"- {self.kind} {self.name} {self.before}"
        return f"~ {self.kind} {self.name} {self.before} → {self.after}"


def changes(a: Described, b: Described) -> list[Change]:
    """From `a` to `b`, in order of kind and name."""
    pairs = (("package", a.packages, b.packages), ("tool", a.tools, b.tools), ("config", _config(a), _config(b)))
    return [
        Change(kind, name, before.get(name), after.get(name))
        for kind, before, after in pairs
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]


def _config(one: Described) -> dict[str, str]:
    env = dict(entry.partition("=")[::2] for entry in one.config.env)
    said = {
        "architecture": one.architecture,
        "command": " ".join(one.config.command),
        "folder": one.config.folder,
        "hostname": one.config.hostname,
        "user": one.config.user,
    }
    return said | {f"env {name}": value for name, value in env.items()}
