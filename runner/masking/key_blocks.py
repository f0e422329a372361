"""Keys in armour: what stands between a BEGIN and its END, however the lines are dressed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runner.masking.not_proven import NotProven
from runner.masking.text import Span, Squeezed, Text, solid

_BEGIN = re.compile(
    rb"-----?BEGIN((?:[A-Z0-9]{2,12}){0,3}PRIVATEKEY(?:BLOCK)?)-----?|-----BEGIN(OpenVPNStatickeyV1|OpenVPNtls-crypt-v2[a-z]{1,8}key)-----"
)
_LONGEST = 128 << 10
_BREAK = re.compile(rb"\\+(?:[nrt]|u000[aAdD]|x0[aAdD])|<br/?>")
_HEADERS = re.compile(
    rb"(?:Proc-Type:4,ENCRYPTED)?(?:\\+[nr])*(?:DEK-Info:[A-Z0-9-]{3,20},)?|(?:Version:GnuPGv[\d.]{1,8})?"
)
_LETTERS = re.compile(rb"[A-Za-z0-9+/=]+")
_KEY_LETTERS = 24
"""A header with fewer letters after it is only mentioned."""
_LONG_RUN = 32
_BEFORE = re.compile(rb"[^A-Za-z0-9+/=]*(?:\d{1,5}[ \t]*[:|)\xe2][^A-Za-z0-9+/=]*|\d{1,5}[ \t]{1,8}(?=\S{30}))?")
_BEHIND = re.compile(rb"[^A-Za-z0-9+/=]*\Z")
_BODY_LINE = re.compile(rb"[A-Za-z0-9+/=]{1,}")
_FIELD_LINE = re.compile(rb"(?:Proc-Type|DEK-Info|Comment|Version|Subject|Hash):? ")
_AFTER = 5


def blocks(text: Text) -> Iterator[Span]:
    """Spans of `text` that hold the bodies of armoured private keys. Raises NotProven."""
    if b"PRIVATE" not in text.text and not _scattered(text.text) and b"OpenVPN" not in text.text:
        return
    squeezed = solid(text, lower=False)
    for begin in _BEGIN.finditer(squeezed.text):
        label = begin[1] or begin[2]
        following = _BEGIN.search(squeezed.text, begin.end())
        limit = min(begin.end() + _LONGEST, following.start() if following else len(squeezed.text))
        end = re.compile(rb"-----?END" + re.escape(label) + rb"-----?").search(squeezed.text, begin.end(), limit)
        if end is not None:
            yield from _body(squeezed, begin.end(), end.start())
        else:
            yield from lines_of_key(text, squeezed.place(begin.end() - 1) + 1)


def _scattered(data: bytes) -> bool:
    """Whether a header can stand in `data` that is broken up."""
    return re.search(rb"P\s{1,40}R\s{1,40}I\s{1,40}V\s{1,40}A", data) is not None or b"----BEGIN" in data


def _body(squeezed: Squeezed, start: int, end: int) -> Iterator[Span]:
    body = squeezed.text
    headers = _HEADERS.match(body, start, end)
    at = headers.end() if headers else start
    letters = sum(len(run[0]) for run in _LETTERS.finditer(_BREAK.sub(b"", body[at:end])))
    if letters < _KEY_LETTERS:
        return
    if letters < 0.8 * (end - start) and not _dressed(body[start:end]):
        yield from lines_of_key(squeezed.source, squeezed.place(start - 1) + 1, squeezed.place(end))
        return
    for gap in (*_BREAK.finditer(body, at, end), None):
        stop = gap.start() if gap else end
        if stop > at:
            yield from _places(squeezed, at, stop)
        at = gap.end() if gap else end


def _places(squeezed: Squeezed, start: int, end: int) -> Iterator[Span]:
    """The spans of the squeezed text's source."""
    source = squeezed.source.text
    for run in re.compile(rb"[!-~]+").finditer(source, squeezed.place(start), squeezed.place(end - 1) + 1):
        yield run.span()


def _dressed(body: bytes) -> bool:
    """Whether what is no letter of a key in it is punctuation that programs put around lines."""
    return not re.search(rb"[^A-Za-z0-9+/=|$\"'\\,<>.:*-]", body)


def lines_of_key(text: Text, start: int, stop: int | None = None) -> Iterator[Span]:
    """The lines after `start` that have the shape of a key's body, up to the first that has not.

    With `stop`, where the key's end is, all such lines up to there. Raises NotProven where more of it seems to follow.
    """
    data, at, number = text.text, start, 0
    limit = stop if stop is not None else min(len(data), start + _LONGEST)
    short = False
    while at < limit:
        end = data.find(b"\n", at, limit)
        end = limit if end < 0 else end
        line = data[at:end]
        inner = _shape(line)
        if inner is not None and not short:
            for run in _LETTERS.finditer(line, *inner):
                yield at + run.start(), at + run.end()
            short = stop is None and number > 0 and 0 < inner[1] - inner[0] < _LONG_RUN
        elif stop is None and line.strip() and not _FIELD_LINE.search(line) and number:
            break
        at, number = end + 1, number + 1
    if stop is None:
        for line in data[at : at + 4096].splitlines()[:_AFTER]:
            inner = _shape(line)
            if not short and inner is not None and inner[1] - inner[0] >= 2 * _LONG_RUN - 4:
                raise NotProven("a private key has no end, and lines like a key's follow where it seemed to end")


def _shape(line: bytes) -> Span | None:
    """Where in a line the letters of a key stand, if it holds hardly anything else."""
    before, behind = _BEFORE.match(line), _BEHIND.search(line)
    first, last = before.end() if before else 0, behind.start() if behind else len(line)
    inner = _BREAK.sub(b"", line[first:last])
    if not inner or not _BODY_LINE.fullmatch(inner):
        return None
    if len(inner) < _LONG_RUN and not (inner.endswith(b"=") or re.search(rb"\d.*[A-Z]|[A-Z].*\d", inner)):
        return None
    return first, last


_SHAPES = (
    (b"AGE-SECRET-KEY-1", re.compile(rb"AGE-SECRET-KEY-1([0-9A-Z]{58})")),
    (b"nsec1", re.compile(rb"nsec1([02-9ac-hj-np-z]{58})")),
    (b"rivateExponent:", re.compile(rb"privateExponent:((?:[0-9a-f]{2}:)+[0-9a-f]{2})")),
    (b"prime", re.compile(rb"prime[12]:((?:[0-9a-f]{2}:)+[0-9a-f]{2})")),
    (b"exponent", re.compile(rb"exponent[12]:((?:[0-9a-f]{2}:)+[0-9a-f]{2})")),
    (b"coefficient:", re.compile(rb"coefficient:((?:[0-9a-f]{2}:)+[0-9a-f]{2})")),
    (b"priv:", re.compile(rb"priv:((?:[0-9a-f]{2}:){8,}[0-9a-f]{2})")),
    (b"RWRTY0Iy", re.compile(rb"RWRTY0Iy([A-Za-z0-9+/]{203}=?)")),
    (b"PT0gZWQyNTUxOXYxLXNlY3JldDog", re.compile(rb"PT0gZWQyNTUxOXYxLXNlY3JldDog([A-Za-z0-9+/]{100})")),
    (b"ED25519-V3:", re.compile(rb"ED25519-V3:([A-Za-z0-9+/]{86}(?:==)?)")),
)  # fmt: skip
"""Keys with a beginning of their own, in printable ASCII without white space."""


def shapes(text: Text) -> Iterator[Span]:
    """Spans of `text` that hold keys which say themselves what they are."""
    present = [(marker, pattern) for marker, pattern in _SHAPES if marker in text.text or marker[:4] in text.text]
    if not present:
        return
    squeezed = solid(text, lower=False)
    for _, pattern in present:
        for match in pattern.finditer(squeezed.text):
            yield from _places(squeezed, *match.span(1))
