"""One digest over a list: that an entry is in it can be shown without all the others (RFC 6962 §2.1)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def root(leaves: Sequence[bytes]) -> str:
    """The Merkle tree hash of `leaves`, as `sha256:` and its digits. Leaves and inner nodes are told apart by a byte
    before them, so that no node can be passed off as an entry."""
    level = [hashlib.sha256(b"\0" + leaf).digest() for leaf in leaves]
    if not level:
        return "sha256:" + hashlib.sha256(b"").hexdigest()
    while len(level) > 1:
        # Two by two from the left, an odd last one going up as it is: the tree of the standard, level by level.
        pairs = [hashlib.sha256(b"\1" + level[at] + level[at + 1]).digest() for at in range(0, len(level) - 1, 2)]
        level = pairs + level[len(pairs) * 2 :]
    return "sha256:" + level[0].hex()
