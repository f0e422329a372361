"""The part of GitHub's REST API that releases and their files take, after its documentation, with the faults it names.

`POST /repos/{owner}/{repo}/releases`, list, update; files: upload, list, get, delete. Drafts are seen with the token
alone; lists come in pages of at most 100; a second file of one name is 422 `already_exists`; a cut upload may answer
502 and leave an empty file in state `starter`; bytes are reached over a redirect to another host.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support import web_server

TOKEN = "-".join(("a", "token", "of", "the", "test"))
REPOSITORY = "owner/evidence"
TOP = f"/repos/{REPOSITORY}/releases"


class Releases:
    """What the server holds, and how it is to misbehave."""

    def __init__(self) -> None:
        self.address = ""
        self.releases: list[dict[str, Any]] = []
        self.assets: dict[int, dict[str, Any]] = {}
        """Id to what is said of a file, its release and its bytes."""
        self.uploads = 0
        self.cut = 0
        """How many uploads from now on are cut off."""
        self.digests = True
        """Whether the digest of a file is stated: it is not for files of before June 2025."""
        self.damage = False
        """Whether a byte changes on the way in."""
        self.told: list[str | None] = []
        """The token that came with each request for bytes on the other host."""
        self.most = 1000
        self._next = 0

    def number(self) -> int:
        self._next += 1
        return self._next

    def of(self, release: int) -> list[dict[str, Any]]:
        return [one for one in self.assets.values() if one["release"] == release]

    def said(self, asset: dict[str, Any]) -> dict[str, Any]:
        shown = {key: value for key, value in asset.items() if key not in ("release", "data")}
        tag = next(one["tag_name"] for one in self.releases if one["id"] == asset["release"])
        digest = "sha256:" + hashlib.sha256(asset["data"]).hexdigest()
        there = asset["state"] == "uploaded" and self.digests
        return shown | {
            "size": len(asset["data"]),
            "digest": digest if there else None,
            "browser_download_url": f"{self.address}/{REPOSITORY}/releases/download/{tag}/{asset['name']}",
        }


@contextlib.contextmanager
def serving() -> Iterator[Releases]:
    """A repository without releases; its API is at `address`."""
    held = Releases()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def answer(self, status: int, data: Any = None, **headers: str) -> None:
            body = data if isinstance(data, bytes) else b"" if data is None else json.dumps(data).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def refuse(self, status: int, message: str, **error: str) -> None:
            self.answer(status, {"message": message, "errors": [error] if error else []})

        def known(self) -> bool:
            return self.headers.get("Authorization") == f"Bearer {TOKEN}"

        def body(self) -> bytes:
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))

        def page(self, rows: list[Any]) -> None:
            query = parse_qs(urlsplit(self.path).query)
            size = min(int(query.get("per_page", ["30"])[0]), 100)
            start = (int(query.get("page", ["1"])[0]) - 1) * size
            self.answer(200, rows[start : start + size])

        def seen(self, release: int) -> bool:
            return any(one["id"] == release and (self.known() or not one["draft"]) for one in held.releases)

        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            if path == TOP:
                self.page([one for one in held.releases if self.known() or not one["draft"]])
            elif (found := re.fullmatch(TOP + r"/(\d+)/assets", path)) and self.seen(int(found[1])):
                self.page([held.said(one) for one in held.of(int(found[1]))])
            elif (found := re.fullmatch(TOP + r"/assets/(\d+)", path)) and int(found[1]) in held.assets:
                asset = held.assets[int(found[1])]
                if not self.seen(asset["release"]):
                    self.refuse(404, "Not Found")
                elif self.headers.get("Accept") == "application/octet-stream":
                    self.answer(302, Location=f"{held.other}/bytes/{asset['id']}")
                else:
                    self.answer(200, held.said(asset))
            elif found := re.fullmatch(f"/{REPOSITORY}/releases/download/([^/]+)/([^/]+)", path):
                there = [one for one in held.releases if one["tag_name"] == found[1] and not one["draft"]]
                files = [one for release in there for one in held.of(release["id"]) if one["name"] == found[2]]
                if files:
                    self.answer(302, Location=f"{held.other}/bytes/{files[0]['id']}")
                else:
                    self.refuse(404, "Not Found")
            elif found := re.fullmatch(r"/bytes/(\d+)", path):
                held.told.append(self.headers.get("Authorization"))
                self.answer(200, held.assets[int(found[1])]["data"])
            else:
                self.refuse(404, "Not Found")

        def do_POST(self) -> None:
            data, parts = self.body(), urlsplit(self.path)
            if not self.known():
                self.refuse(401, "Requires authentication")
            elif parts.path == TOP:
                number, given = held.number(), json.loads(data)
                upload = f"{held.address}{TOP}/{number}/assets{{?name,label}}"
                release = {"id": number, "upload_url": upload, "draft": given.get("draft", False)} | given
                held.releases.append(release)
                self.answer(201, release)
            elif found := re.fullmatch(TOP + r"/(\d+)/assets", parts.path):
                self.upload(int(found[1]), parse_qs(parts.query)["name"][0], data)
            else:
                self.refuse(404, "Not Found")

        def upload(self, release: int, name: str, data: bytes) -> None:
            held.uploads += 1
            if any(one["name"] == name for one in held.of(release)):
                self.refuse(422, "Validation Failed", resource="ReleaseAsset", code="already_exists", field="name")
            elif len(held.of(release)) >= held.most:
                self.refuse(422, "Validation Failed", resource="ReleaseAsset", code="too_many")
            else:
                cut, number = held.cut > 0, held.number()
                held.cut -= cut
                kept = b"" if cut else data[:-1] + bytes([data[-1] ^ 1]) if held.damage else data
                state = "starter" if cut else "uploaded"
                asset = {"id": number, "release": release, "name": name, "state": state, "data": kept}
                held.assets[number] = asset
                if cut:
                    self.refuse(502, "Bad Gateway")
                else:
                    self.answer(201, held.said(asset))

        def do_PATCH(self) -> None:
            given, number = json.loads(self.body()), int(self.path.rpartition("/")[2])
            if not self.known():
                self.refuse(404, "Not Found")
                return
            for one in held.releases:
                if one["id"] == number:
                    one |= given
                    self.answer(200, one)

        def do_DELETE(self) -> None:
            number = int(self.path.rpartition("/")[2])
            if self.known() and held.assets.pop(number, None):
                self.answer(204)
            else:
                self.refuse(404, "Not Found")

    with web_server.serving(Handler) as held.address, web_server.serving(Handler) as held.other:
        yield held
