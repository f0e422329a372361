"""A private key that a project made withholds in every form; what only looks like one does not."""

from __future__ import annotations

import base64
import json
import random
import textwrap
import time

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from audit.cleanliness.check import look
from audit.cleanliness.known import Fragments
from audit.cleanliness.shapes import Shapes
from audit.cleanliness.views import File
from tests.cleanliness.escapes import cast
from tests.made_keys import ec_key, ed25519_key, rsa_key

CHANCE = random.Random("private keys")
RSA = rsa_key(CHANCE)
KEYS = {"rsa": RSA, "ec": ec_key(CHANCE, ec.SECP256R1()), "ed25519": ed25519_key(CHANCE)}
FORMATS = {
    "pkcs8": PrivateFormat.PKCS8,
    "traditional": PrivateFormat.TraditionalOpenSSL,
    "openssh": PrivateFormat.OpenSSH,
}
NOTHING, SHAPES = Fragments([]), Shapes()
FORMS = [(key, form) for key in KEYS for form in FORMATS if (key, form) != ("ed25519", "traditional")]


def found(text: str) -> list[str]:
    return [one.reason for one in look("a.cast", File("a.cast", cast(text)), NOTHING, SHAPES)]


def pem(key: str, form: str, password: bytes = b"") -> str:
    hidden = BestAvailableEncryption(password) if password else NoEncryption()
    return KEYS[key].private_bytes(Encoding.PEM, FORMATS[form], hidden).decode()  # type: ignore[attr-defined]


def body(text: str) -> str:
    return "\n".join(text.splitlines()[1:-1])


@pytest.mark.parametrize(("key", "form"), FORMS)
def test_a_key_is_found(key: str, form: str) -> None:
    text = pem(key, form)
    for shown in (
        text,
        text.replace("\n", "\r\n"),
        json.dumps({"key": text}),
        json.dumps(json.dumps(text)),
        textwrap.indent(text, "      "),
        textwrap.indent(text, "+"),
        "".join(f"\x1b[32m{line}\x1b[0m\r\n" for line in text.splitlines()),
        base64.b64encode(text.encode()).decode(),
        body(text),
        body(text).replace("\n", ""),
        "\n".join(textwrap.wrap(body(text).replace("\n", ""), 40)),
        base64.b64decode(body(text)).hex(),
        "\n".join(body(text)),
    ):
        assert found(shown), shown[:30]


def test_an_encrypted_key_is_found() -> None:
    assert found(pem("rsa", "pkcs8", b"password"))
    assert found(body(pem("rsa", "pkcs8", b"password")))
    openssh = b"openssh-key-v1\0\0\0\0\x0aaes256-ctr\0\0\0\x06bcrypt" + random.Random(2).randbytes(300)
    assert found(base64.b64encode(openssh).decode())


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r\n    "])
def test_an_encrypted_key_of_the_old_form_is_found(end: str) -> None:
    lines = pem("rsa", "traditional", b"password").splitlines()
    assert lines[1].startswith("Proc-Type")
    assert found(end.join(lines))


@pytest.mark.parametrize(
    "text", ['"kty"' * 9000, "sk-" + "proj-" * 9000, "-----BEGIN PRIVATE KEY-----" + " Version: " * 9000]
)
def test_beginnings_without_an_end_are_looked_at_in_little_time(text: str) -> None:
    before = time.process_time()
    assert found(text) == []
    assert time.process_time() - before < 5


def test_the_beginning_of_a_key_is_found() -> None:
    assert found("\n".join(pem("rsa", "pkcs8").splitlines()[:6]))


@pytest.mark.parametrize("key", KEYS)
def test_public_keys_are_not(key: str) -> None:
    public = KEYS[key].public_key()
    assert found(public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()) == []
    assert found(public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()) == []


def test_a_masked_key_is_none() -> None:
    lines = pem("rsa", "pkcs8").splitlines()
    assert found("\r\n".join([lines[0], *("*" * len(line) for line in lines[1:-1]), lines[-1]])) == []


@pytest.mark.parametrize(
    "text",
    [
        "[Interface]\nPrivateKey = " + base64.b64encode(random.Random(1).randbytes(32)).decode(),
        "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KHCE",
        "priv:\n    " + ":".join(f"{n:02x}" for n in range(20)),
        "Private-Lines: 1\nAAAAIQC" + "h4rLmP0sT8vW2xYz" * 2,
        '{"kty": "EC", "crv": "P-256", "d": "' + "h4rLmP0sT8vW2xYz" * 3 + '"}',
    ],
)
def test_other_forms_are_found(text: str) -> None:
    assert found(text)
