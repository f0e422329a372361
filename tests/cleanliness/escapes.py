"""Recordings in which a value can be read, one for each way in which values have escaped from recordings before."""

from __future__ import annotations

import base64
import bz2
import codecs
import gzip
import html
import io
import json
import lzma
import random
import string
import zipfile
import zlib
from collections.abc import Callable, Iterable
from urllib.parse import quote

import zstandard

_chance = random.Random(20260101)
HEX = "".join(_chance.choices("0123456789abcdef", k=64))
PLAIN = "".join(_chance.choices(string.ascii_letters + string.digits, k=40))
SECRETS = {
    "shaped": "sk-" + "or-v1-" + "".join(_chance.choices("0123456789abcdef", k=64)),
    "random": PLAIN,
    "hex": HEX,
}

Rows = Callable[[str], bytes]


def cast(*events: tuple[str, str] | str, header: dict[str, object] | None = None) -> bytes:
    """A recording of those events, output where no code is given, between ordinary ones."""
    lines: list[object] = [{"version": 2, "width": 120, "height": 40, "timestamp": 1, **(header or {})}]
    lines.append([0.1, "o", "$ make\r\n\x1b[32mok\x1b[0m all is well\r\n"])
    for at, event in enumerate(events, 1):
        code, text = ("o", event) if isinstance(event, str) else event
        lines.append([at, code, text])
    lines.append([len(events) + 1, "o", "\r\n$ exit\r\n"])
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def _wrapped(text: str, width: int, between: str) -> str:
    return between.join(text[at : at + width] for at in range(0, len(text), width))


def _halves(s: str) -> tuple[str, str]:
    return s[: len(s) // 2], s[len(s) // 2 :]


def _b64(data: bytes | str) -> str:
    return base64.b64encode(data.encode() if isinstance(data, str) else data).decode()


def _xxd(s: str) -> str:
    data, lines = s.encode() + b"\n", []
    for at in range(0, len(data), 16):
        part = data[at : at + 16]
        pairs = " ".join(part[i : i + 2].hex() for i in range(0, len(part), 2))
        lines.append(f"{at:08x}: {pairs:<39}  {''.join(chr(c) if 32 <= c < 127 else '.' for c in part)}")
    return "\r\n".join(lines)


def _od(s: str, each: Callable[[bytes], Iterable[str]]) -> str:
    data = s.encode()
    return "\r\n".join(f"{at:07o} {' '.join(each(data[at : at + 16]))}" for at in range(0, len(data), 16))


def _words(part: bytes) -> list[str]:
    return [f"{int.from_bytes(part[i : i + 2], 'little'):04x}" for i in range(0, len(part), 2)]


def _wide(part: bytes, size: int) -> list[str]:
    words = [part[i : i + size].ljust(size, b"\0") for i in range(0, len(part), size)]
    return [f"{int.from_bytes(word, 'little'):0{2 * size}x}" for word in words]


def _zip(s: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("notes.txt", f"hello {s} hello {s}")
    return out.getvalue()


def _mixed(s: str) -> list[tuple[int, str]]:
    return sorted(enumerate(s), key=lambda one: one[0] % 3)


def _every(s: str, first: int, row: int, column: int = 0) -> str:
    """Every second character in its place."""
    return "".join(f"\x1b[{row};{column + at + 1}H{s[at]}" for at in range(first, len(s), 2))


def _columns(s: str) -> str:
    odd = "".join(f"\x1b[10;{at}H{c}" for at, c in enumerate(s, 1) if at % 2)
    return odd + "".join(f"\x1b[10;{at}H{c}" for at, c in enumerate(s, 1) if not at % 2)


def _png(s: str) -> bytes:
    return gzip.compress(b"\x00\x01\x02some archive " + s.encode() + bytes(range(200)))


ESCAPES: dict[str, Rows] = {
    "01 plain": lambda s: cast(f"export KEY={s}\r\n"),
    "02 two events": lambda s: cast(*_halves(s)),
    "03 one character an event": lambda s: cast(*s),
    "04 a marker between": lambda s: cast(_halves(s)[0], ("m", "here"), ("r", "100x30"), _halves(s)[1]),
    "05 beside a broken character": lambda s: cast(f"caf\ufffd{s}\ufffd\r\n"),
    "05 a broken character inside": lambda s: cast(f"{s[:7]}\ufffd{s[7:]}\r\n"),
    "06 soft wrap": lambda s: cast("x" * 100 + s + "\r\n"),
    "07 hard wrap with indent": lambda s: cast(_wrapped(s, 9, "\r\n      ")),
    "07 wrapped in a box": lambda s: cast(_wrapped(s, 8, " │\r\n│ ")),
    "09 colours inside": lambda s: cast("".join(f"\x1b[3{i % 8}m{c}" for i, c in enumerate(s)) + "\x1b[0m"),
    "10 overwritten": lambda s: cast(f"{s}\r{'-' * len(s)}\r\n"),
    "11 backspaces": lambda s: cast("".join(f"_\b{c}" for c in s)),
    "11 mistyped and corrected": lambda s: cast("".join(f"{c}q\b \b" for c in s)),
    "11 put in front": lambda s: cast("\r" + "\r".join(f"\x1b[@{c}" for c in reversed(s)) + "\r\n"),
    "12 halves out of order": lambda s: cast(
        f"\x1b[5;{len(s) // 2 + 1}H{_halves(s)[1]}", f"\x1b[5;1H{_halves(s)[0]}\x1b[20;1H"
    ),
    "13 odd and even columns": lambda s: cast(_columns(s)),
    "13 odd and even columns, then cleared": lambda s: cast(_columns(s), "\x1b[2J\x1b[H"),
    "12 below the top of a region": lambda s: cast(
        "\x1b[5;20r\x1b[?6h" + _every(s, 0, 3), "\x1b[?6l" + _every(s, 1, 7)
    ),
    "12 tab stops": lambda s: cast(
        "\x1b[3g" + "".join(f"\x1b[{at}G\x1bH" for at in range(1, len(s) + 1)) + "\r" + "\t".join(s[::2]),
        "\r\t" + "\t".join(s[1::2]),
    ),
    "12 tabs backwards": lambda s: cast("".join(f"\x1b[120G\x1b[20Z\x1b[{at}C{c}" for at, c in _mixed(s) if at)),
    "12 a wider terminal": lambda s: cast(("r", "200x50"), _every(s, 0, 45, 120), _every(s, 1, 45, 120)),
    "12 a sequence torn by a line feed": lambda s: cast("\x1b[1\n;3m".join(s)),
    "13 a rectangle copied": lambda s: cast("\x1b[5;1;5;9;1;10;1;1$v"),
    "13 a terminal made wider by a program": lambda s: cast("\x1b[8;50;200t"),
    "13 columns taken out": lambda s: cast("\x1b[2'~"),
    "13 base64 in odd and even columns": lambda s: cast(_columns(_b64(s))),
    "13 hexadecimal behind backspaces": lambda s: cast("".join(f"_\b{c}" for c in s.encode().hex())),
    "14 erased": lambda s: cast(f"{s}\r\x1b[2K"),
    "15 alternate screen": lambda s: cast(f"\x1b[?1049h\x1b[H{s}\x1b[?1049l"),
    "15 cursor on the alternate screen": lambda s: cast("\x1b[?1049h", _columns(s), "\x1b[?1049l"),
    "16 base64": lambda s: cast(_b64(s)),
    "16 base64, backwards": lambda s: cast(_b64(s)[::-1]),
    "16 base64 in rot13": lambda s: cast(codecs.encode(_b64(s), "rot13")),
    "17 base64 behind one": lambda s: cast("auth: " + _b64("u" + s)),
    "17 base64 behind two": lambda s: cast("auth: " + _b64("u:" + s)),
    "17 base64 for addresses": lambda s: cast(base64.urlsafe_b64encode(b"\xff\xfe" + s.encode()).decode()),
    "18 base64 wrapped": lambda s: cast(_wrapped(_b64(s + s), 76, "\r\n")),
    "18 base64 wrapped short": lambda s: cast(_wrapped(_b64(s), 10, "\r\n")),
    "19 base64 twice": lambda s: cast(_b64(_b64(s))),
    "19 base64 three times": lambda s: cast(_b64(_b64(_b64(s)))),
    "20 hexadecimal": lambda s: cast(s.encode().hex()),
    "20 hexadecimal, upper case": lambda s: cast("a" + s.encode().hex().upper()),
    "20 hexadecimal with colons": lambda s: cast(s.encode().hex(":")),
    "20 a list of bytes": lambda s: cast(", ".join(f"0x{c:02x}" for c in s.encode())),
    "20 decimal numbers": lambda s: cast(str(list(s.encode()))),
    "21 base32": lambda s: cast(base64.b32encode(s.encode()).decode()),
    "21 xxd": lambda s: cast(_xxd(s)),
    "21 od -x": lambda s: cast(_od(s, _words)),
    "21 od -t x1": lambda s: cast(_od(s, lambda part: [f"{c:02x}" for c in part])),
    "21 od -b": lambda s: cast(_od(s, lambda part: [f"{c:03o}" for c in part])),
    "22 od -c": lambda s: cast(_od(s, lambda part: [f"  {chr(c)}" for c in part])),
    "22 spaces between": lambda s: cast(" ".join(s)),
    "22 joiners between": lambda s: cast("\u200b".join(s)),
    "22 full width": lambda s: cast("".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in s)),
    "23 percent": lambda s: cast("".join(f"%{ord(c):02X}" for c in s)),
    "23 partly percent": lambda s: cast(
        "key=" + "".join(f"%{ord(c):02x}" if i % 5 == 0 else c for i, c in enumerate(s))
    ),
    "23 percent twice": lambda s: cast(quote("".join(f"%{ord(c):02X}" for c in s))),
    "24 quoted-printable": lambda s: cast("".join(f"={ord(c):02X}" for c in s)),
    "24 quoted-printable, cut": lambda s: cast(_wrapped(s, 9, "=\r\n")),
    "25 upper case": lambda s: cast(s.upper()),
    "25 lower case": lambda s: cast(s.lower()),
    "25 title case": lambda s: cast(s.title()),
    "26 unicode escapes": lambda s: cast("".join(f"\\u{ord(c):04x}" for c in s)),
    "26 unicode escapes of JSON itself": lambda s: cast("@@").replace(
        b"@@", "".join(f"\\u{ord(c):04x}" for c in s).encode()
    ),
    "26 hexadecimal escapes": lambda s: cast("".join(f"\\x{ord(c):02x}" for c in s)),
    "26 octal escapes": lambda s: cast("".join(f"\\{ord(c):03o}" for c in s)),
    "26 HTML": lambda s: cast("".join(f"&#{ord(c)};" for c in s)),
    "26 HTML, hexadecimal": lambda s: cast("".join(f"&#x{ord(c):x};" for c in s)),
    "27 JSON in JSON": lambda s: cast(json.dumps(json.dumps({"key": "\"'" + s}))),
    "27 quoted for a shell": lambda s: cast("'" + s[:9] + "'\"'\"'" + s[9:] + "'"),
    "28 one character a line": lambda s: cast("\r\n".join(s)),
    "30 environ": lambda s: cast(f"HOME=/root\0KEY={s}\0"),
    "31 set -x": lambda s: cast(f"+ curl -H 'Authorization: Bearer {s}' https://a.example\r\n"),
    "31 Basic": lambda s: cast("Authorization: Basic " + _b64("user:" + s)),
    "32 title": lambda s: cast(f"\x1b]0;{s}\x07"),
    "32 title of tmux": lambda s: cast(f"\x1bk{s}\x1b\\"),
    "34 clipboard": lambda s: cast(f"\x1b]52;c;{_b64(s)}\x07"),
    "35 passed through tmux": lambda s: cast(f"\x1bPtmux;\x1b\x1b]52;c;{_b64(s)}\x07\x1b\\"),
    "35 APC": lambda s: cast(f"\x1b_{s}\x1b\\"),
    "35 PM": lambda s: cast(f"\x1b^{s}\x1b\\"),
    "35 SOS in two": lambda s: cast("".join(f"\x1bXpart;{half}\x1b\\" for half in _halves(s))),
    "35 a picture": lambda s: cast(f"\x1bPq#0;2;0;0;0~~@@vv@@~~$\x1b\\{s[:0]}"),
    "36 typed": lambda s: cast(("i", s)),
    "37 typed key by key": lambda s: cast(*(("i", c) for c in s)),
    "38 label of a marker": lambda s: cast(("m", s)),
    "39 an unknown code": lambda s: cast(("z", s)),
    "40 the header": lambda s: cast(header={"command": f"KEY={s} make"}),
    "41 a key of the header": lambda s: cast(header={"env": {s: "1"}}),
    "42 a comment": lambda s: cast() + f"# {s}\n".encode(),
    "42 a line that is no JSON": lambda s: cast() + f"{s}\n".encode(),
    "43 gzip": lambda s: cast(_b64(_png(s))),
    "43 zlib": lambda s: cast(_b64(zlib.compress(b"some text, " + s.encode()))),
    "43 xz": lambda s: cast(_b64(lzma.compress(s.encode() * 2))),
    "43 bzip2": lambda s: cast(_b64(bz2.compress(s.encode() * 2))),
    "43 zstd": lambda s: cast(_b64(zstandard.compress(s.encode() * 2))),
    "43 zip": lambda s: cast(_b64(_zip(s))),
    "43 gzip, wrapped": lambda s: cast(_wrapped(_b64(_png(s)), 60, "\r\n")),
    "44 cut short": lambda s: cast(f"invalid key: {s[:24]}...\r\n"),
    "44 only the middle": lambda s: cast(f"...{s[20:36]}...\r\n"),
    "45 in an address": lambda s: cast(f"https://user:{s}@git.example/a.git"),
    "47 rot13": lambda s: cast(codecs.encode(s, "rot13") + (s[3:15] if s.isdigit() else "")),
    "47 backwards": lambda s: cast(s[::-1]),
    "16 base64 backwards in it": lambda s: cast(_b64(s[::-1])),
    "16 base64 of it with spaces": lambda s: cast(_b64(" ".join(s))),
    "16 base64 of it in colours": lambda s: cast(_b64("".join(f"\x1b[3{i % 8}m{c}" for i, c in enumerate(s)))),
    "16 base64 of it in lines": lambda s: cast(_b64(_wrapped(s, 9, "\n"))),
    "16 base64 of UTF-16": lambda s: cast(base64.b64encode(s.encode("utf-16-le")).decode()),
    "20 hexadecimal backwards": lambda s: cast(s.encode().hex()[::-1]),
    "21 od": lambda s: cast(_od(s, lambda part: [f"{int(word, 16):06o}" for word in _words(part)])),
    "21 od -t x4": lambda s: cast(_od(s, lambda part: _wide(part, 4))),
    "21 od -t x8": lambda s: cast(_od(s, lambda part: _wide(part, 8))),
    "22 a list of characters": lambda s: cast(str(list(s))),
    "22 numbered lines": lambda s: cast("\r\n".join(f"{at:6}\t{s[at : at + 8]}" for at in range(0, len(s), 8))),
    "22 lines with their time": lambda s: cast(
        "\r\n".join(f"[2026-01-01T00:00:{at:02}.5Z] {s[at : at + 9]}" for at in range(0, len(s), 9))
    ),
    "22 groups": lambda s: cast("-".join(s[i : i + 4] for i in range(0, len(s), 4))),
    "22 arrows between": lambda s: cast("\u2192".join(s)),
    "22 invisible characters": lambda s: cast("".join(chr(0xE0000 + ord(c)) for c in s)),
    "22 joined in a program": lambda s: cast("'" + "' + '".join(s[i : i + 5] for i in range(0, len(s), 5)) + "'"),
    "22 escapes that swallow": lambda s: cast("\x1b[".join(s[:30])),
    "26 HTML without its end": lambda s: cast("".join(f"&#{ord(c)} " for c in s)),
    "40 numbers in the header": lambda s: cast(header={"n": list(s.encode())}),
    "40 a key twice in the header": lambda s: cast().replace(
        b'"version": 2',
        ('"title": "' + "".join(f"\\u{ord(c):04X}" for c in s) + '", "title": "x", "version": 2').encode(),
    ),
    "47 rot13, upper case": lambda s: cast(codecs.encode(s, "rot13").upper()),
    "26 HTML around it": lambda s: cast("&quot;" + html.escape(s) + "&quot;"),
}
"""Name, beginning with its number in the list of known escapes, to the recording of a value."""

UNPROVABLE: dict[str, Rows] = {
    "47 xor": lambda s: cast(bytes(ord(c) ^ 0x5A for c in s).hex()),
    "48 drawn large": lambda s: cast(
        "\r\n".join("".join("# " if ord(c) >> bit & 1 else "  " for c in s) for bit in range(7))
    ),
}
"""What no view reads. The keys of a run are revoked before anything of it is published, for these."""


def archive(size: int) -> bytes:
    """A compressed piece that unfolds to `size` bytes of nothing."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as file:
        for _ in range(size >> 20):
            file.write(bytes(1 << 20))
    return out.getvalue()
