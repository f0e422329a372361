"""The table of spellings, each with three shapes of secret, and with both engines."""

from __future__ import annotations

import re

import pytest

from archive.edits import apply_to_bytes
from runner.masking import Known, credentials
from tests.masking.escape_table import ROWS, SECRETS

KNOWN = {name: Known([value]) for name, value in SECRETS.items()}
FALLBACK = {name: Known([value], "ahocorasick") for name, value in SECRETS.items()}


@pytest.mark.parametrize("shape", SECRETS)
@pytest.mark.parametrize("row", ROWS)
def test_nothing_of_it_is_left_and_the_rest_is_as_it_was(row, shape):
    pieces = ROWS[row](SECRETS[shape])
    data = b"before\r\n" + b"".join(text for text, _ in pieces) + b"after\r\n"
    edits = credentials(data, KNOWN[shape])
    masked = apply_to_bytes(data, edits)
    assert len(masked) == len(data)
    at = len(b"before\r\n")
    for text, carries in pieces:
        now = masked[at : at + len(text)]
        at += len(text)
        if carries:
            assert not re.search(rb"[A-Za-z0-9]|\xef\xbc[\x90-\xba]|\xef\xbd[\x81-\x9a]", now), (text, now)
        elif carries is not None:
            assert now == text
    assert masked.startswith(b"before\r\n")
    assert masked.endswith(b"after\r\n")
    assert credentials(masked, KNOWN[shape]) == ()
    assert credentials(data, FALLBACK[shape]) == edits


DUMPS = [name for name in ROWS if name.startswith(("xxd", "od_"))]


@pytest.mark.parametrize("shape", SECRETS)
@pytest.mark.parametrize("row", DUMPS)
def test_of_a_dump_the_numbers_and_the_characters_are_masked(row, shape):
    ((data, _),) = ROWS[row](SECRETS[shape])
    masked = apply_to_bytes(data, credentials(data, KNOWN[shape]))
    # What stands before the value (KEY=) and after it (a line feed) may be left, and the offsets; nothing else.
    lines = masked.decode().splitlines()
    left = "".join(re.sub(r"^[0-9a-f]{6,8}:?", "", line) for line in lines)
    value = SECRETS[shape]
    assert not any(value[at : at + 4] in left.replace(" ", "") for at in range(len(value) - 3)), masked.decode()
