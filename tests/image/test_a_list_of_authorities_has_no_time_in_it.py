"""Java's key store: the same certificates, the same bytes."""

from __future__ import annotations

import hashlib
import struct

import pytest

from archive.errors import MachineError
from runner.image.keystore import normalised


def store(entries: list[tuple[bytes, int, bytes]], password: str = "changeit") -> bytes:
    """A key store as Java writes it: alias, milliseconds, certificate."""
    body = struct.pack(">III", 0xFEEDFEED, 2, len(entries))
    for alias, at, certificate in entries:
        body += struct.pack(">IH", 2, len(alias)) + alias + struct.pack(">Q", at)
        body += struct.pack(">H", 5) + b"X.509" + struct.pack(">I", len(certificate)) + certificate
    return body + hashlib.sha1(password.encode("utf-16-be") + b"Mighty Aphrodite" + body).digest()


def test_times_and_order_are_normalised_and_the_seal_is_right() -> None:
    one = store([(b"b", 1, b"second"), (b"a", 2, b"first")])
    other = store([(b"a", 77, b"first"), (b"b", 88, b"second")])
    wanted = store([(b"a", 3000, b"first"), (b"b", 3000, b"second")])
    assert normalised(one, 3) == normalised(other, 3) == wanted == normalised(wanted, 3)


@pytest.mark.parametrize("wrong", [b"", b"x" * 100, store([(b"a", 1, b"c")], "secret"), store([(b"a", 1, b"c")])[:-1]])
def test_another_file_is_refused_and_not_damaged(wrong: bytes) -> None:
    with pytest.raises(MachineError, match="not in the format that was expected"):
        normalised(wrong, 3)
