"""A kind of subject, declared in pools/sources (MEASUREMENT §4). Its status is computed from records, never written."""

from __future__ import annotations

from pydantic import Field

from archive.model import Model, Slug


class SourceType(Model):
    """One file of pools/sources."""

    id: Slug
    """Equal to the file's name."""
    name: str
    """The fixed English name (MEASUREMENT §15)."""
    runs_means: str
    """What "runs" means for this type, printed on the sources page."""
    purl_types: tuple[str, ...] = Field(min_length=1)
    """Which types of package URL can name such a subject."""
    gpu: bool
    """Whether an attempt needs a GPU worker."""
