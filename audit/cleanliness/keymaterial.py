"""Private keys, told by their structure: headers with a body, and the beginnings of the binary forms.

A public key, a certificate, parameters and a text that only mentions a header are none.
"""

from __future__ import annotations

import re

_BODY = (
    rb"(?:[^A-Za-z0-9+/*]|\\[nr]){0,400}"
    rb"(?:(?:Proc-Type|DEK-Info|Version|Comment)[^\n]{0,80}\n\s{0,80}){0,8}[A-Za-z0-9+/]{20,}"
)
_COLONS = rb"\s+(?:[0-9a-f]{2}:\s*){8}"
_KEY = r"(?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
HEADERS = {
    b"-----BEGIN ": re.compile(_KEY.encode() + _BODY + rb"|OpenVPN Static key V1-----\s+[0-9a-f]{16}"),
    b"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----": re.compile(_BODY),
    b"-----BEGIN": re.compile(
        rb"(?:[A-Z0-9]{1,20})?PRIVATEKEY(?:BLOCK)?-----[^A-Za-z0-9+/*]{0,8}"
        rb"(?:Proc-Type:4,ENCRYPTEDDEK-Info:[A-Z0-9-]+,[0-9A-F]+)?[A-Za-z0-9+/]{40,}"
    ),
    b"Private-Lines:": re.compile(rb"\s*\d+\s+[A-Za-z0-9+/]{20,}"),
    b"PrivateKey": re.compile(rb"\s*=\s*[A-Za-z0-9+/]{43}="),
    b"PresharedKey": re.compile(rb"\s*=\s*[A-Za-z0-9+/]{43}="),
    b"privateExponent:": re.compile(_COLONS),
    b"prime1:": re.compile(_COLONS),
    b"priv:": re.compile(_COLONS),
    b'"kty"': re.compile(rb'[^{}]{0,2000}"(?:d|k|p|q|dp|dq|qi)"\s*:\s*"[\w-]{40,}"'),
    b'"d"': re.compile(rb'\s*:\s*"[\w-]{40,}"[^{}]{0,2000}"kty"'),
    b"secret key": re.compile(rb"\s+RW[A-Za-z0-9+/]{40,}"),
}
"""How each form begins, to what comes next where a key was written and not only mentioned."""
_OPENSSH = b"openssh-key-v1\0"
_DER = re.compile(rb"\x02\x01(?:\x00[\x02\x30]|\x01\x04)")
"""A version and the tag after it: the beginning of what stands in PKCS#1, PKCS#8 and SEC 1."""
_PBES = bytes.fromhex("06092a864886f70d0105")
"""The number of a scheme to encrypt with a password, with which an encrypted PKCS#8 begins."""


def binary(data: bytes) -> str | None:
    """The kind of a private key in `data`, the result of decoding something, or None. It may be cut off."""
    if _OPENSSH in data:
        return "a private key of OpenSSH"
    if any(_private(data, match.start()) for match in _DER.finditer(data)):
        return "a private key in binary form"
    at = data.find(_PBES)
    while at >= 0:
        if any(data[start : start + 1] == b"\x30" and _heads(data, start) for start in (at - 2, at - 3, at - 4)):
            return "an encrypted private key in binary form"
        at = data.find(_PBES, at + 1)
    return None


def _private(data: bytes, at: int) -> bool:
    """Whether the version at `at` is that of a private key: a sequence around it, a number or octets of a fit size
    behind it."""
    head = _heads(data, at)
    if not head:
        return False
    start, whole = head
    version, tag, size = data[at + 2], data[at + 3], _length(data, at + 3)
    if at + 3 + size > start + whole:
        return False
    if version == 1:
        return size - 2 in range(20, 67)
    if tag == 0x02:
        return size > 60 and whole > 4 * size
    return (
        size in range(4, 64)
        and data[at + 5 : at + 6] == b"\x06"
        and data[at + 3 + size : at + 4 + size] in (b"\x04", b"")
    )


def _heads(data: bytes, at: int) -> tuple[int, int] | None:
    """Where the sequence begins whose contents begin at `at`, and its length with its head."""
    for size in (2, 3, 4):
        start = at - size
        if start >= 0 and data[start] == 0x30 and (whole := _length(data, start)) > 32:
            longer = data[start + 1] & 0x7F if data[start + 1] >= 0x80 else 0
            if longer == size - 2:
                return start, whole
    return None


def _length(data: bytes, at: int) -> int:
    """Bytes of the DER value at `at`, with its head; 0 where there is none."""
    head = data[at + 1 : at + 4]
    if not head:
        return 0
    if head[0] < 0x80:
        return head[0] + 2
    count = head[0] & 0x7F
    return int.from_bytes(head[1 : 1 + count], "big") + 2 + count if count in (1, 2) and len(head) > count else 0
