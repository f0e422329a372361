"""Java's list of certificate authorities, which holds the moment at which each entry was made.

The format "JKS" is a header (magic, version, number of entries), entries (kind, alias, time, type, bytes), and a SHA-1
over a password, a fixed text and all before it. The package that makes the list uses Java's usual, public password.
"""

from __future__ import annotations

import hashlib
import struct

from archive.errors import MachineError

HEADER = struct.Struct(">III")
MAGIC, VERSION, CERTIFICATE = 0xFEEDFEED, 2, 2
PASSWORD = "changeit"


def normalised(store: bytes, epoch: int) -> bytes:
    """`store` with its entries in order of their aliases, made at `epoch` (seconds). Raises MachineError where it is no
    list of certificates under the usual password."""
    body, seal = store[:-20], store[-20:]
    if _seal(body) != seal or HEADER.unpack_from(body)[:2] != (MAGIC, VERSION):
        raise MachineError(
            "Java's list of authorities is not in the format that was expected; its times would stay in it"
        )
    entries, at = [], HEADER.size
    for _ in range(HEADER.unpack_from(body)[2]):
        kind, size = struct.unpack_from(">IH", body, at)
        if kind != CERTIFICATE:
            raise MachineError("Java's list of authorities holds something that is no certificate")
        alias = body[at + 6 : at + 6 + size]
        rest = at + 6 + size + 8
        after = rest + 2 + struct.unpack_from(">H", body, rest)[0]
        after += 4 + struct.unpack_from(">I", body, after)[0]
        entries.append((alias, body[rest:after]))
        at = after
    made = HEADER.pack(MAGIC, VERSION, len(entries)) + b"".join(
        struct.pack(">IH", CERTIFICATE, len(alias)) + alias + struct.pack(">Q", epoch * 1000) + rest
        for alias, rest in sorted(entries)
    )
    return made + _seal(made)


def _seal(body: bytes) -> bytes:
    return hashlib.sha1(PASSWORD.encode("utf-16-be") + b"Mighty Aphrodite" + body).digest()
