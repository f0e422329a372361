"""What one disposable machine may use (MEASUREMENT §5)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from archive.model import Model

Count = Annotated[int, Field(gt=0)]


class MachineLimits(Model):
    """pools/limits.toml: the same for every attempt; each record repeats them with how well they were held."""

    cpus: Count
    memory_bytes: Count
    processes: Count
    open_files: Count
    disk_bytes: Count
    """All that can be written: home and /tmp together."""
