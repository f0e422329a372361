"""Escape sequences of a terminal: what they carry, and the text without them."""

from __future__ import annotations

import re

_STRING = r"(?:\x1b[\]PX^_k]|[\x90\x98\x9d\x9e\x9f])([^\x07\x1b\x18\x1a\x9c]*)(?:\x07|\x1b\\|\x9c)?"
"""OSC, DCS, SOS, PM, APC and a title of tmux, up to their end or to the sequence that breaks them off."""
_CSI = r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
_OTHER = r"\x1b[ -/]*[0-~]?"
_STRINGS = re.compile(_STRING)
_ALL = re.compile(f"{_STRING}|{_CSI}|{_OTHER}|[\x00-\x08\x0b-\x1f\x7f]")
_PICTURE = re.compile(
    r"(?:(?:\x1bP|\x90)[\d;]*q|(?:\x1b_|\x9f)G|(?:\x1b\]|\x9d)1337;(?:File|MultipartFile|FilePart)=)(?=[^\x07\x1b\x9c*])"
)
"""One whose payload is covered with asterisks draws nothing any more."""
_NOT_MOVING = re.compile(
    rf"{_STRING}|(?:\x1b\[|\x9b)[\d;:]*m|\x1b[()*+][ -~]|(?:\x1b\[|\x9b)\?(?:25|2004|2026|12|1)[hl]"
)


def stripped(text: str) -> str:
    """`text` without escape sequences and control characters other than tab and line feed."""
    return _ALL.sub("", text)


def unstyled(text: str) -> str:
    """`text` with only those sequences that change what stands where."""
    return _NOT_MOVING.sub("", text)


def payloads(text: str) -> str:
    """What strings inside of escape sequences carry, a line each; then their last fields with nothing between, since
    long data is cut into several sequences."""
    found = [match[1] for match in _STRINGS.finditer(text)]
    return "\n".join(found) + "\n" + "".join(one.rpartition(";")[2] for one in found) if found else ""


def draws_pictures(text: str) -> bool:
    """Whether a sequence holds a picture (sixel, kitty, iTerm), which no view reads."""
    return _PICTURE.search(text) is not None
