"""The one thing masking may say besides its edits."""

from __future__ import annotations

from archive.errors import ArgusicError


class NotProven(ArgusicError):
    """Something is there whose bytes cannot be told for certain: the file is withheld. `reason` holds no value."""

    exit_code = 3

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)
