"""A recording is read, repaired or refused, and masked over the borders of its events."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from archive import asciicast
from archive.asciicast import Asciicast, Event
from archive.errors import DataError
from runner.masking import Known, credentials
from runner.masking.cast import edits_of_cast
from runner.recorder import cast_header
from tests.masking.escape_table import ROWS, SECRETS

SECRET = SECRETS["40 random characters"]
KNOWN = Known([SECRET])
HEAD = '{"version": 2, "width": 80, "height": 24}'


def cast(*lines, head=HEAD):
    return "\n".join([head, *lines, ""]).encode()


def masked(data):
    read = asciicast.read(data)
    return asciicast.apply(read, edits_of_cast(read, lambda text: credentials(text, KNOWN)))


def test_a_value_over_two_events_is_masked_in_both():
    done = masked(cast(json.dumps([0.5, "o", "key " + SECRET[:15]]), json.dumps([1, "o", SECRET[15:] + " end"])))
    assert [event.text for event in done.events] == ["key " + "*" * 15, "*" * 25 + " end"]
    assert [event.at_us for event in done.events] == [500_000, 1_000_000]


def test_other_events_between_do_not_hide_it():
    lines = [[0, "o", SECRET[:20]], [1, "m", "here"], [2, "r", "100x30"], [3, "o", SECRET[20:]]]
    done = masked(cast(*map(json.dumps, lines)))
    assert [event.text for event in done.events] == ["*" * 20, "here", "100x30", "*" * 20]


def test_one_character_an_event_is_masked():
    done = masked(cast(*[json.dumps([at, "o", character]) for at, character in enumerate(SECRET)]))
    assert {event.text for event in done.events} == {"*"}


def test_a_marker_is_masked():
    assert masked(cast(json.dumps([0, "m", "is " + SECRET]))).events[0].text == "is " + "*" * 40


@settings(max_examples=60, deadline=None)
@given(
    some.sampled_from([name for name in sorted(ROWS) if not name.startswith("xxd") or shutil.which("xxd")]),
    some.sampled_from(sorted(SECRETS)),
    some.lists(some.integers(0, 3000), max_size=12),
)
def test_where_the_output_was_cut_makes_no_difference(row, shape, cuts):
    known = Known([SECRETS[shape]])
    text = b"".join(piece for piece, _ in ROWS[row](SECRETS[shape])).decode("utf-8", "replace")
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    parts = [text[a:b] for a, b in pairwise(places)]

    def shown(texts):
        events = tuple(Event(at, "o", part) for at, part in enumerate(texts))
        whole = Asciicast({"version": 2, "width": 80, "height": 24}, events, {})
        edits = edits_of_cast(whole, lambda data: credentials(data, known))
        return "".join(event.text for event in asciicast.apply(whole, edits).events)

    assert shown(parts) == shown([text])


def test_version_3_becomes_version_2():
    head = '{"version":3,"term":{"cols":100,"rows":30,"type":"xterm"},"timestamp":1700000000,"command":"x","title":"t"}'
    read = asciicast.read(cast("# note", '[0.5,"o","a"]', '[0.25,"i","b"]', '[1,"o","c"]', '[0,"x","0"]', head=head))
    assert asciicast.write(read) == (
        b'{"version":2,"width":100,"height":30,"timestamp":1700000000,"env":{"TERM":"xterm"}}\n'
        b'[0.500000, "o", "a"]\n[1.750000, "o", "c"]\n'
    )
    assert read.dropped == {"comment": 1, "input": 1, "unknown event": 1}


def test_what_the_recorder_writes_is_written_again_the_same():
    data = cast_header(1_700_000_000) + b'[0.000012, "o", "a\\u001b[31m"]\n[3.500000, "o", "\xe2\x94\x82"]\n'
    assert asciicast.write(asciicast.read(data)) == data


def test_only_known_headers_stay():
    head = (
        '{"version":2,"width":80,"height":24,"env":{"SHELL":"/bin/sh","TOKEN":"x","TERM":"a b"},"title":"t","theme":{}}'
    )
    assert asciicast.read(cast(head=head)).header == {
        "version": 2, "width": 80, "height": 24, "env": {"SHELL": "/bin/sh"}
    }  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "texts", "dropped"),
    [
        (['[1, "o", "a"]', '[0.5, "o", "b"]'], ["a", "b"], {"time that goes backwards": 1}),
        (['[1, "r", "0x0"]', '[1, "o", "b"]'], ["b"], {"size of zero": 1}),
        (['[1, "z", "secret"]', '[1, "o", "b"]'], ["b"], {"unknown event": 1}),
        (['[1, "i", "pw"]', '[1, "o", "b"]'], ["b"], {"input": 1}),
        (['[1, "o", "\\ud800"]'], ["\ufffd"], {}),
    ],
)
def test_what_can_be_repaired_is_repaired_and_counted(lines, texts, dropped):
    read = asciicast.read(cast(*lines))
    assert ([event.text for event in read.events], read.dropped) == (texts, dropped)
    assert [event.at_us for event in read.events] == sorted(event.at_us for event in read.events)


def test_a_torn_last_line_is_left_out():
    read = asciicast.read(cast('[1, "o", "a"]') + b'[2, "o", "b')
    assert ([event.text for event in read.events], read.dropped) == (["a"], {"torn last line": 1})


def test_bad_utf_8_is_replaced():
    read = asciicast.read(cast('[1, "o", "a"]').replace(b'"a"', b'"a\xff"'))
    assert read.events[0].text == "a\ufffd"


def test_sizes_of_zero_become_usual_ones():
    assert asciicast.read(cast(head='{"version":2,"width":0,"height":0}')).header["width"] == 80


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("hello", 3),
        ('{"a": 1}', 3),
        ('["1", "o", "a"]', 3),
        ("[1, 2, 3]", 3),
        ('[NaN, "o", "a"]', 3),
        ('[-1,"o","a"]', 3),
    ],
)
def test_any_other_line_is_refused_by_its_number(line, number):
    with pytest.raises(DataError) as refused:
        asciicast.read(cast('[1, "o", "a"]', line, '[2, "o", "b"]'), "x.cast")
    assert refused.value.line == number


@pytest.mark.parametrize("head", ["", "[]", '{"version":1}', '{"version":2,"width":"80","height":24}', '{"version":3}'])
def test_a_header_of_something_else_is_refused(head):
    with pytest.raises(DataError) as refused:
        asciicast.read(cast('[1, "o", "a"]', head=head))
    assert refused.value.line == 1
