"""Private keys, told by their structure: headers with a body, and the beginnings of the binary forms.

A public key, a certificate, parameters and a text that only mentions a header are none.
"""

from __future__ import annotations

import re

_BODY = rb"(?:[^A-Za-z0-9+/*]|\\[nr])*(?:(?:Proc-Type|DEK-Info|Version|Comment)[^\n]{0,80}\s+)*[A-Za-z0-9+/]{20,}"
_HEADERS = re.compile(
    rb"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
    + _BODY
    + rb"|-----BEGIN OpenVPN Static key V1-----\s+[0-9a-f]{16}"
    + rb"|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----"
    + _BODY
    + rb"|Private-Lines: \d+\s+[A-Za-z0-9+/]{20,}"
    + rb"|(?:PrivateKey|PresharedKey)\s*=\s*[A-Za-z0-9+/]{43}="
    + rb"|(?:privateExponent|prime1|priv):\s+(?:[0-9a-f]{2}:\s*){8}"
    + rb"|untrusted comment: [^\n]{0,80}secret key\s+RW[A-Za-z0-9+/]{40,}"
)
_TIGHT = re.compile(
    rb"-----BEGIN(?:[A-Z0-9]{1,20})?PRIVATEKEY(?:BLOCK)?-----(?:[^A-Za-z0-9+/*]{0,8}(?:Proc-Type:4,ENCRYPTEDDEK-Info:[A-Z0-9-]+,[0-9A-F]+)?)[A-Za-z0-9+/]{40,}"
)
_JWK = re.compile(rb'"(?:d|k|p|q|dp|dq|qi)"\s*:\s*"[\w-]{40,}"')
_HINTS = (
    b"PRIVATE KEY",
    b"Static key",
    b"Private-Lines",
    b"PrivateKey",
    b"PresharedKey",
    b"privateExponent",
    b"priv:",
    b"secret key",
)
_OPENSSH = b"openssh-key-v1\0"
_DER = re.compile(rb"\x30(?:[\x20-\x7f]|\x81.|\x82..)(?=\x02\x01[\x00\x01]|\x30)", re.DOTALL)
_PBES = bytes.fromhex("2a864886f70d0105")


def written(text: bytes) -> str | None:
    """The kind of a private key written in `text` with its header, or None."""
    if any(hint in text for hint in _HINTS) and _HEADERS.search(text):
        return "a private key with its header"
    if b"PRIVATEKEY" in text and _TIGHT.search(text):
        return "a private key with its header"
    if b'"kty"' in text and _JWK.search(text):
        return "a private JSON web key"
    return None


def binary(data: bytes) -> str | None:
    """The kind of a private key in `data`, the result of decoding something, or None."""
    if _OPENSSH in data:
        return "a private key of OpenSSH"
    for match in _DER.finditer(data):
        if _private(data, match.start(), match.end()):
            return "a private key in binary form"
    return None


def _private(data: bytes, start: int, at: int) -> bool:
    """Whether the sequence at `start`, its contents at `at`, is PKCS#1, PKCS#8, SEC 1 or an encrypted PKCS#8. It may be
    cut off."""
    end = start + _length(data, start)
    if data[at] == 0x30:  # EncryptedPrivateKeyInfo: a sequence with the scheme, then the encrypted octets.
        inner = at + _length(data, at)
        return data[at + 4 : inner].find(_PBES, 0, 8) in range(-1, 8) and _PBES in data[at : at + 16] and inner < end
    version, at = data[at + 2], at + 3
    if at + 2 >= len(data):
        return False
    tag, size = data[at], _length(data, at)
    inside = at + size <= end
    if version == 1 and tag == 0x04:
        return inside and size - 2 in range(20, 67)
    if version == 0 and tag == 0x02:
        return inside and size > 60 and end - start > 4 * size
    if tag == 0x30 and size in range(4, 64):  # PrivateKeyInfo: an algorithm's number, then octets.
        return inside and data[at + 2 : at + 3] == b"\x06" and data[at + size : at + size + 1] in (b"\x04", b"")
    return False


def _length(data: bytes, at: int) -> int:
    """Bytes of the DER value at `at`, with its head; 0 where there is none."""
    head = data[at + 1 : at + 4]
    if not head:
        return 0
    if head[0] < 0x80:
        return head[0] + 2
    count = head[0] & 0x7F
    return int.from_bytes(head[1 : 1 + count], "big") + 2 + count if count in (1, 2) and len(head) > count else 0
