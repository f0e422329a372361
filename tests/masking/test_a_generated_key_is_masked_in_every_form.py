"""The table of key material: bodies are masked, headers and the number of lines stay."""

from __future__ import annotations

import base64
import re

import pytest

from archive.edits import apply_to_bytes
from runner.masking import Known, NotProven, credentials, keys
from tests.masking.escape_table import SECRETS
from tests.masking.key_table import DECOYS, KEYS, lines_of, pem, written

KNOWN = Known(SECRETS.values())


@pytest.mark.parametrize("form", KEYS)
def test_its_body_is_masked_and_what_is_around_it_stays(form):
    assert wrong(written(form)) == []


@pytest.mark.parametrize("form", ["in_a_diff", "with_line_numbers", "tail_of_a_key_seen_before"])
def test_a_body_with_any_letters_at_its_edges_is_masked(form):
    assert [found for number in range(1, 9) for found in wrong(written(form, number))] == []


def wrong(pieces):
    """What is masked that should stay, and what stays that should not."""
    before, after = b"$ make\r\nbefore it\r\n", b"after it\r\n"
    data = before + b"".join(text for text, _ in pieces) + after
    edits = keys(data)
    masked = apply_to_bytes(data, edits)
    found, at = [], len(before)
    for text, carries in pieces:
        now = masked[at : at + len(text)]
        at += len(text)
        if (carries and re.search(rb"[A-Za-z0-9+/]", now)) or (carries is False and now != text):
            found.append((text, now))
    if not (masked.startswith(before) and masked.endswith(after) and masked.count(b"\n") == data.count(b"\n")):
        found.append("what is around it")
    if keys(masked) != ():
        found.append("a second look finds more")
    if keys(data, "ahocorasick") != edits:
        found.append("the engines differ")
    return found


def test_of_a_key_in_base64_no_line_can_be_decoded():
    ((_, _), (text, _), _) = written("base64_of_pem")
    masked = apply_to_bytes(text, keys(text))
    left = b"".join(base64.b64decode(run[: len(run) // 4 * 4]) for run in re.findall(rb"[A-Za-z0-9+/]{8,}", masked))
    _, body, _ = lines_of(pem())
    assert not any(line[at : at + 6].encode() in left for line in body for at in range(len(line) - 5))


@pytest.mark.parametrize("decoy", DECOYS)
def test_what_only_looks_like_a_secret_stays(decoy):
    data = DECOYS[decoy].encode()
    assert keys(data) == ()
    assert credentials(data, KNOWN) == ()


def test_a_header_without_end_before_lines_that_look_like_more_of_it_is_not_proven():
    first, body, _ = lines_of(pem())
    data = "\r\n".join([first, *body[:5], "Some other program's words", *body[5:10], ""]).encode()
    try:
        masked = apply_to_bytes(data, keys(data))
    except NotProven:
        return
    assert not any(line.encode() in masked for line in body[:10])
