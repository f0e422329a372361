"""Evidence in the releases of a repository: sent once, whole after any cut, read back, and trusted in nothing."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from archive import bundle, release_assets
from archive.backends import Parcel, Token, backend
from archive.errors import ArgusicError, DataError
from archive.packing import Damaged, object_name
from archive.release_assets import ReleaseStore
from archive.store import FolderStore
from archive.web import Refused, Unreachable
from tests.support import release_server
from tests.support.release_server import REPOSITORY, TOKEN, Releases

FILES = (b"short", b"a line of a log\n" * 5000, b"")


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Releases]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(release_assets, "PAUSE_SECONDS", 0.01)
    with release_server.serving() as held:
        yield held


@pytest.fixture
def source(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "source")


def parcel(source: FolderStore, tmp_path: Path, run: str = "a" * 32, files: tuple[bytes, ...] = FILES) -> Parcel:
    objects = {}
    for data in files:
        (tmp_path / "file").write_bytes(data)
        objects[source.put(tmp_path / "file")] = len(data)
    return Parcel("first", run, objects)


def store(hub: Releases, token: str | None = TOKEN) -> ReleaseStore:
    return ReleaseStore(REPOSITORY, hub.address, token)


def fetched(store: ReleaseStore, wanted: Parcel, folder: Path) -> list[bytes]:
    found = []
    for number, digest in enumerate(wanted.objects):
        assert store.fetch(wanted, digest, folder / f"back{number}")
        found.append((folder / f"back{number}").read_bytes())
    store.give_back()
    return found


def test_a_run_is_one_file_of_a_draft_and_comes_back_the_same(hub, source, tmp_path):
    wanted = parcel(source, tmp_path)
    assert not store(hub).has(wanted)
    assert store(hub).put(wanted, source) == 3
    assert [(one["tag_name"], one["draft"]) for one in hub.releases] == [("evidence-first-1", True)]
    assert [one["name"] for one in hub.assets.values()] == ["a" * 32 + ".tar"]
    assert store(hub).has(wanted)
    assert fetched(store(hub), wanted, tmp_path) == list(FILES)


def test_a_second_time_nothing_is_sent(hub, source, tmp_path):
    wanted = parcel(source, tmp_path)
    store(hub).put(wanted, source)
    assert store(hub).put(wanted, source) == 0
    assert hub.uploads == 1


def test_the_same_run_makes_the_same_bundle_and_any_tar_reads_it(source, tmp_path):
    wanted = parcel(source, tmp_path)
    for name in ("one", "two"):
        bundle.write(wanted, source, tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    with tarfile.open(tmp_path / "one") as read:
        assert [name.removesuffix(".zst") for name in read.getnames()] == sorted(map(object_name, wanted.objects))


def test_what_a_cut_upload_left_behind_is_removed_and_sent_again(hub, source, tmp_path):
    wanted = parcel(source, tmp_path)
    hub.cut = 2
    assert store(hub).put(wanted, source) == 3
    assert [one["state"] for one in hub.assets.values()] == ["uploaded"]
    assert hub.uploads == 3


def test_an_upload_that_is_cut_each_time_is_one_message_and_the_next_call_goes_on(hub, source, tmp_path):
    wanted = parcel(source, tmp_path)
    hub.cut = 3
    with pytest.raises(Refused, match="the server answered 502"):
        store(hub).put(wanted, source)
    assert not store(hub).has(wanted)
    assert not store(hub).fetch(wanted, next(iter(wanted.objects)), tmp_path / "back")
    assert store(hub).put(wanted, source) == 3


def test_somebody_who_was_faster_with_the_same_run_is_no_error(hub, source, tmp_path):
    wanted = parcel(source, tmp_path)
    store(hub).put(parcel(source, tmp_path, "b" * 32), source)
    slow = store(hub)
    assert not slow.has(wanted)
    store(hub).put(wanted, source)
    assert slow.put(wanted, source) == 0
    assert [one["state"] for one in hub.assets.values()] == ["uploaded", "uploaded"]


@pytest.mark.parametrize("digests", [True, False])
def test_what_came_back_otherwise_is_removed_and_said(hub, source, tmp_path, digests):
    wanted = parcel(source, tmp_path)
    hub.damage, hub.digests = True, digests
    with pytest.raises(Damaged, match="came back otherwise than it was sent"):
        store(hub).put(wanted, source)
    assert hub.assets == {}


def test_without_a_stated_digest_the_bundle_is_read_back(hub, source, tmp_path):
    hub.digests = False
    wanted = parcel(source, tmp_path)
    assert store(hub).put(wanted, source) == 3
    assert len(hub.told) == 1
    assert store(hub).put(wanted, source) == 0
    assert len(hub.told) == 2


def test_a_full_release_is_followed_by_another_and_all_pages_are_read(hub, source, tmp_path, monkeypatch):
    monkeypatch.setattr(release_assets, "MOST_ASSETS", 120)
    hub.most = 120
    one = store(hub)
    for number in range(125):
        one.put(parcel(source, tmp_path, f"{number:032x}", (b"short",)), source)
    assert [(release["tag_name"], len(hub.of(release["id"]))) for release in hub.releases] == [
        ("evidence-first-1", 120), ("evidence-first-2", 5)
    ]  # fmt: skip
    anew = store(hub)
    assert all(anew.has(Parcel("first", f"{number:032x}", {})) for number in range(125))


def test_a_draft_is_seen_by_nobody_else_and_a_release_by_everybody(hub, source, tmp_path):
    wanted = parcel(source, tmp_path)
    store(hub).put(wanted, source)
    assert not store(hub, None).has(wanted)
    assert store(hub).publish("first") == 1
    assert store(hub).publish("first") == 0
    assert fetched(store(hub, None), wanted, tmp_path) == list(FILES)


def test_the_token_stays_with_the_host_that_it_is_for(hub, source, tmp_path):
    wanted = parcel(source, tmp_path)
    store(hub).put(wanted, source)
    assert fetched(store(hub), wanted, tmp_path) == list(FILES)
    assert hub.told == [None]


@pytest.mark.parametrize("theirs", [True, False])
def test_another_interface_than_the_tokens_own_never_sees_it(hub, source, tmp_path, theirs):
    wanted = parcel(source, tmp_path)
    store(hub).put(wanted, source)
    token = Token(TOKEN, hub.address) if theirs else Token(TOKEN)
    assert backend(f"github:{REPOSITORY}?api={hub.address}", token).has(wanted) is theirs


def test_an_upload_address_on_another_host_is_not_followed(hub, source, tmp_path):
    wanted = parcel(source, tmp_path)
    store(hub).put(wanted, source)
    hub.releases[0]["upload_url"] = "http://example.org/take{?name}"
    with pytest.raises(Unreachable, match=r"uploads to go to example\.org"):
        store(hub).put(parcel(source, tmp_path, "c" * 32), source)


def test_without_a_token_nothing_is_sent_and_the_answer_is_named(hub, source, tmp_path):
    with pytest.raises(Refused, match=r"401: .*Requires authentication"):
        store(hub, None).put(parcel(source, tmp_path), source)


def test_an_exchanged_bundle_is_refused_for_reading_and_left_as_it_is(hub, source, tmp_path):
    wanted = parcel(source, tmp_path)
    store(hub).put(wanted, source)
    (asset,) = hub.assets.values()
    bundle.write(parcel(source, tmp_path, files=(b"another",)), source, tmp_path / "other")
    asset["data"] = (tmp_path / "other").read_bytes()
    assert not store(hub).fetch(wanted, next(iter(wanted.objects)), tmp_path / "back")
    with pytest.raises(Damaged, match="is not the evidence of that run"):
        store(hub).put(wanted, source)
    assert list(hub.assets.values()) == [asset]


def header(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    return info.tobuf(tarfile.USTAR_FORMAT)


GOOD = object_name("sha256:" + "1" * 64)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no tar at all" * 100,
        header("../../etc/passwd", 0) + bytes(1024),
        header(GOOD, 0, tarfile.SYMTYPE) + bytes(1024),
        header(GOOD, 1 << 30) + bytes(1024),
        header(GOOD, 0) + header(GOOD, 0) + bytes(1024),
        header(GOOD, 0) + bytes(512),
        header(GOOD, 0) + bytes(1024) + b"more",
        header(GOOD, 0, tarfile.XHDTYPE) + bytes(1024),
    ],
)
def test_a_bundle_of_any_other_form_is_refused(tmp_path, data):
    (tmp_path / "bundle").write_bytes(data)
    with pytest.raises(Damaged, match="no bundle"):
        bundle.members(tmp_path / "bundle")


@pytest.mark.parametrize("name", ["", "a", "a/b/c", "../x", "a/b?api=file:///etc", "a/b?x=1"])
def test_what_names_no_repository_says_what_would(name):
    with pytest.raises(DataError, match="write github:owner/repository"):
        backend(f"github:{name}")


def test_a_source_that_lacks_a_file_is_named_and_nothing_is_sent(hub, source, tmp_path):
    with pytest.raises(ArgusicError, match="is not here"):
        store(hub).put(Parcel("first", "d" * 32, {"sha256:" + "2" * 64: 5}), source)
    assert hub.uploads == 0
