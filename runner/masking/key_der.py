"""Private keys in DER and OpenSSH's own form, in base64 or hexadecimal without a header: their length is in them."""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Iterator

from runner.masking.text import Span, Squeezed, Text, between_letters

_B = rb"[A-Za-z0-9+/_-]"
_BASE64 = re.compile(
    rb"MII%b%b[AQgw]IBA|MI[E-H]%bAgE[ABD]|M[A-H][AEIMQUYcgkosw048]CAQ[AE]|b3BlbnNzaC1rZXktdjEA|MI(?:I%b{4,6}|[E-H]%b{2,4}|[A-D]%b{1,3}){1,2}[A-Za-z0-9+/]{2}kqhkiG9w0B[BD]|MI[IE-H]%b{0,10}?BgkqhkiG9w0BBQ"
    % ((_B,) * 7)
)
_HEX = re.compile(
    rb"(?i)3082[0-9a-f]{4}02010[013]|3081[0-9a-f]{2}02010[01]|30[2-7][0-9a-f]02010[01]|6f70656e7373682d6b65792d763100"
    rb"|3082[0-9a-f]{4}30[0-9a-f]{2,6}06092a864886f70d0105"
)
_END = re.compile(rb"-{4,5} ?END ")
_ENCRYPTED = bytes.fromhex("2a864886f70d0105")
_PKCS7 = bytes.fromhex("2a864886f70d0107")
_OPENSSH = b"openssh-key-v1\0"
_LONGEST = 64 << 10


def der(text: Text) -> Iterator[Span]:
    """Spans of `text` that hold such keys; one that is cut off, up to where its letters end."""
    squeezed = None
    data = text.text
    if re.search(rb"\bM[A-I]|b3BlbnNz|3\s?0\s?8\s?[12]|\b30[2-7]|6f\s?70\s?65\s?6e", data) is None:
        return
    squeezed = between_letters(text)
    yield from _keys(squeezed, _BASE64, re.compile(rb"[A-Za-z0-9+/_-]+={0,2}"), _from_base64, 6)
    yield from _keys(squeezed, _HEX, re.compile(rb"[0-9A-Fa-f]+"), _from_hex, 4)


def _keys(
    squeezed: Squeezed,
    begins: re.Pattern[bytes],
    all_letters: re.Pattern[bytes],
    read: Callable[[bytes], bytes],
    bits: int,
) -> Iterator[Span]:
    past = 0
    for begin in begins.finditer(squeezed.text):
        if begin.start() < past:
            continue
        run = all_letters.match(squeezed.text, begin.start(), begin.start() + 2 * _LONGEST)
        if run is None:
            continue
        size = length(read(run[0]))
        if size is None:
            continue
        past = begin.start() + min(len(run[0].rstrip(b"=")), -(-8 * size // bits))
        while squeezed.text[past : past + 1] == b"=":
            past += 1
        source = squeezed.source.text
        first, last = squeezed.place(begin.start()), squeezed.place(past - 1) + 1
        if end := _END.search(source, first, last + 8):
            last = end.start()
        for letters in re.compile(rb"[A-Za-z0-9+/=_-]+").finditer(source, first, last):
            yield letters.span()


def length(data: bytes) -> int | None:
    """How many bytes the private key takes that `data` begins with; None where it is none."""
    if data.startswith(_OPENSSH):
        return _openssh(data)
    head = _header(data, 0)
    if head is None or data[0] != 0x30:
        return None
    start, size = head
    total = start + size
    inner = data[start : start + 24]
    if inner[:3] in (b"\x02\x01\x00", b"\x02\x01\x01"):
        following = inner[3:4]
        if inner[2] == 0 and following in (b"\x30", b"\x02"):
            return total if following == b"\x30" or _header(data, start + 3) is not None else None
        if inner[2] == 1 and following in (b"\x04", b"\x30"):
            return total
        return None
    if inner[:3] == b"\x02\x01\x03" and _PKCS7 in data[start : start + 40]:
        return total
    if inner[:1] == b"\x30" and _ENCRYPTED in inner:
        return total
    return None


def _header(data: bytes, at: int) -> tuple[int, int] | None:
    """Where the content of a DER value begins, and its length."""
    if len(data) < at + 4:
        return None
    size = data[at + 1]
    if size < 0x80:
        return at + 2, size
    count = size & 0x7F
    if not 1 <= count <= 2:
        return None
    return at + 2 + count, int.from_bytes(data[at + 2 : at + 2 + count], "big")


def _openssh(data: bytes) -> int:
    """Cipher, kdf, its options, the count, that many public keys and one private part."""
    at, strings = len(_OPENSSH), 0
    while strings < 5 and at + 4 <= len(data):
        if strings == 3:
            at += 4
        at += 4 + int.from_bytes(data[at : at + 4], "big")
        strings += 1
    return at if at <= _LONGEST else len(data)


def _from_base64(letters: bytes) -> bytes:
    whole = letters.rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
    whole = whole[: len(whole) - (len(whole) % 4 == 1)]
    return binascii.a2b_base64(whole + b"=" * (-len(whole) % 4))


def _from_hex(letters: bytes) -> bytes:
    return binascii.unhexlify(letters[: len(letters) // 2 * 2])
