"""Escape sequences of a terminal: what they carry, and the text without them."""

from __future__ import annotations

import re

_ENDS = r"(?:\x07|\x1b\\|\x9c)?"
_CARRIED = r"([^\x07\x1b\x18\x1a\x9c]*)"
_STRINGS = re.compile(rf"(?:\x1b[\]PX^_k]|[\x90\x98\x9d\x9e\x9f]){_CARRIED}{_ENDS}")
"""OSC, DCS, SOS, PM, APC and a title of tmux, up to their end or to the sequence that breaks them off."""
_CSI = r"[0-?]*[ -/]*[@-~]?"
_ALL = re.compile(rf"\x1b(?:\[{_CSI}|[\]PX^_k]{_CARRIED}{_ENDS}|[ -/]*[0-~]?)")
_SHORT = re.compile(rf"[\x90\x98\x9d\x9e\x9f]{_CARRIED}{_ENDS}|\x9b{_CSI}")
"""The same begun by a single character; in a pattern of its own, since without an alternative the search is fast."""
_CONTROLS = bytes([*range(9), *range(0x0B, 0x20), 0x7F])
_PICTURE = re.compile(
    r"(?:(?:\x1bP|\x90)[\d;]*q|(?:\x1b_|\x9f)G|(?:\x1b\]|\x9d)1337;(?:File|MultipartFile|FilePart)=)(?=[^\x07\x1b\x9c*])"
)
"""One whose payload is covered with asterisks draws nothing any more."""
_IN_FRONT = r"([0-?]*)([\x00-\x17\x19\x1c-\x1f][\x00-\x17\x19\x1c-\x1f0-?]*)"
_TORN = (re.compile(rf"(\x1b\[){_IN_FRONT}"), re.compile(rf"(\x9b){_IN_FRONT}"))
"""A sequence with control characters inside, which a terminal carries out first."""
_SET = r"\?(?:25|2004|2026|12|1)[hl]"
_NOT_MOVING = re.compile(rf"\x1b(?:\[(?:[\d;:]*m|{_SET})|[\]PX^_k]{_CARRIED}{_ENDS}|[()*+][ -~])")
_SHORT_NOT_MOVING = re.compile(rf"[\x90\x98\x9d\x9e\x9f]{_CARRIED}{_ENDS}|\x9b(?:[\d;:]*m|{_SET})")


def stripped(text: str) -> str:
    """`text` without escape sequences and control characters other than tab and line feed."""
    text = _ALL.sub("", text)
    if not text.isascii():
        text = _SHORT.sub("", text)
    return text.encode("utf-8", "surrogatepass").translate(None, _CONTROLS).decode("utf-8", "surrogatepass")


def mended(text: str) -> str:
    """`text` with control characters that stand inside of sequences in front of them."""

    def apart(match: re.Match[str]) -> str:
        controls = "".join(c for c in match[3] if c < " ")
        return controls + match[1] + match[2] + "".join(c for c in match[3] if c >= " ")

    for pattern in _TORN:
        text = pattern.sub(apart, text)
    return text


def unstyled(text: str) -> str:
    """`text` with only those sequences that change what stands where."""
    text = _NOT_MOVING.sub("", text)
    return text if text.isascii() else _SHORT_NOT_MOVING.sub("", text)


def payloads(text: str) -> str:
    """What strings inside of escape sequences carry, a line each; then their last fields with nothing between, since
    long data is cut into several sequences."""
    found = [match[1] for match in _STRINGS.finditer(text)]
    return "\n".join(found) + "\n" + "".join(one.rpartition(";")[2] for one in found) if found else ""


def draws_pictures(text: str) -> bool:
    """Whether a sequence holds a picture (sixel, kitty, iTerm), which no view reads."""
    return _PICTURE.search(text) is not None
