"""Hostile text as text: whatever a subject, an agent or a person wrote stays a few words inside our own sentence."""

from __future__ import annotations

import re
from functools import lru_cache

from markupsafe import Markup, escape


class Markdown(str):
    """Markdown that we wrote ourselves or that went through this file; everything else is escaped when it is shown."""

    __slots__ = ()


BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""Characters that turn the direction of what follows."""
CONTROL = "\x00-\x1f\x7f-\x9f\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef\ufff9-\uffff\U000f0000-\U0010ffff"
"""Control, private and never assigned characters. Fixed here: a Python's own tables differ from version to version."""
INVISIBLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d\u2060-\u2065\u206a-\u206f\u2800\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters that show nothing; dropping them changes nothing that a reader sees."""
_CONTROL = re.compile(f"[{BIDI}{CONTROL}]")
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_PLAIN = re.compile(r"[A-Za-z0-9 ,.;?'\"()%/&+!:\u0080-\U0010ffff-]*")
"""Characters without a meaning in Markdown, apart from what `_MEANT` finds."""
_MEANT = re.compile(
    r"(?i:://|www\.|mailto:|xmpp:|:[0-9+-]*[a-z+-][a-z0-9+-]*:|:100:|:1234:|\bgh-[0-9])|(?<![0-9A-Za-z])[0-9a-f]{7,40}(?![0-9A-Za-z])"
)
"""What a forge makes a link or a picture of: addresses, emoji names, issue and commit numbers."""
_STARTS = re.compile(r"-(?=[-: ]|$)|\+(?= |$)|:(?=-)|\d+[.)](?= |$)")
"""What makes a list, a heading or a table at the beginning of a line."""
_TOKEN = re.compile(r"[A-Za-z0-9:./@_-]+")
"""The usual content of a code span."""
_SPAN = re.compile(r"(?<![^ ])([(\"']*)`([^`]*[^` ][^`]*)`([)\"'.,:;!?]*)(?![^ ])")
"""A balanced pair of backticks that stands like a word: what its author wrote as a code span."""
_EDGES = re.compile(r"([(\"']*)(.*?)([)\"'.,;:!?]*)", re.S)


def clean(value: object) -> str:
    """`value` on one line, words apart by one space, without characters that hide or turn something."""
    text = " ".join(str(value).split())
    if text.isascii() and text.isprintable():
        return text
    return " ".join(_CONTROL.sub("\ufffd", _INVISIBLE.sub("", text)).split())


def text(value: object) -> Markdown:
    """`value` as running text, safe in a paragraph, a table cell and a link text; words and their order stay.

    A word that Markdown or a forge would read as more than a word becomes a code span: nothing in there is a mention,
    a reference, a link or a mark. What its author wrote as a code span, between two backticks, stays one.
    """
    return value if isinstance(value, Markdown) else _text(str(value))


@lru_cache(maxsize=4096)
def _text(value: str) -> Markdown:
    words = clean(value)
    words = words.replace("&", "\\&") if _meaningless(words) else _marked(words)
    start = _STARTS.match(words)
    if start:
        words = f"{words[: start.end() - 1]}\\{words[start.end() - 1 :]}"
    return Markdown(words)


def code(value: object) -> Markdown:
    """`value` as a code span, safe in a paragraph, a table cell and a link text; a pipe stands between two spans."""
    written = str(value)
    if _TOKEN.fullmatch(written):
        return Markdown(f"`{written}`")
    parts = (_span(part.strip()) for part in clean(written).split("|"))
    return Markdown("\\|".join(parts))


def link(words: object, target: str) -> Markdown:
    """`words`, escaped, as a link to `target`, which must be an address of our own making."""
    return Markdown(f"[{text(words)}]({target})")


def html(value: object) -> Markup:
    """`value` as HTML text or attribute value."""
    return escape(clean(value))


def _meaningless(words: str) -> bool:
    return bool(_PLAIN.fullmatch(words)) and not _MEANT.search(words)


def _marked(line: str) -> str:
    parts, start = [], 0
    for found in _SPAN.finditer(line):
        parts += [_words(line[start : found.start()]), f"{found[1]}{code(found[2])}{found[3]}"]
        start = found.end()
    return "".join([*parts, _words(line[start:])])


def _words(line: str) -> str:
    return " ".join(map(_word, line.split(" ")))


def _word(word: str) -> str:
    if _meaningless(word):
        return word.replace("&", "\\&")
    edges = _EDGES.fullmatch(word)
    before, core, after = edges.groups() if edges else ("", word, "")
    return f"{before}{code(core)}{after}"


def _span(content: str) -> str:
    if not content:
        return ""
    fence = "`" * (max(map(len, re.findall("`+", content)), default=0) + 1)
    pad = " " if content.startswith("`") or content.endswith("`") else ""
    return f"{fence}{pad}{content}{pad}{fence}"
