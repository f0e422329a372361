"""Real git repositories and a real git server on the loopback interface: git's own http-backend behind a small door."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

ENV = {
    "PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
    "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z",
}  # fmt: skip


def git(folder: Path, *words: str, stdin: bytes = b"") -> str:
    """What git prints; any trouble is the test's."""
    done = subprocess.run(["git", "-C", str(folder), *words], env=ENV, input=stdin, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().strip()


def repository(folder: Path) -> Path:
    """An empty repository at `folder`."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    return folder


def commit(folder: Path, files: dict[str, bytes], links: dict[str, str] | None = None) -> str:
    """A commit with these files on top of what is there; its name."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    for name, target in (links or {}).items():
        (folder / name).symlink_to(target)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=work")
    return git(folder, "rev-parse", "HEAD")


def raw(folder: Path, entries: list[tuple[str, str, bytes, bytes]]) -> str:
    """A commit whose tree is written entry by entry (mode, kind, name, content), whatever git would say to it."""
    lines = b""
    for mode, kind, name, content in entries:
        if kind == "commit":
            oid = content.decode()
        else:
            oid = git(folder, "hash-object", "-w", "-t", kind, "--literally", "--stdin", stdin=content)
        lines += mode.encode().lstrip(b"0") + b" " + name + b"\0" + bytes.fromhex(oid)
    tree = git(folder, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=lines)
    made = git(folder, "commit-tree", tree, "-m", "raw")
    git(folder, "update-ref", "refs/heads/main", made)
    return made


class Server:
    """What is asked of the server, and how it is to answer."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.asked: list[str] = []
        self.moved: dict[str, str] = {}
        """Old path of a repository -> new one."""
        self.answers: dict[str, int] = {}
        """Path of a repository -> the status it is refused with."""


@contextmanager
def served(root: Path) -> Iterator[Server]:
    """Serves every repository under `root` until the end of the block."""

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def refuse(self, status: int, **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()

        def do_GET(self) -> None:
            server.asked.append(self.path)
            for old, new in server.moved.items():
                if self.path.startswith(old + "/"):
                    return self.refuse(301, Location=server.url + new + self.path.removeprefix(old))
            for path, status in server.answers.items():
                if self.path.startswith(path + "/"):
                    return self.refuse(status, **({"WWW_Authenticate": 'Basic realm="x"'} if status == 401 else {}))
            parts = urlsplit(self.path)
            env = ENV | {
                "GIT_PROJECT_ROOT": str(root), "GIT_HTTP_EXPORT_ALL": "1", "REQUEST_METHOD": self.command,
                "PATH_INFO": parts.path, "QUERY_STRING": parts.query, "REMOTE_ADDR": "127.0.0.1",
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            }  # fmt: skip
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            done = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True, check=False)
            head, _, content = done.stdout.partition(b"\r\n\r\n")
            status = re.search(rb"^Status: (\d+)", head, re.M)
            self.send_response(int(status[1]) if status else 200)
            for line in head.decode().split("\r\n"):
                name, _, value = line.partition(": ")
                if name and name != "Status":
                    self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)
            return None

        do_POST = do_GET

    with ThreadingHTTPServer(("127.0.0.1", 0), Door) as door:
        server = Server(door.server_address[1])
        threading.Thread(target=door.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield server
        door.shutdown()
