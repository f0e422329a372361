"""What a machine sees of its task: a description, the standard instructions, the tools, the subject's own README."""

from __future__ import annotations

import json
from pathlib import Path

from archive.plan import Job
from runner.machine import INSIDE, INSTRUCTIONS, REPORT
from runner.sandbox import PROJECT, Mount
from runner.sources import Brief


def task(folder: Path, job: Job, brief: Brief, instructions: int) -> tuple[Mount, ...]:
    """The task of `job` on what `brief` tells of its subject; its own files are made in `folder`."""
    told = {
        "schema_version": 1,
        "subject": job.subject,
        "source_type": job.source_type,
        "ecosystem": brief.ecosystem,
        "name": brief.name,
        "version": brief.version,
        "readme": "/argusic/subject/README.md",
        "project": PROJECT,
        "report": REPORT,
        "budget_minutes": job.budget_minutes,
    }
    mounts = [
        Mount(readable(folder / "task.json", json.dumps(told, indent=2).encode()), "/argusic/task.json"),
        Mount(INSTRUCTIONS / f"{instructions}.md", "/argusic/instructions.md"),
        Mount(INSIDE, "/argusic/inside"),
        *brief.files,
    ]
    if brief.readme is not None:
        mounts.append(Mount(readable(folder / "README.md", brief.readme), "/argusic/subject/README.md"))
    return tuple(mounts)


def readable(path: Path, data: bytes) -> Path:
    """A new file that the machine's user can read, whatever umask the runner has."""
    path.write_bytes(data)
    path.chmod(0o644)
    return path
