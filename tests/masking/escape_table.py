"""How a secret gets onto a terminal: each row writes one, piece by piece, and says which pieces carry it.

A row is a function from a secret to pieces (bytes, carries). Of a piece that carries it no letter and no
digit may be left; every other piece must come through as it is (None: a number that may be taken for a part of the secret beside it).
"""

from __future__ import annotations

import base64
import bz2
import codecs
import gzip
import html
import json
import lzma
import shlex
import shutil
import subprocess
import urllib.parse
import zlib
from collections.abc import Callable, Iterator

import pytest
import zstandard

Pieces = list[tuple[bytes, bool | None]]
ROWS: dict[str, Callable[[str], Pieces]] = {}
SECRETS = {
    "provider-shaped": "sk-" + "or-v1-" + "5f0c9a1e7b3d2846a0ce4f81b97d3526e8a4c05f1d7b9236c4e0a8f25d713b69",
    "40 random characters": "q7Zk2Vw9XnB4tLr8HsJ3" + "dFg6PyCmT5vKx1QeRzUa",
    "64 hex": "9d4e1f7a3c5b80624e8f1a0d7c3b596e" + "2f8d4a1c6e0b7935d1f8a4c27e60b395",
}


def row(function: Callable[[str], Pieces]) -> Callable[[str], Pieces]:
    ROWS[function.__name__] = function
    return function


def around(before: str | bytes, carried: str | bytes, after: str | bytes) -> Pieces:
    def raw(text: str | bytes) -> bytes:
        return text.encode() if isinstance(text, str) else text

    return [(raw(before), False), (raw(carried), True), (raw(after), False)]


def spread(parts: Iterator[str] | list[str], between: str | bytes) -> Pieces:
    """Parts that carry, with `between` them something that does not."""
    inner = between.encode() if isinstance(between, str) else between
    pieces: Pieces = [(b"out: ", False)]
    for number, part in enumerate(parts):
        if number:
            pieces.append((inner, False))
        pieces.append((part.encode(), True))
    return [*pieces, (b"\r\nnext line\r\n", False)]


def cut(value: str, size: int) -> list[str]:
    return [value[at : at + size] for at in range(0, len(value), size)]


@row
def export(value):
    return around("$ export KEY=", value, "\r\n$ ")


@row
def echo_typed_and_shown_twice(value):
    return [*around("$ echo ", value, "\r\n"), *around("", value, "\r\n")]


@row
def soft_wrap(value):
    return around("x" * 100 + " ", value, "\r\n")


@row
def hard_wrap_with_indent(value):
    return spread(cut(value, 9), "\r\n      ")


@row
def wrapped_in_a_box(value):
    return spread(cut(value, 16), " │\r\n│ ")


@row
def colour_inside(value):
    return spread(cut(value, 5), "\x1b[38;5;203m")


@row
def colour_around_each_character(value):
    return spread(list(value), "\x1b[0m\x1b[1;31m")


@row
def carriage_return_overwrite(value):
    return around("", value, "\rdone" + " " * 80 + "\r\n")


@row
def erased_at_once(value):
    return around("", value, "\r\x1b[2K\r\n")


@row
def alternate_screen(value):
    return around("\x1b[?1049h\x1b[2J\x1b[3;5H", value, "\x1b[?1049l")


@row
def backspaces_assemble(value):
    return [*around("pw: ", value[:7], "zz\x08\x08"), *around("", value[7:], "\r\n")]


@row
def addressing_second_half_first(value):
    return [*around("\x1b[2J\x1b[5;21H", value[20:], "\x1b[5;1H"), *around("", value[:20], "\x1b[9;1H")]


@row
def odd_and_even_columns(value):
    pieces: Pieces = [(b"\x1b[2J\x1b[H", False)]
    for first in (0, 1):
        for column in range(first, len(value), 2):
            pieces += [(f"\x1b[4;{column + 1}H".encode(), False), (value[column].encode(), True)]
    return [*pieces, (b"\x1b[8;1H$ ", False)]


@row
def columns_right_to_left(value):
    pieces: Pieces = [(b"\x1b[2J\x1b[H", False)]
    for column in range(len(value) - 1, -1, -1):
        pieces += [(f"\x1b[4;{column + 1}H".encode(), False), (value[column].encode(), True)]
    return [*pieces, (b"\x1b[8;1H$ ", False)]


@row
def rows_over_a_screen(value):
    pieces: Pieces = [(b"\x1b[2J", False)]
    for number, part in reversed(list(enumerate(cut(value, 8)))):
        pieces += [(f"\x1b[{number + 2};1H".encode(), False), (part.encode(), True)]
    return [*pieces, (b"\x1b[20;1H$ ", False)]


@row
def base64_alone(value):
    return around("", base64.b64encode(value.encode()), "\r\n")


@row
def base64_in_a_run_with_lead_1(value):
    return around("x: ", base64.b64encode(f"a{value}b".encode()), "\r\n")


@row
def base64_in_a_run_with_lead_2(value):
    return around("x: ", base64.b64encode(f"KEY=={value}\nOTHER=1\n".encode()), "\r\n")


@row
def base64_urlsafe(value):
    return around("x: ", base64.urlsafe_b64encode(f"\xff\xfe?>{value}".encode()), "\r\n")


@row
def base64_wrapped_at_76(value):
    lines = base64.encodebytes(f"API_KEY={value} {value}".encode()).decode().split()
    return spread(lines, "\r\n")


@row
def base64_twice(value):
    return around("", base64.b64encode(base64.b64encode(value.encode())), "\r\n")


@row
def base64_three_times(value):
    return around("", base64.b64encode(base64.b64encode(base64.b64encode(f"k={value}".encode()))), "\r\n")


@row
def base64_of_utf16(value):
    return around("powershell -e ", base64.b64encode(f"$k='{value}'".encode("utf-16-le")), "\r\n")


@row
def base32_of_it(value):
    return around("", base64.b32encode(f"ab{value}".encode()), "\r\n")


@row
def hexadecimal(value):
    return around("hex ", value.encode().hex(), "\r\n")


@row
def hexadecimal_upper_with_colons(value):
    return around("", value.encode().hex(":").upper(), "\r\n")


@row
def c_array(value):
    return around("{ ", ", ".join(f"0x{byte:02x}" for byte in value.encode()), " }\r\n")


@row
def decimal_bytes(value):
    return around("[", ", ".join(str(byte) for byte in value.encode()), "]\r\n")


def _dump(value, *command, lead=b"KEY="):
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]} here")
    out = subprocess.run(command, input=lead + value.encode() + b"\n", stdout=subprocess.PIPE, check=True).stdout
    return [(out, None)]


@row
def xxd(value):
    return _dump(value, "xxd")


@row
def xxd_plain(value):
    return _dump(value, "xxd", "-p")


@row
def od_characters(value):
    return _dump(value, "od", "-c")


@row
def od_octal_words(value):
    return _dump(value, "od", "-b")


@row
def od_hex_words(value):
    return _dump(value, "od", "-x")


@row
def od_hex_bytes_and_characters(value):
    return _dump(value, "od", "-A", "x", "-t", "x1z")


@row
def xxd_bits(value):
    return _dump(value, "xxd", "-b")


@row
def spaced(value):
    return around("", " ".join(value), "\r\n")


@row
def spaced_with_dots(value):
    return spread(list(value), "·")


@row
def percent_encoded(value):
    return around("url?k=", "".join(f"%{ord(character):02X}" for character in value), "&x=1\r\n")


@row
def partly_percent_encoded(value):
    return around("url?k=", value[:5] + f"%{ord(value[5]):02x}" + value[6:], "&x=1\r\n")


@row
def upper(value):
    return around("", value.upper(), "\r\n")


@row
def title_case(value):
    return around("", value.title(), "\r\n")


@row
def json_unicode_escapes(value):
    return around('{"k": "', "".join(f"\\u{ord(character):04x}" for character in value), '"}\r\n')


@row
def json_unicode_escape_of_some(value):
    return around('{"k": "', value[:9] + f"\\u{ord(value[9]):04x}" + value[10:], '"}\r\n')


@row
def c_escapes(value):
    return around("printf '", "".join(f"\\x{ord(character):02x}" for character in value), "'\r\n")


@row
def octal_escapes(value):
    return around("printf '", "".join(f"\\{ord(character):03o}" for character in value), "'\r\n")


@row
def html_entities(value):
    return around("<b>", "".join(f"&#{ord(character)};" for character in value), "</b>\r\n")


@row
def html_hex_entities_of_some(value):
    return around("<b>", value[:4] + f"&#x{ord(value[4]):x};" + value[5:], "</b>\r\n")


@row
def quoted_printable(value):
    return around("k=3D", value[:20] + "=\n" + value[20:24] + f"={ord(value[24]):02X}" + value[25:], "\r\n")


@row
def json_in_json(value):
    return around("", "", "") + around('"{\\"k\\": \\"', value, '\\"}"\r\n')


@row
def json_list_of_characters(value):
    return [(b'["', False), *spread(list(value), '", "')[1:-1], (b'"]\r\n', False)]


@row
def one_character_a_line(value):
    return spread(list(value), "\r\n")


@row
def vertical_in_a_box(value):
    return spread(list(value), " │\r\n │ ")


@row
def nul_separated_environment(value):
    return around("HOME=/root\0KEY=", value, "\0TERM=xterm\0")


@row
def shell_trace(value):
    return around("+ curl -H 'Authorization: Bearer ", value, "' https://host\r\n")


@row
def basic_authorization(value):
    return around("> Authorization: Basic ", base64.b64encode(f"user:{value}".encode()), "\r\n")


@row
def cookie(value):
    return around("< Set-Cookie: s=", value, "; Path=/\r\n")


@row
def title(value):
    return around("\x1b]0;key ", value, "\x07$ ")


@row
def tmux_title(value):
    return around("\x1bk", value, "\x1b\\$ ")


@row
def link(value):
    return around("\x1b]8;;https://h/?k=", value, "\x1b\\text\x1b]8;;\x1b\\\r\n")


@row
def clipboard(value):
    return around("\x1b]52;c;", base64.b64encode(f"x{value}".encode()), "\x07")


@row
def tmux_passthrough(value):
    return around("\x1bPtmux;\x1b\x1b]0;", value, "\x07\x1b\\")


@row
def application_string(value):
    return around("\x1b_note ", value, "\x1b\\")


@row
def privacy_string_over_pieces(value):
    return spread(cut(value, 10), "\x1b\\\x1b^")


@row
def gzip_in_base64(value):
    return around("", base64.b64encode(gzip.compress(f"KEY={value}\n".encode(), mtime=0)), "\r\n")


@row
def zlib_in_base64(value):
    return around("", base64.b64encode(zlib.compress(f"KEY={value}\n".encode())), "\r\n")


@row
def xz_in_base64(value):
    return around("", base64.b64encode(lzma.compress(f"KEY={value}\n".encode())), "\r\n")


@row
def zstd_in_base64(value):
    return around("", base64.b64encode(zstandard.compress(f"KEY={value}\n".encode())), "\r\n")


@row
def bzip2_in_base64(value):
    return around("", base64.b64encode(bz2.compress(f"KEY={value}\n".encode())), "\r\n")


@row
def base64_in_gzip_in_hex(value):
    packed = gzip.compress(base64.b64encode(f"KEY={value}\n".encode()), mtime=0)
    return around("", packed.hex(), "\r\n")


@row
def truncated_in_a_trace(value):
    return around("KeyError: '", value[:15], "...' at line 3\r\n")


@row
def truncated_at_the_front(value):
    return around("KeyError: '...", value[-14:], "' at line 3\r\n")


@row
def beginning_dots_end(value):
    return [*around("using ", value[:13], "..."), *around("", value[-4:], "\r\n")]


@row
def in_a_remote(value):
    return around("https://user:", value, "@host.example/r.git\r\n")


@row
def rot13(value):
    return around("", codecs.encode(value, "rot13"), "\r\n")


@row
def backwards(value):
    return around("", value[::-1], "\r\n")


@row
def base64_backwards(value):
    return around("", base64.b64encode(value.encode())[::-1].lstrip(b"="), "\r\n")


@row
def with_line_numbers(value):
    pieces: Pieces = []
    for number, part in enumerate(cut(value, 17), 10):
        pieces += [(f"{number:4} | ".encode(), None), (part.encode(), True), (b"\r\n", False)]
    return pieces


@row
def with_time_stamps(value):
    pieces: Pieces = []
    for number, part in enumerate(cut(value, 11), 10):
        pieces += [(f"[2026-01-02T03:04:{number}.5Z] ".encode(), None), (part.encode(), True), (b"\r\n", False)]
    return pieces


@row
def in_a_diff(value):
    return [(b"--- a\r\n+++ b\r\n+", False), *spread(cut(value, 20), "\r\n+")[1:]]


@row
def fullwidth_letters(value):
    return around("", "".join(chr(ord(character) + 0xFEE0) for character in value), "\r\n")


@row
def zero_width_inside(value):
    return spread(cut(value, 3), "\u200b\u2060")


@row
def coloured_json_log(value):
    text = json.dumps("\x1b[32m" + value[:10] + "\x1b[0m" + value[10:])
    start = text.index(value[:10])
    end = text.index(value[10:])
    return [
        *around('{"line": ' + text[:start], value[:10], text[start + 10 : end]),
        *around("", value[10:], text[end + len(value) - 10 :] + "}\n"),
    ]


@row
def jupyter_html(value):
    return around("<td>", html.escape(value), "</td>\r\n")


@row
def quoted_for_a_shell(value):
    return around("run --key=", shlex.quote(value), "\r\n")


@row
def in_a_query(value):
    return around("GET /?", urllib.parse.urlencode({"k": value})[2:], " HTTP/1.1\r\n")


@row
def beside_a_broken_character(value):
    return around(b"\xe2\x94", value, b"\xc3\r\n")
