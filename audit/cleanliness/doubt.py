"""Why a folder is not proven clean, in words that hold nothing of what was found."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Doubt(NamedTuple):
    """One reason to withhold: the file, the view in which it shows, and what it is."""

    file: str
    view: str
    reason: str


class Incomplete(Exception):
    """A view cannot be looked at to its end, so nothing is proven; `view` is its name."""

    def __init__(self, view: str, reason: str) -> None:
        self.view, self.reason = view, reason
        super().__init__(reason)


class Late(Exception):
    """The check takes longer than it may. Not Incomplete: nothing goes on with the next file."""


class Unusable(Exception):
    """What was given is no folder of files or no complete list of values."""


def failed(error: Exception) -> str:
    """That a check came to no end, and where: never what the error says, which can hold what was looked at."""
    if isinstance(error, Late):
        return "takes longer than a check may"
    at = error.__traceback__
    while at and at.tb_next:
        at = at.tb_next
    where = f" in {Path(at.tb_frame.f_code.co_filename).name} line {at.tb_lineno}" if at else ""
    return f"the check broke off: {type(error).__name__}{where}"
