"""verify --from: the public repository and somebody's store are enough, and nothing that a store answers does harm."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
import zstandard

from archive import places
from archive.backends import parcel
from archive.errors import DataError, MachineError
from archive.record import Evidence, Record
from archive.release_assets import ReleaseStore
from audit.finding import Checked
from audit.verify import verify
from tests.audit.making import certified, checkout, evidence, made, name_of, rewrite, session
from tests.support import release_server, web_server

LONG = [(number * 1000, b"a line of the terminal %d\r\n" % number) for number in range(500)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One measured run with a terminal that is kept packed."""
    root = checkout(tmp_path_factory.mktemp("whole"), agents=["agent-a"], records_until=1)
    rewrite(root, lambda one: certified(root, evidence(root, one, **session(LONG))))
    assert places.store(root).path(terminal(made(root)[0]).digest).suffix == ".zst"
    return root


@pytest.fixture
def root(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone without evidence; the store lies in tmp_path/store."""
    shutil.copytree(whole, tmp_path / "root")
    (tmp_path / "root/.argusic/evidence").rename(tmp_path / "store")
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path / "root"


def terminal(record: Record) -> Evidence:
    item = record.file("terminal")
    assert item is not None
    return item


def test_a_folder_that_somebody_serves_is_enough(root: Path, tmp_path: Path) -> None:
    checked, confirmed = Checked(), list[str]()
    record = made(root)[0]
    with web_server.folder(tmp_path) as address:
        assert verify(root, record.run, f"{address}/store/", checked=checked, confirmed=confirmed) == []
    assert checked["evidence files"] == len(record.evidence)
    assert f"terminal: {terminal(record).bytes} bytes, {terminal(record).digest}" in confirmed
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_whole_cycle_is_fetched_run_by_run(root: Path, tmp_path: Path) -> None:
    with web_server.folder(tmp_path / "store") as address:
        found = verify(root, "first", address)
    assert [one for one in found if one.check == "verify"] == []
    assert list((tmp_path / "temporary").iterdir()) == []


def test_the_releases_of_a_repository_are_enough(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    record = made(root)[0]
    with release_server.serving() as hub:
        store = ReleaseStore(release_server.REPOSITORY, hub.address, release_server.TOKEN)
        store.put(parcel(record), places.FolderStore(tmp_path / "store"))
        store.publish("first")
        (asset,) = hub.assets.values()
        name = f"github:{release_server.REPOSITORY}?api={hub.address}"
        assert verify(root, record.run, name) == []
        asset["data"] = asset["data"][:-600]
        found = verify(root, record.run, name)
    assert len(found) > len(record.evidence)
    assert all("it is no bundle: there is no header at byte" in one.problem for one in found)
    assert list((tmp_path / "temporary").iterdir()) == []


def test_a_missing_object_is_one_clear_finding(root: Path, tmp_path: Path) -> None:
    record = made(root)[0]
    places.FolderStore(tmp_path / "store").path(terminal(record).digest).unlink()
    with web_server.folder(tmp_path / "store") as address:
        found = verify(root, record.run, address)
    problem = f"run {record.run}: its terminal ({terminal(record).digest}) is not in the store"
    assert [(one.file, one.problem) for one in found] == [(name_of(root, record.run), problem)]


def sent(data: bytes, length: int | None = None) -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        if length is not None:
            handler.send_header("Content-Length", str(length))
        handler.end_headers()
        handler.wfile.write(data)

    return answer


def endless(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.end_headers()
    while True:
        handler.wfile.write(bytes(1 << 16))


BOMB = zstandard.ZstdCompressor(level=3).compress(bytes(200 << 20))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (endless, "it "),
        (sent(b""), "its digest is"),
        (sent(b"other bytes", 11), "it is not whole zstandard data"),
        (sent(BOMB), "it is larger than"),
    ],
)
def test_a_hostile_answer_is_a_finding_that_names_the_object(
    root: Path, tmp_path: Path, answer: Callable[[BaseHTTPRequestHandler], None], said: str
) -> None:
    record = made(root)[0]
    with web_server.answers(answer) as address:
        found = verify(root, record.run, address)
        digits = terminal(record).digest[7:]
        first = next(one for one in found if digits in one.file)
    assert first.file == f"{address}/sha256/{digits[:2]}/{digits}"
    assert f"is not the terminal of run {record.run} any more: " in first.problem
    assert said in first.problem
    assert not (tmp_path / "temporary").exists() or list((tmp_path / "temporary").iterdir()) == []


def moved(where: str) -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", where)
        handler.end_headers()

    return answer


def failing(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(503)
    handler.end_headers()
    handler.wfile.write(b"come back later")


def silent(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.close()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (failing, "the server answered 503: come back later"),
        (moved("file:///etc/passwd"), "302"),
        (moved("ftp://127.0.0.1/x"), "redirects to ftp"),
        (moved("/again"), "the server answered 302"),
        (sent(b"half", 400), "broke off"),
        (silent, "no answer"),
    ],
)
def test_a_store_that_cannot_be_read_is_one_message_and_no_finding(
    root: Path, answer: Callable[[BaseHTTPRequestHandler], None], said: str
) -> None:
    with web_server.answers(answer) as address, pytest.raises(MachineError) as caught:
        verify(root, made(root)[0].run, address)
    assert said in str(caught.value)
    assert str(caught.value).startswith(address)


def test_nobody_there_is_one_message(root: Path) -> None:
    with web_server.answers(silent) as address:
        pass
    with pytest.raises(MachineError, match="Connection refused"):
        verify(root, made(root)[0].run, address)


@pytest.mark.parametrize("text", ["ftp://example.org/x", "file:///etc", "s3://", "s3://UP", "s3://b?end=x", "github:x"])
def test_what_names_no_store_is_refused_with_what_would(root: Path, text: str) -> None:
    with pytest.raises(DataError):
        verify(root, made(root)[0].run, text)
