"""Named after scrubbers that leaked: values split over reads, beside NUL bytes, in latin-1, over bad UTF-8."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.masker import Masker

KEY = "sk-demo-0123456789abcdef"
OTHER = "sk-demo-0123456789abcdef-longer"


def test_a_value_is_replaced_by_as_many_asterisks():
    masker = Masker([KEY])
    assert masker.whole(b"key=" + KEY.encode() + b" end") == b"key=" + b"*" * len(KEY) + b" end"
    assert masker.count == 1


@pytest.mark.parametrize(
    "around",
    [b"", b"\0" * 9000, "é".encode("latin-1"), b"\xff\xfe", b"a" * 8191 + "é".encode(), b"\x1b[31m"],
    ids=["alone", "after NUL bytes", "after latin-1", "after invalid UTF-8", "after a split character", "in colour"],
)
def test_what_stands_around_a_value_does_not_hide_it(around):
    for size in (1, 7, 8192):
        masker = Masker([KEY])
        data = around + KEY.encode() + around
        fed = b"".join(masker.feed(data[i : i + size]) for i in range(0, len(data), size)) + masker.flush()
        assert fed == around + b"*" * len(KEY) + around


def test_the_longer_of_two_values_with_one_beginning_is_masked_whole():
    for cut in range(len(OTHER) + 1):
        masker = Masker([KEY, OTHER])
        data = OTHER.encode()
        assert masker.feed(data[:cut]) + masker.feed(data[cut:]) + masker.flush() == b"*" * len(OTHER)


def test_the_beginning_of_a_value_that_does_not_go_on_is_kept():
    masker = Masker([KEY])
    assert masker.feed(b"sk-demo-01") == b""
    assert masker.feed(b" is a prefix") == b"sk-demo-01 is a prefix"
    assert masker.feed(b"sk-demo") == b""
    assert masker.flush() == b"sk-demo"


def test_a_short_value_is_refused_because_masking_it_would_destroy_the_log():
    with pytest.raises(ValueError, match="too short"):
        Masker(["test"])


@given(
    text=st.lists(st.sampled_from([KEY, OTHER, "sk-demo-", "0123", "x", "sk-demo-0123456789abcde"]), max_size=12),
    cuts=st.lists(st.integers(0, 300), max_size=8),
)
def test_the_result_does_not_depend_on_where_reads_were_cut(text, cuts):
    data = "".join(text).encode()
    whole = Masker([KEY, OTHER]).whole(data)
    masker = Masker([KEY, OTHER])
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    pieces = [data[a:b] for a, b in pairwise(edges)]
    assert b"".join(masker.feed(piece) for piece in pieces) + masker.flush() == whole
    assert len(whole) == len(data)
    assert KEY.encode() not in whole


def test_a_value_that_survives_in_another_view_is_counted():
    masker = Masker([KEY, OTHER])
    coloured = b"\x1b[1m".join(bytes([byte]) for byte in KEY.encode())
    wrapped = b"\r\n  ".join((KEY[:10].encode(), KEY[10:].encode()))
    assert masker.survivors(coloured) == 1
    assert masker.survivors(wrapped) == 1
    assert masker.survivors(b"nothing here") == 0
    assert Masker([]).survivors(KEY.encode()) == 0


@given(
    values=st.lists(st.text("ab", min_size=8, max_size=14), min_size=1, max_size=4),
    text=st.text("ab", max_size=60),
    cuts=st.lists(st.integers(0, 60), max_size=6),
)
def test_nested_and_overlapping_values_are_masked_alike_however_reads_were_cut(values, text, cuts):
    data = text.encode()
    whole = Masker(values).whole(data)
    masker = Masker(values)
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    pieces = [data[a:b] for a, b in pairwise(edges)]
    assert b"".join(masker.feed(piece) for piece in pieces) + masker.flush() == whole
