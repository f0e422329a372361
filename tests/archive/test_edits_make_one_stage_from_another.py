"""Edits name spans; what stands there afterwards follows from what stood there before."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as some
from pydantic import ValidationError

from archive.edits import Edit, Fingerprint, Manifest, apply_to_bytes, covered, covered_bytes

MARK = "sha256:" + "0" * 64


def edit(offset, length, kind="credential", event=None):
    return Edit(event=event, offset=offset, length=length, kind=kind)


def manifest(*edits, form="bytes"):
    fingerprint = Fingerprint(bytes=9, mark=MARK)
    return Manifest(
        schema_version=1, stage="credentials", form=form, before=fingerprint, after=fingerprint, edits=edits
    )


def test_a_span_is_covered_and_nothing_else_changes():
    assert apply_to_bytes(b"key=abcdef end", [edit(4, 6)]) == b"key=****** end"


def test_two_spans_are_covered():
    assert apply_to_bytes(b"abcdef", [edit(0, 2), edit(4, 2)]) == b"**cd**"


def test_what_breaks_the_line_in_a_span_stays():
    assert covered("ab\r\n\tcd\x1b", "key") == "**\r\n\t**\x1b"


@pytest.mark.parametrize("character", ["a", "é", "▓", "字", "́", "\u200d", "🔑", "\U000e0101", "𐄀"])
def test_a_character_keeps_its_bytes_and_cells(character):
    def cells(text):
        if unicodedata.category(text) in ("Mn", "Me", "Cf"):
            return 0
        return 2 if unicodedata.east_asian_width(text) in "WF" else 1

    after = covered(character, "credential")
    assert (len(after.encode()), cells(after)) == (len(character.encode()), cells(character))
    assert after != character


def test_a_byte_that_is_no_character_is_covered():
    assert covered_bytes(b"a\xff\xc3", "token") == b"***"


def test_a_banner_becomes_one_neutral_line_of_the_same_rows():
    before = "Tool v1.2 (preview)\r\n-------------------\r\nmodel: x\r\n"
    assert covered(before, "banner") == "Argusic Agent      \r\n                   \r\n        \r\n"


def test_a_banner_without_room_is_only_blanked():
    assert covered("Tool\r\n", "banner") == "    \r\n"


def test_an_edit_outside_of_the_file_is_refused():
    with pytest.raises(ValueError, match="ends at byte 5, the file has 4"):
        apply_to_bytes(b"abcd", [edit(2, 3)])


def test_edits_over_each_other_are_refused():
    with pytest.raises(ValidationError, match="none over another"):
        manifest(edit(0, 3), edit(2, 1))


def test_an_event_is_named_in_an_asciicast_only():
    manifest(edit(0, 3, event=2), edit(1, 1, event=3), form="asciicast")
    with pytest.raises(ValidationError, match="only there"):
        manifest(edit(0, 3, event=2))
    with pytest.raises(ValidationError, match="only there"):
        manifest(edit(0, 3), form="asciicast")


@given(some.binary(min_size=1, max_size=60), some.data())
def test_covering_keeps_the_size_and_is_the_same_the_second_time(data, draw):
    start = draw.draw(some.integers(0, len(data) - 1))
    one = [edit(start, draw.draw(some.integers(1, len(data) - start)))]
    after = apply_to_bytes(data, one)
    assert len(after) == len(data)
    assert apply_to_bytes(after, one) == after
    assert (after[:start], after[start + one[0].length :]) == (data[:start], data[start + one[0].length :])
