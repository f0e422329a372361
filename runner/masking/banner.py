"""The start-up banner of an agent's tool: found by the anchored grammar of its pinned version, or not at all.

Only a banner within the first 8 KiB, before the first prompt, is one; quoted later it is work (MEASUREMENT §10).
"""

from __future__ import annotations

import re

from archive.edits import Edit
from runner.masking.not_proven import NotProven

WINDOW_BYTES = 8 << 10
_S = rb"(?:\x1b\[[0-9;?]*[A-Za-z])*"
"""Colours and modes, anywhere."""
_NL = _S + rb"\r?\n"
_RULE = _S + rb"-{8}" + _NL
_ROWS = rb"workdir|model|provider|approval|sandbox|reasoning effort|reasoning summaries|session id"
_BLOCK = rb"[ \xe2\x96\x80-\xbf]{4,40}"

_GRAMMARS: dict[tuple[str, str], tuple[bytes, bytes]] = {
    # Title, rule, its known rows, rule; the word "user" is the first line of the prompt that follows.
    ("codex", "0.171.0"): (
        rb"(?P<banner>%bOpenAI Codex v0\.171\.0%b%b(?:%b(?:%b):%b [^\r\n]{0,300}%b){3,12}%b)"
        % (_S, _NL, _RULE, _S, _ROWS, _S, _NL, _RULE),
        _S + rb"user" + _NL,
    ),
    # One line with the version, key hints, what was loaded; the editor's frame or the prompt follows.
    ("pi", "0.74.2"): (
        rb"(?P<banner>%b ?pi v0\.74\.2%b(?:%b[^\r\n]{0,300}%b){0,20}?)" % (_S, _NL, _S, _NL),
        _S + rb"(?:\xe2\x94\x80{3,}|(?:\xe2\x94\x80){3,}|>|\$ )",
    ),
    # Three rows of a drawing with name, model and folder beside it.
    ("claude", "2.1"): (
        rb"(?P<banner>(?:%b%b%b *Claude Code v2\.1\.[0-9]{1,4}%b)(?:%b%b[^\r\n]{0,200}%b){2})"
        % (_S, _BLOCK, _S, _NL, _S, _BLOCK, _NL),
        rb"",
    ),
}  # fmt: skip
"""By tool and version: the banner, and what must stand behind it."""
_NAMES = {"codex": rb"OpenAI Codex", "pi": rb"\bpi v\d", "claude": rb"Claude Code v"}


def banner(data: bytes, tool: str, version: str) -> Edit | None:
    """The edit that covers the banner of `tool`; None for a tool that has none in this stream.

    Raises NotProven where the version is not in the table or the tool is named in another way: a person looks.
    """
    name = _NAMES.get(tool)
    window = data[:WINDOW_BYTES]
    grammar = _GRAMMARS.get((tool, version)) or _GRAMMARS.get((tool, ".".join(version.split(".")[:2])))
    if name is None or grammar is None:
        raise NotProven(f"banner of {tool} {version}: no grammar for this version")
    begins, behind = grammar
    found = list(re.finditer(rb"(?m)^" + begins + rb"(?=" + behind + rb")", window))
    named = re.search(name, window)
    if not found:
        if named is None:
            return None
        raise NotProven(f"banner of {tool} {version}: its beginning is not as the grammar says")
    if len(found) > 1:
        raise NotProven(f"banner of {tool} {version}: it stands twice where it can begin")
    start, end = found[0].span("banner")
    return Edit(event=None, offset=start, length=end - start, kind="banner")
