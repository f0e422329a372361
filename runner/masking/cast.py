"""Masking a recording: what its events hold is read as one text per kind of event, and edits go back to each event."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate

from archive.asciicast import Asciicast
from archive.edits import Edit

Finding = Callable[[bytes], tuple[Edit, ...]]
"""What looks at complete bytes and returns the edits that mask them."""


def edits_of_cast(cast: Asciicast, find: Finding) -> tuple[Edit, ...]:
    """The edits that mask a recording, as `find` sees the text of all its output, of its markers and of its sizes.

    A value that two events share is masked in both; how the output was cut into events makes no difference to the text.
    """
    made: list[Edit] = []
    for code in ("m", "o", "r"):
        numbers = [number for number, event in enumerate(cast.events) if event.code == code]
        texts = [cast.events[number].text.encode() for number in numbers]
        starts = list(accumulate(map(len, texts), initial=0))
        for edit in find(b"".join(texts)):
            at, end = edit.offset, edit.offset + edit.length
            part = bisect_right(starts, at) - 1
            while at < end:
                upto = min(end, starts[part + 1])
                if upto > at:
                    text, first = texts[part], at - starts[part]
                    offset = len(text[:first].decode(errors="ignore"))
                    length = len(text[: upto - starts[part]].decode(errors="ignore")) - offset
                    if length:
                        made.append(Edit(event=numbers[part], offset=offset, length=length, kind=edit.kind))
                at, part = upto, part + 1
    return tuple(sorted(made, key=lambda edit: (edit.event or 0, edit.offset)))
