"""What the machine gives every agent: task.json, and the subject's README as hostile text."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

README_BYTES = 262_144
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@dataclass(frozen=True)
class Task:
    """One subject, pinned, and where things are in the machine."""

    source_type: str
    ecosystem: str
    name: str
    version: str
    readme: Path
    project: Path
    report: Path
    budget_minutes: int

    @property
    def pinned(self) -> str:
        """The requirement as the ecosystem's installer takes it: `x==1.2` or `x@1.2`. A repository by its commit."""
        if self.source_type == "repository":
            return f"{self.name} at commit {self.version}"
        return f"{self.name}{'==' if self.ecosystem == 'pypi' else '@'}{self.version}"


def load(path: Path) -> Task:
    """Raises OSError, ValueError or KeyError when the harness gave no readable task."""
    given = json.loads(path.read_bytes())
    return Task(
        source_type=str(given["source_type"]),
        ecosystem=str(given["ecosystem"]),
        name=str(given["name"]),
        version=str(given["version"]),
        readme=Path(given["readme"]),
        project=Path(given["project"]),
        report=Path(given["report"]),
        budget_minutes=int(given["budget_minutes"]),
    )


def plain(text: str) -> str:
    """Text without terminal control and direction-changing characters; line ends become `\\n`, tabs stay."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def read_readme(path: Path) -> str:
    """The README's first 256 KiB as plain text, "" when there is none. Odd bytes become U+FFFD."""
    try:
        with path.open("rb") as stream:
            return plain(stream.read(README_BYTES).decode("utf-8", errors="replace").removeprefix("\ufeff"))
    except OSError:
        return ""
