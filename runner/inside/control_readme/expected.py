"""What the README says its example prints, and whether the example printed that."""

import ast
import itertools
import re
from collections.abc import Iterator

_ARROW = re.compile(r"^(?:=+>|-+>|→|⇨|⇒|➜|(?:prints?|output|returns?|result|logs?)\s*:)\s*(?=\S)", re.IGNORECASE)
_JS_VALUE = re.compile(r"^(?:true|false|null|undefined|-?\d[\d_.]*n?|'[^']*'|\"[^\"]*\"|`[^`]*`|\[.*\]|\{.*\})$")
_ANNOUNCES = re.compile(
    r"\b(?:outputs?|prints?|printed|results?|produces?|yields?|displays?|returns?)\b", re.IGNORECASE
)


def announces_output(words: str) -> bool:
    """Whether the line before a block says that the block is output."""
    return bool(_ANNOUNCES.search(words))


def from_comment(comment: str) -> str | None:
    """The result that a comment beside an expression states, None for prose: `=> 3`, `'x'`, `[1, 2]` are results."""
    text = comment.strip()
    if arrow := _ARROW.match(text):
        return text[arrow.end() :].strip()
    value = text.rstrip(";")
    return value if _JS_VALUE.match(value) or _is_literal(value) else None


def is_result(comment: str) -> bool:
    """Whether a comment says in so many words that it is a result; a bare value can be anything."""
    return bool(_ARROW.match(comment.strip()))


def _is_literal(text: str) -> bool:
    if len(text) > 500:
        return False
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False
    return True


def shown(output: str, results: tuple[str, ...]) -> int:
    """How many of the stated results the output shows, each as whole lines and in the order given.

    White space and the kind of quotes do not count, and `...` stands for anything, as in a doctest.
    """
    lines = [_squeeze(line) for line in output.split("\n")]
    text = "".join(lines)
    edges = {0, *itertools.accumulate(map(len, lines))}
    at = count = 0
    for result in results:
        squeezed = _squeeze(result.replace("<BLANKLINE>", ""))
        unquoted = squeezed[1:-1] if len(squeezed) > 1 and squeezed[0] == squeezed[-1] == "'" else squeezed
        ends = [end for form in (squeezed, unquoted) if (end := _end_of(text, edges, form, at)) is not None]
        if squeezed and ends:
            at = min(ends)
            count += 1
    return count


def _end_of(text: str, edges: set[int], form: str, at: int) -> int | None:
    """Where the first match of `form` from `at` on ends: whole lines, found in one pass without backtracking."""
    first, *rest = form.split("...")
    starts = (start for start in _occurrences(text, first, at) if start in edges)
    if not rest:
        return next((start + len(first) for start in starts if start + len(first) in edges), None)
    start = next(starts, None)
    if start is None:
        return None
    at = start + len(first)
    for middle in rest[:-1]:
        found = text.find(middle, at)
        if found < 0:
            return None
        at = found + len(middle)
    return next((end for start in _occurrences(text, rest[-1], at) if (end := start + len(rest[-1])) in edges), None)


def _occurrences(text: str, part: str, at: int) -> Iterator[int]:
    while (at := text.find(part, at)) >= 0:
        yield at
        at += 1


def _squeeze(text: str) -> str:
    return re.sub(r"\s+", "", text).replace('"', "'").replace("`", "'")
