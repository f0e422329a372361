"""A recording in which a value can be read is withheld, however the value is written in it."""

from __future__ import annotations

import gzip
import json
import re

import pytest

from audit.cleanliness.check import look
from audit.cleanliness.doubt import Incomplete
from audit.cleanliness.known import Fragments
from audit.cleanliness.shapes import Shapes
from audit.cleanliness.views import File
from tests.cleanliness.escapes import ESCAPES, PLAIN, SECRETS, UNPROVABLE, _b64, cast

FRAGMENTS = {name: Fragments([secret]) for name, secret in SECRETS.items()}
SHAPES = Shapes()


def reasons(data: bytes, fragments: Fragments, name: str = "a.cast") -> list[str]:
    """Every view that has a doubt, with it."""
    try:
        return [f"{one.view}: {one.reason}" for one in look(name, File(name, data), fragments, SHAPES)]
    except Incomplete as problem:
        return [f"{problem.view}: {problem}"]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("escape", ESCAPES)
def test_a_value_is_found_as(escape: str, secret: str) -> None:
    found = reasons(ESCAPES[escape](SECRETS[secret]), FRAGMENTS[secret])
    assert found
    assert SECRETS[secret][10:16] not in str(found)


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("escape", UNPROVABLE)
def test_what_cannot_be_proven_is_stated(escape: str, secret: str) -> None:
    assert reasons(UNPROVABLE[escape](SECRETS[secret]), FRAGMENTS[secret]) == []


@pytest.mark.parametrize(
    "escape",
    [name for name in ESCAPES if not re.match("13 a (rect|term)|13 columns|35 a picture|39|40 a key|42", name)],
)
def test_the_same_recording_of_something_else_passes(escape: str) -> None:
    """So that it is the value that was found, and not the way in which it was written."""
    other = Fragments(["Zq8" + "pLw4" * 3 + "vT2y" * 4])
    assert reasons(ESCAPES[escape](SECRETS["hex"]), other) == []


def test_only_the_public_beginning_of_a_key_is_no_part_of_it() -> None:
    assert reasons(cast("it begins with sk-" + "or-v1-...\r\n"), FRAGMENTS["shaped"]) == []
    assert reasons(cast("sk-" + "ant-api03-...\r\n"), Fragments(["sk-" + "ant-api03-" + SECRETS["random"]])) == []


def test_a_short_value_is_found_whole() -> None:
    assert reasons(cast("pin is K7tQ-91w, so\r\n"), Fragments(["K7tQ-91w"]))
    assert reasons(cast("pin is K7tQ-91 , w\r\n"), Fragments(["K7tQ-91x"])) == []


def test_a_value_of_several_lines_is_found_by_each() -> None:
    value = "first line of it\nAb3dEf6h\n}\nthe last line"
    for line in ("first line of it", "Ab3dEf6h", "the last line"):
        assert reasons(cast(f"x\r\n    {line}\r\n"), Fragments([value]))
    assert reasons(cast("}\r\n"), Fragments([value])) == []


PIECES = [PLAIN[at : at + 3] for at in range(0, len(PLAIN), 3)]
V3 = [{"version": 3, "term": {"cols": 80, "rows": 24}}, *([0.1, "o", one] for one in PIECES)]


@pytest.mark.parametrize(
    ("name", "text"),
    {
        "session": cast(*PIECES).decode(),
        "log.json": cast(*PIECES).decode(),
        "a.log": "".join(json.dumps(line) + "\n" for line in V3),
        "part.log": "".join(json.dumps(line) + "\n" for line in V3[1:]),
        "stream.txt": "".join(f"data: {json.dumps({'text': one})}\n\n" for one in PIECES),
        "bytes.json": json.dumps({"type": "Buffer", "data": list(PLAIN.encode())}, indent=1),
        "terminal.raw": f'{{"level": "info"}}\n{_b64(PLAIN)}\n',
        "terminal2.raw": f'{{"level": "info"}}\n{PLAIN.encode().hex()}\n',
        "twice.json": json.dumps({"key": "x"})[:-1] + f', "key": "{_b64(PLAIN)}"}}',
    }.items(),
)
def test_a_file_is_what_it_holds_whatever_it_is_called(name: str, text: str) -> None:
    assert reasons(text.encode(), FRAGMENTS["random"], name)
    assert reasons(text.encode(), FRAGMENTS["hex"], name) == []


def test_what_a_packed_file_holds_is_read() -> None:
    assert reasons(gzip.compress(_b64(PLAIN).encode()), FRAGMENTS["random"], "a.gz") == [
        "decoded: a known value, or twelve characters of one"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[?1049h\x1b[22;0;0t\x1b[1;24r\x1b(B\x1b[m\x1b[4l\x1b[?7h\x1b[?1h\x1b=\x1b[39;49m\x1b[H\x1b[2J\x1b[?1049l",
        "\x1b[?1049h\x1b[>4;2m\x1b[0%m\x1b[?2004h\x1b[1;40r\x1b[?12h\x1b[?12l\x1b[22;2t\x1b[27m\x1b[23m\x1b[?4m\x1b[40;1H:q\x1b[?1049l",
        "\x1b[!p\x1b[?3;4l\x1b[4l\x1b>",
        "\x1b[>4;2m\x1b[>1u\x1b[?u\x1b[c\x1b[6n\x1b[>0q\x1b[2 q\x1b[?2026$p\x1b[?996n\x1b[14t\x1b]11;?\x07",
        "\x1b[1;1R\x1b[3~\x1b[?62;c\x1bOA\x1b[A\x1b[200~pasted\x1b[201~",
    ],
)
def test_what_ordinary_programs_send_to_a_terminal_withholds_nothing(text: str) -> None:
    assert reasons(cast(text + "ok\r\n"), FRAGMENTS["random"]) == []
