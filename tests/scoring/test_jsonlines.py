from decimal import Decimal

import pytest

from archive.errors import DataErrors
from archive.model import Model
from scoring.jsonlines import Line, parse


class Point(Model):
    x: int
    y: int


def problem(raw, number=7):
    with pytest.raises(DataErrors) as caught:
        parse(raw, number)
    (only,) = caught.value.errors
    assert only.line == number
    return str(only)


def test_a_line_is_an_object_with_its_number():
    assert parse(b' {"x": 1, "name": "\xc3\xa9"}\r\n', 3) == Line(3, {"x": 1, "name": "é"})


def test_decimals_are_read_digit_by_digit():
    assert parse(b'{"x":93.33,"y":1e2}', 1).data == {"x": Decimal("93.33"), "y": Decimal("1E+2")}


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "standard input:7: is empty; write a JSON object"),
        (b" \t\r\n", "standard input:7: is empty; write a JSON object"),
        (b"[1]", "standard input:7: is no JSON object; write {…}"),
        (b"null", "standard input:7: is no JSON object; write {…}"),
        (b"{}{}", "standard input:7: is no JSON: Extra data, column 3"),
        (b'{"x":1', "standard input:7: is no JSON: Expecting ',' delimiter, column 7"),
        (b'{"x":\xff}', "standard input:7: is not UTF-8 at byte 6; write UTF-8"),
        (b'{"x":1,"x":1}', 'standard input:7: has the key "x" twice; write it once'),
        (b'{"a":{"b":1,"b":2}}', 'standard input:7: has the key "b" twice; write it once'),
        (b'{"x":NaN}', "standard input:7: has NaN, no JSON number; write a number or null"),
        (b'{"x":-Infinity}', "standard input:7: has -Infinity, no JSON number; write a number or null"),
        (b'{"x":' + b"9" * 5000 + b"}", "standard input:7: has a number too large to be read"),
        (b'{"x":1e99999999999999999999}', "standard input:7: has a number too large to be read"),
        (b"[" * 100_000, "standard input:7: is nested too deeply; write one flat JSON object"),
    ],
)
def test_what_can_not_be_read_in_one_way_only_is_named_by_line(raw, said):
    assert problem(raw) == said


def test_every_wrong_field_is_named():
    with pytest.raises(DataErrors) as caught:
        parse(b'{"x":"1","z":0}', 2).read(Point)
    assert [(one.line, one.field) for one in caught.value.errors] == [(2, "x"), (2, "y"), (2, "z")]
    said = [one.problem for one in caught.value.errors]
    assert said[0] == 'Input should be a valid integer, not "1"'
    assert said[1].startswith("missing")
    assert said[2] == "unknown key; remove it or correct its spelling"


def test_a_hostile_key_can_not_move_the_terminals_cursor_nor_begin_a_line():
    with pytest.raises(DataErrors) as caught:
        parse(b'{"x":1,"y":2,"\\u001b[2J\\nstandard input:9":0}', 2).read(Point)
    assert str(caught.value).startswith('standard input:2: "\\u001b[2J\\nstandard input:9": unknown key')
    assert len(str(caught.value).splitlines()) == 1


def test_a_very_long_key_is_cut_in_the_message():
    with pytest.raises(DataErrors) as caught:
        parse(b'{"x":1,"y":2,"' + b"k" * 100_000 + b'":0}', 2).read(Point)
    assert len(str(caught.value)) < 400
