"""The one display transform for quoted text: an author's dashes are shown as commas or full stops (MEASUREMENT §10)."""

from __future__ import annotations

import re

from bot.escape import Markdown, clean, text

_DASHES = "\u2012\u2013\u2014\u2015\u2e3a\u2e3b"
_QUOTED = re.compile("`+[^`]*`+")
_DASH = re.compile(rf"(?P<quoted>{_QUOTED.pattern})| (?:[{_DASHES}]+ ?)+|(?:[{_DASHES}]+ ?)+| -{{1,3}}(?: |$)")
"""Every branch begins with a fixed character: that is what keeps a search through 100,000 sentences fast."""
_OPTION = re.compile(r"-{1,2}[^\W_]")
_BULLET = re.compile(r"\n[ \t]*-(?=[ \t])")


def final_state(value: str) -> Markdown:
    """An agent's closing sentence as pages show it. Words and their order never change; the record is not touched."""
    return text(punctuated(value))


def shortened(value: str, most: int) -> str:
    """`value` on one line; of a longer one the first `most` characters and an ellipsis."""
    line = clean(value)
    return line if len(line) <= most else f"{line[:most].rstrip()} \u2026"


def punctuated(value: str) -> str:
    """`value` on one line, its dashes as commas, or as full stops where a new sentence begins.

    Hyphens inside words, dashes between two numbers, and everything that belongs to a command (in backticks, or next
    to an option such as -f) are no dashes and stay.
    """
    line = clean(_BULLET.sub("\n\u2014", f"\n{value.strip()}"))
    return _DASH.sub(_mark, line).strip()


def _mark(found: re.Match[str]) -> str:
    before, after = found.string[: found.start()], found.string[found.end() :]
    if found["quoted"] or _is_no_dash(before, found[0], after):
        return found[0]
    if not before or before[-1] in ",.;:!?(":
        return " "
    if not after:
        return "."
    return ". " if after[0].isupper() else ", "


def _is_no_dash(before: str, dash: str, after: str) -> bool:
    if before[-1:].isdigit() and after[:1].isdigit():
        return True
    if not dash.strip().startswith("-"):
        return False
    words = _QUOTED.sub(" ", before).split()[-2:] + _QUOTED.sub(" ", after).split()[:1]
    return any(_OPTION.match(word) for word in words)
