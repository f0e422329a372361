"""A time-stamp authority on loopback: openssl signs, a small server passes questions and answers on."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from tests.support import web_server

SETTINGS = """
[req]
distinguished_name = names
[names]
[root]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
[leaf]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = critical, timeStamping
[signing]
serial = serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
ess_cert_id_alg = sha256
"""
KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-config", "settings")


class Authority:
    """One authority with a certificate of its own, `root`, in PEM."""

    def __init__(self, folder: Path, name: str = "Test authority") -> None:
        folder.mkdir()
        self.folder, self.root, self.address = folder, folder / "root.pem", ""
        self.instead: bytes | None = None
        """What it answers with, whatever it is asked."""
        (folder / "settings").write_text(SETTINGS)
        (folder / "serial").write_text("01\n")
        self._run("req", "-x509", *KEY, "-keyout", "root.key", "-out", "root.pem", "-subj", f"/CN={name}",
                  "-extensions", "root")  # fmt: skip
        self._run("req", *KEY, "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", f"/CN={name} signer")
        self._run("x509", "-req", "-in", "leaf.csr", "-CA", "root.pem", "-CAkey", "root.key", "-out", "leaf.pem",
                  "-extfile", "settings", "-extensions", "leaf")  # fmt: skip

    def answer(self, asked: bytes) -> bytes:
        (self.folder / "asked").write_bytes(asked)
        self._run("ts", "-reply", "-queryfile", "asked", "-signer", "leaf.pem", "-inkey", "leaf.key", "-config",
                  "settings", "-section", "signing", "-out", "answer")  # fmt: skip
        return (self.folder / "answer").read_bytes()

    def confirms(self, answer: Path, digest: str) -> bool:
        """Whether openssl itself accepts `answer` for the 64 digits of `digest`."""
        words = ["openssl", "ts", "-verify", "-digest", digest, "-in", str(answer), "-CAfile", str(self.root)]
        return subprocess.run(words, capture_output=True, check=False).returncode == 0

    def _run(self, *words: str) -> None:
        done = subprocess.run(["openssl", *words], cwd=self.folder, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[Authority]:
    """An authority that answers at its `address`."""
    authority = Authority(folder)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.headers["Content-Type"] == "application/timestamp-query"
            data = authority.answer(asked) if authority.instead is None else authority.instead
            self.send_response(200)
            self.send_header("Content-Type", "application/timestamp-reply")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with web_server.serving(Handler) as address:
        authority.address = address
        yield authority
