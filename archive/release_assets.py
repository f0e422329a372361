"""A store in the releases of a GitHub repository: one bundle a run, in as many releases a cycle as it takes.

A release is made as a draft, which nobody else sees, and published after the merge. What GitHub answers is believed in
nothing but where a bundle may be: its bytes are checked object by object.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, quote, urlsplit

from archive import bundle
from archive.backends import Parcel, Token
from archive.errors import DataError
from archive.packing import Damaged, whole
from archive.store import FolderStore, file_digest
from archive.web import Refused, Unreachable, request

API = "https://api.github.com"
FORM = "is no repository; write github:owner/repository"
MOST_ASSETS = 1000
"""Files that one release takes (GitHub's documentation, "About releases")."""
MOST_BYTES = (2 << 30) - 1
"""Of one file of a release: under 2 GiB (the same page)."""
PAGE = 100
MOST_PAGES = 100
"""A list of GitHub's goes no further than 10,000."""
TRIES = 3
PAUSE_SECONDS = 1.0


class _Asset(NamedTuple):
    id: int
    state: str
    """`uploaded`, or `starter` where an upload was cut off."""
    digest: str | None
    download: str


class _Release(NamedTuple):
    id: int
    tag: str
    draft: bool
    upload: str
    assets: dict[str, _Asset]


class ReleaseStore:
    """<run>.tar in a release tagged evidence-<cycle>-<number>."""

    def __init__(self, repository: str, api: str = API, token: str | None = None) -> None:
        """`repository` is owner/name; without `token` only what is public can be read."""
        self.where, self._api, self._token = f"github:{repository}", api.rstrip("/"), token
        self._base = f"{self._api}/repos/{repository}/releases"
        self._known: dict[str, list[_Release]] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._held: tuple[str, Path, dict[str, bundle.Member]] | None = None

    @classmethod
    def at(cls, text: str, token: Token | None = None) -> ReleaseStore:
        """The store of an address such as github:owner/repository; ?api=https://host/api/v3 for another host than
        github.com. An interface that `token` is not for is asked without it. Raises DataError."""
        name, _, query = text.removeprefix("github:").partition("?")
        options = parse_qs(query, keep_blank_values=True)
        api = options.pop("api", [API])[0]
        words = r"(?!\.{1,2}(?:/|$))[A-Za-z0-9_.-]{1,100}"
        if options or not re.fullmatch(rf"{words}/{words}", name) or not re.match(r"https?://[^/?#@]+", api):
            raise DataError(text, "", FORM)
        mine = token is not None and token.api.rstrip("/") == api.rstrip("/")
        return cls(name, api, token.value if token and mine else None)

    def has(self, parcel: Parcel) -> bool:
        """As `Backend.has`."""
        found = self._find(parcel)
        return found is not None and found[1].state == "uploaded"

    def put(self, parcel: Parcel, source: FolderStore) -> int:
        """As `Backend.put`. A bundle that is there stays; what a cut upload left behind is sent again."""
        with tempfile.TemporaryDirectory(prefix="argusic-") as folder:
            path = Path(folder) / "bundle"
            bundle.write(parcel, source, path)
            if path.stat().st_size > MOST_BYTES:
                problem = f"run {parcel.run} takes {path.stat().st_size} bytes; a release takes files of {MOST_BYTES}"
                raise DataError(self.where, "", problem)
            digest = file_digest(path)
            for left in reversed(range(TRIES)):
                found = self._find(parcel)
                if found and found[1].state == "uploaded":
                    self._check(parcel, found[1], digest)
                    return 0
                if found:
                    self._delete(found[1])
                try:
                    self._check(parcel, self._upload(parcel, path), digest, mine=True)
                except Unreachable as error:
                    # The next turn looks at what is there now: a whole bundle, a torn one, or none.
                    if not left or (isinstance(error, Refused) and error.status < 500 and error.status != 422):
                        raise
                    self._known.pop(parcel.cycle, None)
                    time.sleep(PAUSE_SECONDS)
                    continue
                self._known.pop(parcel.cycle, None)
                return len(parcel.objects)
        raise AssertionError("every turn ends or raises")

    def fetch(self, parcel: Parcel, digest: str, target: Path) -> bool:
        """As `Store.fetch`; the bundle of the last run is kept meanwhile."""
        if self._held is None or self._held[0] != parcel.run:
            self._held = None
            found = self._find(parcel)
            if found is None or found[1].state != "uploaded":
                return False
            if self._folder is None:
                self._folder = tempfile.TemporaryDirectory(prefix="argusic-")
            path = Path(self._folder.name) / "bundle"
            self._download(parcel, found[1], path)
            self._held = parcel.run, path, bundle.members(path)
        _, path, inside = self._held
        if digest not in inside:
            return False
        bundle.take(path, inside[digest], digest, target, parcel.objects[digest])
        return True

    def give_back(self) -> None:
        """As `Backend.give_back`."""
        self._held = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def publish(self, cycle: str) -> int:
        """Makes the drafts of a cycle releases that everybody sees; how many they were."""
        drafts = [one for one in self._releases(cycle) if one.draft]
        for one in drafts:
            self._ask("PATCH", f"{self._base}/{one.id}", {"draft": False})
        self._known.pop(cycle, None)
        return len(drafts)

    def _find(self, parcel: Parcel) -> tuple[_Release, _Asset] | None:
        name = f"{parcel.run}.tar"
        there = [(one, one.assets[name]) for one in self._releases(parcel.cycle) if name in one.assets]
        return min(there, key=lambda pair: pair[1].state != "uploaded") if there else None

    def _upload(self, parcel: Parcel, path: Path) -> _Asset:
        release = self._room(parcel.cycle)
        headers = {"Content-Type": "application/x-tar", "Content-Length": str(path.stat().st_size)}
        with path.open("rb") as body:
            url = f"{release.upload}?name={quote(parcel.run)}.tar"
            with request(url, method="POST", headers=self._headers() | headers, body=body, most=1 << 20) as answer:
                return _asset(_decoded(answer.read(), url))

    def _check(self, parcel: Parcel, asset: _Asset, digest: str, *, mine: bool = False) -> None:
        """That what is there is the run: by the digest that GitHub states, else by reading it back. What this process
        sent is removed again where it is not."""
        if asset.digest == digest and asset.state == "uploaded":
            return
        problem = None
        with tempfile.TemporaryDirectory(prefix="argusic-") as folder:
            path = Path(folder) / "bundle"
            try:
                self._download(parcel, asset, path)
                inside = bundle.members(path)
                for one, most in parcel.objects.items():
                    if one not in inside:
                        problem = f"{one} is not in it"
                        break
                    bundle.take(path, inside[one], one, None, most)
            except Damaged as error:
                problem = str(error)
        if problem is None:
            return
        if mine:
            self._delete(asset)
            raise Damaged(f"{self.where}: {parcel.run}.tar came back otherwise than it was sent: {problem}")
        raise Damaged(f"{self.where}: {parcel.run}.tar is not the evidence of that run: {problem}; remove it there")

    def _download(self, parcel: Parcel, asset: _Asset, path: Path) -> None:
        headers, url = {"Accept": "application/octet-stream"}, asset.download
        if self._token:
            headers, url = self._headers() | headers, f"{self._base}/assets/{asset.id}"
        elif self._api.startswith("https:") and not url.startswith("https:"):
            raise Unreachable(f"{self.where}: is sent on to an address without https, which is not followed")
        most = min(MOST_BYTES, sum(parcel.objects.values()) + (2 * len(parcel.objects) + 2) * bundle.UNIT)
        with request(url, headers=headers, most=most) as answer, whole(path) as file:
            while block := answer.read(1 << 20):
                file.write(block)

    def _room(self, cycle: str) -> _Release:
        """A draft of `cycle` that takes one more file; made where there is none."""
        there = self._releases(cycle)
        for one in there:
            if one.draft and len(one.assets) < MOST_ASSETS:
                return one
        numbers = [int(one.tag.rpartition("-")[2]) for one in there]
        tag = f"{_tag(cycle)}{max(numbers, default=0) + 1}"
        about = f"Recordings and logs of cycle {cycle}; check them with `argusic verify {cycle} --from {self.where}`."
        made = self._ask("POST", self._base, {"tag_name": tag, "name": tag, "body": about, "draft": True})
        there.append(self._release(made, {}))
        return there[-1]

    def _releases(self, cycle: str) -> list[_Release]:
        """Those of a cycle with their files, in order; asked for once."""
        if cycle not in self._known:
            wanted = re.compile(re.escape(_tag(cycle)) + r"[1-9]\d{0,8}")
            found = []
            for one in self._pages(self._base):
                if isinstance(one, dict) and wanted.fullmatch(str(one.get("tag_name"))):
                    assets = {}
                    for entry in self._pages(f"{self._base}/{_whole(one.get('id'))}/assets"):
                        asset, name = _asset(entry), str(entry.get("name"))
                        assets[name] = asset
                    found.append(self._release(one, assets))
            self._known[cycle] = sorted(found, key=lambda one: int(one.tag.rpartition("-")[2]))
        return self._known[cycle]

    def _release(self, data: Any, assets: dict[str, _Asset]) -> _Release:
        upload = str(data.get("upload_url")).partition("{")[0]
        here, there = urlsplit(self._api), urlsplit(upload)
        # The token goes to this address: only the host that was named, or its neighbour for uploads.
        hosts = (here.netloc, re.sub(r"^api\.", "uploads.", here.netloc))
        if there.scheme != here.scheme or there.netloc not in hosts:
            raise Unreachable(f"{self.where}: wants uploads to go to {there.netloc or 'nowhere'}, which is not trusted")
        return _Release(_whole(data.get("id")), str(data.get("tag_name")), data.get("draft") is True, upload, assets)

    def _delete(self, asset: _Asset) -> None:
        try:
            self._ask("DELETE", f"{self._base}/assets/{asset.id}")
        except Refused as error:
            if error.status != 404:
                raise

    def _pages(self, url: str) -> Iterator[Any]:
        for page in range(1, MOST_PAGES + 1):
            listed = self._ask("GET", f"{url}?per_page={PAGE}&page={page}")
            if not isinstance(listed, list):
                raise Unreachable(f"{self.where}: the answer is no list")
            yield from listed
            if len(listed) < PAGE:
                return

    def _ask(self, method: str, url: str, sent: Any = None) -> Any:
        body = None if sent is None else json.dumps(sent).encode()
        kind = {} if sent is None else {"Content-Type": "application/json"}
        with request(url, method=method, headers=self._headers() | kind, body=body, most=16 << 20) as answer:
            data = answer.read()
        return _decoded(data, url) if data else {}

    def _headers(self) -> dict[str, str]:
        known = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28", "User-Agent": "argusic"}
        return known | ({"Authorization": f"Bearer {self._token}"} if self._token else {})


def _tag(cycle: str) -> str:
    return f"evidence-{cycle}-"


def _decoded(data: bytes, url: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise Unreachable(f"{url.partition('?')[0]}: the answer is no JSON") from None


def _asset(data: Any) -> _Asset:
    if not isinstance(data, dict):
        raise Unreachable("a file of a release is described by something else than an object")
    digest = data.get("digest")
    state, download = str(data.get("state")), str(data.get("browser_download_url"))
    return _Asset(_whole(data.get("id")), state, digest if isinstance(digest, str) else None, download)


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise Unreachable(f"a release or one of its files has {str(value)[:40]!r} where its number belongs")
    return value
