"""Ordinary output that is full of random characters and holds no credential: nothing of it may be withheld."""

from __future__ import annotations

import base64
import json
import random
import string
import uuid
from collections.abc import Iterator

WORDS = (
    "error",
    "failed",
    "build",
    "token",
    "secret",
    "key",
    "api",
    "password",
    "compile",
    "linking",
    "module",
    "config",
    "user",
    "disk",
    "task",
    "risk",
    "mask",
    "index",
    "cache",
    "private",
    "public",
    "header",
    "fixture",
    "certificate",
    "session",
    "signature",
    "digest",
    "integrity",
    "wheel",
    "archive",
    "resolve",
    "fetch",
    "install",
)


class Decoys:
    """Text of `size` bytes, drawn by `seed`: every kind in turn."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._kinds = [
            self._sums,
            self._ids,
            self._npm,
            self._yarn,
            self._cargo,
            self._commits,
            self._docker,
            self._nix,
            self._picture,
            self._token,
            self._mentions,
            self._placeholders,
            self._compiler,
            self._pip,
            self._bars,
            self._spinner,
            self._tests,
            self._public_key,
            self._logs,
        ]

    def text(self, size: int) -> str:
        """Lines as a terminal gets them."""
        parts, left = list[str](), size
        while left > 0:
            for kind in self._kinds:
                lines = [line + "\r\n" for line in kind()]
                parts += lines
                left -= sum(map(len, lines))
        text = "".join(parts)
        return text[: text.rindex("\r\n", 0, size) + 2] if len(text) > size else text

    def cast(self, size: int) -> bytes:
        """A recording of such text, cut into events anywhere."""
        text, at, lines = self.text(size), 0, [json.dumps({"version": 2, "width": 120, "height": 40, "timestamp": 1})]
        while at < len(text):
            step = self._chance.randrange(1, 400)
            lines.append(json.dumps([round(at / 1e4, 6), "o", text[at : at + step]]))
            at += step
        return ("\n".join(lines) + "\n").encode()

    def _hex(self, size: int) -> str:
        return "".join(self._chance.choices("0123456789abcdef", k=size))

    def _bytes(self, size: int) -> bytes:
        return self._chance.randbytes(size)

    def _word(self) -> str:
        return self._chance.choice(WORDS)

    def _b64(self, size: int) -> str:
        return base64.b64encode(self._bytes(size)).decode()

    def _sums(self) -> Iterator[str]:
        for _ in range(4):
            yield f"{self._hex(64)}  dist/{self._word()}-{self._word()}.tar.gz"
        yield f"MD5 ({self._word()}.iso) = {self._hex(32)}"

    def _ids(self) -> Iterator[str]:
        for _ in range(3):
            yield f"{self._word()}_id={uuid.UUID(bytes=self._bytes(16), version=4)} api_key_id: {self._hex(24)}"

    def _npm(self) -> Iterator[str]:
        yield f'    "node_modules/{self._word()}": {{'
        yield f'      "resolved": "https://registry.example/{self._word()}/-/{self._word()}-4.17.21.tgz",'
        yield f'      "integrity": "sha512-{self._b64(64)}"'

    def _yarn(self) -> Iterator[str]:
        yield f'"@{self._word()}/{self._word()}@^7.1.2":'
        yield f"  integrity sha512-{self._b64(64)}"
        yield f"  checksum: 10c0/{self._hex(128)}"

    def _cargo(self) -> Iterator[str]:
        yield f'name = "{self._word()}-{self._word()}"'
        yield f'checksum = "{self._hex(64)}"'

    def _commits(self) -> Iterator[str]:
        for _ in range(3):
            yield f"\x1b[33mcommit {self._hex(40)}\x1b[m"
            yield f"    {' '.join(self._word() for _ in range(7))} (#{self._chance.randrange(9999)})"

    def _docker(self) -> Iterator[str]:
        yield f"#7 sha256:{self._hex(64)} 31.36MB / 31.36MB 1.2s done"
        yield f"Status: image is up to date for python@sha256:{self._hex(64)}"

    def _nix(self) -> Iterator[str]:
        name = "".join(self._chance.choices("0123456789abcdfghijklmnpqrsvwxyz", k=32))
        yield f"/nix/store/{name}-{self._word()}-2.3.drv"
        yield f'  hash = "sha256-{self._b64(32)}";'

    def _picture(self) -> Iterator[str]:
        picture = base64.b64encode(bytes.fromhex("89504e470d0a1a0a") + self._bytes(900)).decode()
        yield f'<img src="data:image/png;base64,{picture}">'

    def _token(self) -> Iterator[str]:
        yield "A JSON Web Token looks like this (header.payload.signature):"
        parts = [json.dumps({"alg": "HS256", "typ": "JWT"}), json.dumps({"sub": "1234567890", "name": self._word()})]
        signed = ".".join(base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts)
        yield f"  {signed}.{base64.urlsafe_b64encode(self._bytes(32)).decode().rstrip('=')}"

    def _mentions(self) -> Iterator[str]:
        yield "The file begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----."
        yield "-----BEGIN RSA PRIVATE KEY-----"
        yield "*" * 64
        yield "-----END RSA PRIVATE KEY-----"
        yield "expected '-----BEGIN OPENSSH PRIVATE KEY-----' in the first line, see docs/private_key_formats.md "

    def _placeholders(self) -> Iterator[str]:
        yield "export OPENAI_API_KEY=sk-" + "your-key-here  # or sk-" + "proj-" + "x" * 48
        yield "GITHUB_TOKEN=ghp_" + "x" * 36 + " AWS_ACCESS_KEY_ID=AKIA" + "IOSFODNN7EXAMPLE"
        yield "OPENROUTER_API_KEY=sk-" + "or-v1-" + "*" * 64 + " HF_TOKEN=hf_" + "...."
        yield (
            "sk-"
            + "or-v1-"
            + "0" * 64
            + " password: changeme secret=<secret> task-"
            + self._word()
            + "-"
            + self._hex(8)
        )

    def _compiler(self) -> Iterator[str]:
        for _ in range(3):
            yield (
                f"\x1b[01m\x1b[Ksrc/{self._word()}.c:{self._chance.randrange(900)}:9:\x1b[m\x1b[K "
                f"\x1b[01;35m\x1b[Kwarning: "
                f"\x1b[m\x1b[Kunused variable \u2018\x1b[01m\x1b[K{self._word()}_{self._word()}\x1b[m\x1b[K\u2019"
            )
        yield f"[ {self._chance.randrange(100):2}%] \x1b[32mBuilding C object {self._word()}/{self._word()}.o\x1b[0m"

    def _pip(self) -> Iterator[str]:
        yield f"Collecting {self._word()}=={self._chance.randrange(9)}.{self._chance.randrange(30)}"
        name = "".join(self._chance.choices(string.ascii_lowercase + string.digits, k=60))
        yield f"  Downloading https://files.example/packages/{self._hex(2)}/{self._hex(60)}/{self._word()}-1.0.whl"
        yield f"  Stored in directory: /builds/.cache/pip/wheels/{name}"

    def _bars(self) -> Iterator[str]:
        total = self._chance.randrange(20, 40)
        yield "".join(f"\r\x1b[K {'=' * (n % 40)} {n}.1/{total}.0 MB {n % 9}.1 MB/s eta 0:00:01" for n in range(total))
        yield "".join(
            f"\x1b[2A\x1b[2K\r{self._hex(12)}: Pulling {n}%\r\n\x1b[2K{self._hex(12)}: Done\r\n" for n in range(5)
        )

    def _spinner(self) -> Iterator[str]:
        yield "".join(f"{c} {self._word()}\x1b[1G\x1b[0K" for c in "\u280b\u2819\u2839\u2838\u283c\u2834" * 3)

    def _tests(self) -> Iterator[str]:
        yield f"tests/test_{self._word()}.py::test_{self._word()}[{self._hex(8)}] \x1b[32mPASSED\x1b[0m"
        yield f"E   AssertionError: assert b'\\x{self._hex(2)}\\x{self._hex(2)}' == '\\u00e9\\n' %20 &amp; a=3D"
        yield f"E   KeyError: '{self._hex(64)}'"

    def _public_key(self) -> Iterator[str]:
        body = base64.b64encode(
            bytes.fromhex("30820122300d06092a864886f70d01010105000382010f003082010a02820101") + self._bytes(262)
        )
        yield "-----BEGIN PUBLIC KEY-----"
        yield from (body[at : at + 64].decode() for at in range(0, len(body), 64))
        yield "-----END PUBLIC KEY-----"
        yield "ssh-ed25519 " + base64.b64encode(b"\0\0\0\x0bssh-ed25519\0\0\0 " + self._bytes(32)).decode() + " me@host"

    def _logs(self) -> Iterator[str]:
        for n in range(4):
            said = " ".join(self._word() for _ in range(9))
            yield f"2026-11-29T12:00:{n:02}.{self._chance.randrange(999)}Z INFO {said} took {n}.2s"
        yield f'{{"level":"info","request_id":"{self._hex(16)}","msg":"{self._word()} \\"{self._word()}\\" done"}}'
