"""Reading a list that changes while it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from runner.keys import BrokerError

MOST_PAGES = 2000


def each(broker: str, page: Callable[[int, int], list[dict[str, Any]]], id_of: str) -> Iterator[dict[str, Any]]:
    """Every entry of a list, once. `page` is asked with the page's number from 0 and how many entries came before it.

    A key that is deleted meanwhile moves a later one to a page that was read already. So the list is read again until
    it shows nothing new. Raises BrokerError where that never comes to an end.
    """
    known: set[str] = set()
    pages = 0
    while True:
        before = len(known)
        seen: set[str] = set()
        for number in range(MOST_PAGES):
            pages += 1
            entries = page(number, len(seen))
            fresh = [entry for entry in entries if isinstance(entry.get(id_of), str) and entry[id_of] not in seen]
            if pages > MOST_PAGES:
                raise BrokerError(f"{broker}: list keys: the list has no end")
            if not fresh:
                break
            seen |= {entry[id_of] for entry in fresh}
            new = [entry for entry in fresh if entry[id_of] not in known]
            known |= {entry[id_of] for entry in new}
            yield from new
        if len(known) == before:
            return
