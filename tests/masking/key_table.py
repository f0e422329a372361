"""Private keys as tested projects print them: each row writes one and says which pieces are its body."""

from __future__ import annotations

import base64
import hashlib
import json
import random
from collections.abc import Callable
from functools import cache

from cryptography.hazmat.primitives import serialization as serial
from cryptography.hazmat.primitives.asymmetric import ec
from mnemonic import Mnemonic

from tests import made_keys

Pieces = list[tuple[bytes, bool | None]]
KEYS: dict[str, Callable[[], Pieces]] = {}
PEM, DER = serial.Encoding.PEM, serial.Encoding.DER
TRADITIONAL, PKCS8 = serial.PrivateFormat.TraditionalOpenSSL, serial.PrivateFormat.PKCS8
OPENSSH = serial.PrivateFormat.OpenSSH
PLAIN = serial.NoEncryption()
LOCKED = serial.BestAvailableEncryption(b"a passphrase")
CHANCE = random.Random()


def key(function: Callable[[], Pieces]) -> Callable[[], Pieces]:
    KEYS[function.__name__] = function
    return function


def written(form: str, number: int = 0) -> Pieces:
    """A row of the table; each `number` has other keys, the same at every run but for what a password locks."""
    if _round[0] != number:
        pem.cache_clear()
        rsa_key.cache_clear()
        _round[0] = number
    CHANCE.seed(f"{number} {form}")
    return KEYS[form]()


_round = [0]


def _chance(kind: str) -> random.Random:
    return random.Random(f"{_round[0]} {kind}")


@cache
def rsa_key():
    return made_keys.rsa_key(_chance("rsa"))


@cache
def pem(kind: str = "rsa", form=PKCS8, lock=PLAIN) -> str:
    made = {
        "rsa": rsa_key,
        "ec": lambda: made_keys.ec_key(_chance(kind), ec.SECP256R1()),
        "ec384": lambda: made_keys.ec_key(_chance(kind), ec.SECP384R1()),
        "ed25519": lambda: made_keys.ed25519_key(_chance(kind)),
        "x25519": lambda: made_keys.x25519_key(_chance(kind)),
    }[kind]()
    return made.private_bytes(PEM, form, lock).decode()


def lines_of(text: str) -> tuple[str, list[str], str]:
    first, *body, last = text.strip().splitlines()
    return first, body, last


def dressed(text: str, before: str = "", after: str = "\r\n", number: bool = False) -> Pieces:
    first, body, last = lines_of(text)
    pieces: Pieces = []
    for at, line in enumerate([first, *body, last], 1):
        lead = f"{at:4}  " if number else ""
        pieces += [((lead + before).encode(), None), (line.encode(), line in body), (after.encode(), None)]
    return pieces


def one_line(text: str, newline: str) -> Pieces:
    first, body, last = lines_of(text)
    pieces: Pieces = [(b'{"key": "' + first.encode(), False)]
    for line in body:
        pieces += [(newline.encode(), False), (line.encode(), True)]
    return [*pieces, ((newline + last + newline + '"}\r\n').encode(), False)]


def field(before: str | bytes, body: str | bytes, after: str | bytes = "\r\n") -> Pieces:
    raw = [part.encode() if isinstance(part, str) else part for part in (before, body, after)]
    return [(raw[0], False), (raw[1], True), (raw[2], False)]


def b64(size: int) -> str:
    return base64.b64encode(CHANCE.randbytes(size)).decode()


for _name, _kind, _form, _lock in (
    ("pkcs8_rsa", "rsa", PKCS8, PLAIN), ("pkcs1_rsa", "rsa", TRADITIONAL, PLAIN), ("sec1_ec", "ec", TRADITIONAL, PLAIN),
    ("pkcs8_ec", "ec", PKCS8, PLAIN), ("pkcs8_ec384", "ec384", PKCS8, PLAIN), ("pkcs8_ed25519", "ed25519", PKCS8, PLAIN),
    ("pkcs8_x25519", "x25519", PKCS8, PLAIN), ("openssh_ed25519", "ed25519", OPENSSH, PLAIN),
    ("openssh_rsa", "rsa", OPENSSH, PLAIN), ("encrypted_pkcs8", "rsa", PKCS8, LOCKED),
):  # fmt: skip
    KEYS[_name] = lambda k=_kind, f=_form, s=_lock: dressed(pem(k, f, s))
KEYS["in_json"] = lambda: one_line(pem(), "\\n")
KEYS["in_json_in_json"] = lambda: one_line(pem(), "\\\\n")
KEYS["in_json_with_unicode_escapes"] = lambda: one_line(pem("ec"), "\\u000a")
KEYS["in_one_line"] = lambda: one_line(pem("ec"), " ")
KEYS["in_yaml"] = lambda: dressed(pem(), "      ")
KEYS["in_a_diff"] = lambda: dressed(pem(), "+")
KEYS["with_line_numbers"] = lambda: dressed(pem(), number=True)
KEYS["in_a_box"] = lambda: dressed(pem(), "│ ", " │\r\n")
KEYS["in_an_ascii_box"] = lambda: dressed(pem(), "| ", " |\r\n")
KEYS["coloured"] = lambda: dressed(pem(), "\x1b[32m", "\x1b[0m\r\n")
KEYS["shown_by_cat_a"] = lambda: dressed(pem(), "", "$\r\n")


@key
def traditional_encrypted():
    first, body, last = lines_of(pem("rsa", TRADITIONAL))
    head = f"{first}\r\nProc-Type: 4,ENCRYPTED\r\nDEK-Info: AES-256-CBC,0F1E2D3C4B5A69788796A5B4C3D2E1F0\r\n\r\n"
    return [(head.encode(), None), *[(line.encode() + b"\r\n", True) for line in body], (last.encode(), False)]


@key
def wrapped_at_40():
    first, body, last = lines_of(pem())
    letters = "".join(body)
    lines = [letters[at : at + 40] for at in range(0, len(letters), 40)]
    return dressed("\n".join([first, *lines, last]))


@key
def one_character_a_line():
    first, body, last = lines_of(pem("ec"))
    return [
        *[(character.encode() + b"\r\n", False) for character in first],
        *[(character.encode() + b"\r\n", True) for line in body for character in line],
        *[(character.encode() + b"\r\n", False) for character in last],
    ]


@key
def split_by_a_cleared_screen():
    first, body, last = lines_of(pem())
    half = len(body) // 2
    return [
        (first.encode() + b"\r\n", False),
        *[(line.encode() + b"\r\n", True) for line in body[:half]],
        (b"\x1b[2J\x1b[H", False),
        *[(line.encode() + b"\r\n", True) for line in body[half:]],
        (last.encode() + b"\r\n", False),
    ]


@key
def header_without_end():
    first, body, _ = lines_of(pem())
    return [
        (b"$ head -8 key.pem\r\n" + first.encode() + b"\r\n", False),
        *[(line.encode() + b"\r\n", True) for line in body[:7]],
        (b"$ ls -l key.pem\r\n", False),
    ]


@key
def body_only():
    _, body, _ = lines_of(pem())
    return [*[(line.encode() + b"\r\n", True) for line in body], (b"$ exit\r\n", False)]


@key
def body_of_openssh_only():
    _, body, _ = lines_of(pem("ed25519", OPENSSH))
    return [*[(line.encode() + b"\r\n", True) for line in body], (b"$ exit\r\n", False)]


@key
def tail_of_a_key_seen_before():
    _, body, last = lines_of(pem())
    return [*dressed(pem()), (b"$ tail -5 key.pem\r\n", False), *[(line.encode() + b"\r\n", True) for line in body[-4:]],
            (last.encode(), False)]  # fmt: skip


@key
def base64_of_pem():
    return [(b"  tls.key: ", False), (base64.b64encode(pem().encode()), None), (b"\r\n", False)]


@key
def der_in_base64():
    return field("key: ", base64.b64encode(rsa_key().private_bytes(DER, PKCS8, PLAIN)))


@key
def der_in_hex():
    return field("key: ", made_keys.ec_key(CHANCE, ec.SECP256R1()).private_bytes(DER, TRADITIONAL, PLAIN).hex())


@key
def der_in_a_dump():
    data = made_keys.ed25519_key(CHANCE).private_bytes(DER, PKCS8, PLAIN)
    pieces: Pieces = []
    for at in range(0, len(data), 16):
        row = data[at : at + 16]
        pieces += [(f"{at:08x}: ".encode(), None)]
        pieces += [(" ".join(row[two : two + 2].hex() for two in range(0, len(row), 2)).encode(), True)]
        pieces += [(b"  " + bytes(b if 0x21 <= b < 0x7F else 0x2E for b in row) + b"\r\n", None)]
    return pieces


@key
def pkcs12_in_base64():
    from cryptography.hazmat.primitives.serialization import pkcs12

    return field("p12: ", base64.b64encode(pkcs12.serialize_key_and_certificates(b"n", rsa_key(), None, None, LOCKED)))


def _hex_lines(number: int) -> str:
    digits = number.to_bytes((number.bit_length() + 8) // 8, "big").hex(":")
    return "".join(f"    {digits[at : at + 45]}\r\n" for at in range(0, len(digits), 45))


@key
def openssl_text():
    numbers = rsa_key().private_numbers()
    public = _hex_lines(numbers.public_numbers.n)
    pieces: Pieces = [(f"Private-Key: (2048 bit, 2 primes)\r\nmodulus:\r\n{public}publicExponent: 65537 (0x10001)\r\n".encode(), False)]  # fmt: skip
    for name, value in (
        ("privateExponent", numbers.d), ("prime1", numbers.p), ("prime2", numbers.q), ("exponent1", numbers.dmp1),
        ("exponent2", numbers.dmq1), ("coefficient", numbers.iqmp),
    ):  # fmt: skip
        pieces += [(f"{name}:\r\n".encode(), False), (_hex_lines(value).encode(), True)]
    return [*pieces, (b"$ ls\r\n", False)]


@key
def openssl_text_of_ec():
    number = CHANCE.getrandbits(255)
    return [(b"Private-Key: (256 bit)\r\npriv:\r\n", False), (_hex_lines(number).encode(), True),
            (b"pub:\r\n" + _hex_lines(CHANCE.getrandbits(500)).encode(), False)]  # fmt: skip


@key
def jwk():
    def number(size):
        return base64.urlsafe_b64encode(CHANCE.randbytes(size)).decode().rstrip("=")

    pieces: Pieces = [(f'{{"kty":"RSA","kid":"one","n":"{number(256)}","e":"AQAB"'.encode(), False)]
    for name, size in (("d", 256), ("p", 128), ("q", 128), ("dp", 128), ("dq", 128), ("qi", 128)):
        pieces += [(f',"{name}":"'.encode(), False), (number(size).encode(), True), (b'"', False)]
    return [*pieces, (b"}\r\n", False)]


@key
def jwk_symmetric_in_json():
    return field(
        '{"out": "{\\"kty\\":\\"oct\\",\\"k\\":\\"', b64(32).replace("+", "-").replace("/", "_").rstrip("="), '\\"}"}'
    )


def _bech32(size: int) -> str:
    return "".join(CHANCE.choice("qpzry9x8gf2tvdw0s3jn54khce6mua7l") for _ in range(size))


KEYS["age"] = lambda: field("# created: x\r\nAGE-SECRET-" + "KEY-1", _bech32(58).upper())
KEYS["nostr"] = lambda: field("key: nsec" + "1", _bech32(58))
KEYS["wireguard_conf"] = lambda: field("[Interface]\r\nPrivateKey = ", b64(32), "\r\nAddress = 10.0.0.1/24\r\n")
KEYS["wireguard_preshared"] = lambda: field("PresharedKey = ", b64(32))
KEYS["wireguard_by_command"] = lambda: field("$ wg genkey\r\n", b64(32), "\r\n$ \r\n")
KEYS["minisign"] = lambda: field(
    "untrusted comment: minisign encrypted secret key\r\nRW", "RTY" + "0Iy" + b64(152) + "="
)
KEYS["signify"] = lambda: field("untrusted comment: signify secret key\r\nRW", "RCSwAAAA" + b64(100))
KEYS["tor_v3"] = lambda: field(
    "PT0gZWQyNTUxOXYx" + "LXNlY3JldDog", base64.b64encode(b"type0 ==" + bytes(3) + CHANCE.randbytes(64))
)
KEYS["tor_control"] = lambda: field("250-PrivateKey=ED25519-" + "V3:", b64(64))
KEYS["tor_client"] = lambda: field("a2" * 28 + ":descriptor:x25519:", base64.b32encode(CHANCE.randbytes(33))[:52])
KEYS["dnssec"] = lambda: field("Private-key-format: v1.3\r\nAlgorithm: 13 (ECDSAP256SHA256)\r\nPrivateKey: ", b64(32))
KEYS["otpauth"] = lambda: field(
    "otpauth://totp/A:b@c?issuer=A&secret=", base64.b32encode(CHANCE.randbytes(20)), "&digits=6\r\n"
)
KEYS["vault_unseal"] = lambda: field("Unseal Key 1: ", b64(33))
KEYS["vault_root"] = lambda: field("Initial Root Token: ", "hvs." + b64(18).replace("+", "x").replace("/", "y"))
KEYS["hex_seed_by_word"] = lambda: field("seed: ", CHANCE.randbytes(32).hex())
KEYS["ethereum_by_word"] = lambda: field("Private Key: ", "0x" + CHANCE.randbytes(32).hex())


@key
def putty():
    return [(b"PuTTY-User-Key-File-3: ssh-ed25519\r\nEncryption: none\r\nComment: c\r\nPublic-Lines: 2\r\n", False),
            (f"{b64(48)}\r\n{b64(35)}\r\nPrivate-Lines: 1\r\n".encode(), False), (b64(36).encode(), True),
            (b"\r\nPrivate-MAC: " + CHANCE.randbytes(32).hex().encode() + b"\r\n", False)]  # fmt: skip


@key
def openvpn_static():
    body = "\n".join(CHANCE.randbytes(16).hex() for _ in range(16))
    return dressed(f"-----BEGIN OpenVPN Static key V1-----\n{body}\n-----END OpenVPN Static key V1-----")


@key
def ssh2():
    body = "\n".join(b64(48) for _ in range(6))
    return dressed(f"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{body}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----")


@key
def pgp():
    body = "\n".join([b64(48) for _ in range(12)] + ["=" + b64(3)])
    return dressed(f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n{body}\n-----END PGP PRIVATE KEY BLOCK-----")


def _base58(payload: bytes) -> str:
    letters = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
    data = payload + hashlib.sha256(hashlib.sha256(payload).digest()).digest()[:4]
    number, text = int.from_bytes(data, "big"), ""
    while number:
        number, letter = divmod(number, 58)
        text = letters[letter] + text
    return text


KEYS["xprv"] = lambda: field(
    "root: ", _base58(bytes.fromhex("0488ade4") + bytes(9) + CHANCE.randbytes(32) + b"\0" + CHANCE.randbytes(32))
)
KEYS["wif"] = lambda: field("wif: ", _base58(b"\x80" + CHANCE.randbytes(32) + b"\x01"))


@key
def bip39():
    words = Mnemonic("english").to_mnemonic(CHANCE.randbytes(16)).split()
    pieces: Pieces = [(b"wallet created:\r\n", False)]
    for number, word in enumerate(words, 1):
        pieces += [(f" {number:2}. ".encode(), False), (word.encode(), True), (b"\r\n", False)]
    return pieces


@key
def bip39_in_a_line():
    return field("words: ", Mnemonic("english").to_mnemonic(CHANCE.randbytes(32)))


CHANCE.seed("decoys")
DECOYS = {
    "certificate": "-----BEGIN CERTIFICATE-----\r\n" + "\r\n".join("MIID" + b64(45) for _ in range(12)) + "\r\n-----END CERTIFICATE-----\r\n",
    "public key": rsa_key().public_key().public_bytes(PEM, serial.PublicFormat.SubjectPublicKeyInfo).decode(),
    "openssh public": rsa_key().public_key().public_bytes(serial.Encoding.OpenSSH, serial.PublicFormat.OpenSSH).decode() + " a@b\r\n",
    "public pkcs1": rsa_key().public_key().public_bytes(PEM, serial.PublicFormat.PKCS1).decode(),
    "prose": "Files that begin with -----BEGIN RSA PRIVATE KEY----- are keys.\r\nDo not commit them.\r\n",
    "prose with both": "wrap it as -----BEGIN PRIVATE KEY-----\\n...\\n-----END PRIVATE KEY----- in JSON\r\n",
    "code": 'if line.startswith("-----BEGIN PRIVATE KEY-----"):\r\n    found.append(line)\r\n    continue_with_the_next_one()\r\n',
    "sha256sum": "".join(f"{CHANCE.randbytes(32).hex()}  dist/f{at}.whl\r\n" for at in range(50)),
    "integrity": "".join(json.dumps({"integrity": "sha512-" + b64(64)}) + "\r\n" for _ in range(50)),
    "uuid": "".join(f"{CHANCE.randbytes(4).hex()}-0a1b-4c2d-8e3f-{CHANCE.randbytes(6).hex()}\r\n" for _ in range(50)),
    "git log": "".join(f"commit {CHANCE.randbytes(20).hex()}\r\nAuthor: A <a@b.example>\r\n\r\n    Fix it\r\n\r\n" for _ in range(50)),
    "digests": "".join(f"image@sha256:{CHANCE.randbytes(32).hex()}: Pull complete\r\n" for _ in range(50)),
    "nix": "".join(f"/nix/store/{_bech32(32)}-name-1.{at}\r\n" for at in range(50)),
    "image": "data:image/png;base64,iVBORw0KGgo" + b64(3000) + "\r\n",
    "jwt in a document": "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0NTY3ODkwIn0." + b64(32).replace("+", "-").replace("/", "_").rstrip("=") + "\r\n",
    "placeholders": "OPENAI_API_KEY=sk-your-key-here GITHUB_TOKEN=ghp_" + "x" * 36 + " AWS=AKIA" + "IOSFODNN7EXAMPLE token=<token>\r\n",
    "ellipsis": "loading... done... ok (sk-or-v1-...) and sk-ant-... are prefixes\r\n",
    "progress": "".join(f"\r{at:3}% [{'#' * at:100}] file-{at}.bin" for at in range(101)) + "\r\n",
    "words": "abandon the ability of being able about above absent and absorb abstract absurd abuse access\r\n" * 3,
    "wireguard public": f"PublicKey = {b64(32)}\r\n",
    "jwk public": json.dumps({"kty": "RSA", "n": b64(256).replace("+", "-").replace("/", "_").rstrip("="), "e": "AQAB"}) + "\r\n",
}  # fmt: skip
"""What must come through as it is."""
