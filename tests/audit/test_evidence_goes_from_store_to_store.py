"""push, fetch, take-down: from a checkout to any store and back, nothing twice, and what is gone says why."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from archive import atomic, places, tombstones
from archive.backends import parcel
from archive.errors import ArgusicError, DataError, DataErrors, Unfinished
from archive.packing import Damaged
from archive.record import Record
from audit import commands
from audit.append_only import append_only
from audit.finding import Checked
from audit.verify import verify
from tests.audit.making import certified, checkout, commit, evidence, git, made, name_of, rewrite
from tests.support import release_server, web_server


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkout(tmp_path_factory.mktemp("whole"), agents=["agent-a"], records_until=2)


@pytest.fixture
def root(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "root")
    return tmp_path / "root"


def invoke(root: Path, *words: str) -> tuple[int, list[str]]:
    app = typer.Typer()

    @app.callback()
    def main(ctx: typer.Context) -> None:
        ctx.obj = root

    app.command("push")(commands.evidence_push)
    app.command("fetch")(commands.evidence_fetch)
    app.command("take-down")(commands.evidence_take_down)
    done = CliRunner().invoke(app, words)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout.splitlines()


def objects(record: Record) -> int:
    return len(parcel(record).objects)


def digest_of(root: Path, role: str = "terminal", run: int = 0) -> str:
    item = made(root)[run].file(role)  # type: ignore[arg-type]
    assert item is not None
    return item.digest


def test_a_folder_takes_each_object_once_and_verifies_alone(root: Path, tmp_path: Path) -> None:
    runs = made(root)
    code, lines = invoke(root, "push", "first", "--to", str(tmp_path / "served"))
    assert (code, len(lines)) == (0, len(runs))
    assert lines[0].endswith(f"moved, {objects(runs[0])} files")
    code, lines = invoke(root, "push", "first", "--to", str(tmp_path / "served"))
    assert (code, {line.split("  ")[1] for line in lines}) == (0, {"is there already"})
    shutil.rmtree(root / ".argusic")
    with web_server.folder(tmp_path / "served") as address:
        assert verify(root, runs[0].run, address) == []


def test_what_is_fetched_makes_the_checkout_whole_again(root: Path, tmp_path: Path) -> None:
    (root / ".argusic/evidence").rename(tmp_path / "served")
    run = made(root)[0].run
    with web_server.folder(tmp_path / "served") as address:
        code, lines = invoke(root, "fetch", run[:12], "--from", address)
        assert (code, len(lines)) == (0, 1)
        assert verify(root, run) == []
        assert invoke(root, "fetch", "first", "--from", address)[0] == 0
        code, lines = invoke(root, "fetch", "first", "--from", address, "--json")
    assert (code, {json.loads(line)["state"] for line in lines}) == (0, {"there"})


def test_what_the_other_store_lacks_is_said_with_exit_1(root: Path, tmp_path: Path) -> None:
    (root / ".argusic/evidence").rename(tmp_path / "served")
    places.FolderStore(tmp_path / "served").remove(digest_of(root))
    code, lines = invoke(root, "fetch", made(root)[0].run, "--from", str(tmp_path / "served"))
    assert (code, lines[0].split("  ")[1][:28]) == (1, "is not whole in that store, ")


def test_other_bytes_are_not_taken_in(root: Path, tmp_path: Path) -> None:
    digest = digest_of(root)
    (root / ".argusic/evidence").rename(tmp_path / "served")
    path = places.FolderStore(tmp_path / "served").path(digest)
    assert path is not None
    path.write_bytes(b"other")
    with pytest.raises(Damaged, match=f"{digest} of run "):
        invoke(root, "fetch", "first", "--from", str(tmp_path / "served"))
    assert not places.store(root).has(digest)


def test_a_cycle_goes_to_releases_and_is_published(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("GITHUB_TOKEN", release_server.TOKEN)
    run = made(root)[0].run
    with release_server.serving() as hub:
        monkeypatch.setenv("GITHUB_API_URL", hub.address)
        name = f"github:{release_server.REPOSITORY}?api={hub.address}"
        assert invoke(root, "push", "first", "--to", name)[0] == 0
        assert [one["draft"] for one in hub.releases] == [True]
        sent = hub.uploads
        assert invoke(root, "push", "first", "--to", name, "--publish")[0] == 0
        assert (hub.uploads, [one["draft"] for one in hub.releases]) == (sent, [False])
        shutil.rmtree(root / ".argusic")
        assert verify(root, run, name) == []
        assert invoke(root, "fetch", run, "--from", name)[0] == 0
    assert verify(root, run) == []


def test_evidence_that_waits_is_not_sent(root: Path, tmp_path: Path) -> None:
    key = {"kind": "own", "deletion_confirmed": False, "cap_micro_usd": 1, "expires_at": "2030-01-01T00:00:00Z"}
    rewrite(root, lambda one: certified(root, evidence(root, one)) | {"key": key})
    with pytest.raises(Unfinished, match="waits for the end of a key"):
        invoke(root, "push", "first", "--to", str(tmp_path / "served"))
    assert not (tmp_path / "served").exists()


def test_the_checkouts_own_store_and_one_without_drafts_are_refused(root: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="own store"):
        invoke(root, "push", "first", "--to", str(root / ".argusic/evidence"))
    with pytest.raises(DataError, match="no drafts"):
        invoke(root, "push", "first", "--to", str(tmp_path / "served"), "--publish")
    with pytest.raises(DataError, match="can only be read from"), web_server.folder(tmp_path) as address:
        invoke(root, "push", "first", "--to", address)


def test_what_was_taken_down_is_missing_with_a_reason_and_no_finding(root: Path, tmp_path: Path) -> None:
    digest, run = digest_of(root, "log"), made(root)[0].run
    code, lines = invoke(root, "take-down", digest, "--reason", "a court order")
    assert (code, lines) == (0, [f"{digest}: removed; its tombstone is in results/tombstones"])
    assert not places.store(root).has(digest)
    checked, confirmed = Checked(), list[str]()
    assert verify(root, run, checked=checked, confirmed=confirmed) == []
    assert checked["files taken down"] == 1
    stone = tombstones.find(root, digest)
    assert stone is not None
    assert f"log: taken down on {stone.day} (a court order), {digest}" in confirmed
    code, lines = invoke(root, "take-down", digest, "--reason", "a court order")
    assert lines == [f"{digest}: was not here; its tombstone is in results/tombstones"]
    assert invoke(root, "push", "first", "--to", str(tmp_path / "served"))[0] == 0
    assert not places.FolderStore(tmp_path / "served").has(digest)


@pytest.mark.parametrize("role", ["terminal", "recording", "report"])
def test_any_file_may_be_taken_down_and_the_others_still_count(root: Path, role: str) -> None:
    invoke(root, "take-down", digest_of(root, role), "--reason", "a court order")
    run = made(root)[0].run
    assert verify(root, run) == []
    places.store(root).remove(digest_of(root, "log"))
    assert [one.problem for one in verify(root, run)] == [
        f"run {run}: its log ({digest_of(root, 'log')}) is not in the store"
    ]


def test_a_certificate_may_be_taken_down(root: Path) -> None:
    record = made(root)[0]
    assert record.certificate is not None
    invoke(root, "take-down", record.certificate, "--reason", "a court order")
    assert verify(root, record.run) == []


def test_a_tombstone_does_not_excuse_other_bytes(root: Path) -> None:
    digest = digest_of(root)
    path = places.store(root).path(digest)
    assert path is not None
    data = path.read_bytes()
    invoke(root, "take-down", digest, "--reason", "a court order")
    path.write_bytes(data[:-1] + b"!")
    (found,) = verify(root, made(root)[0].run)
    assert "any more: its digest is" in found.problem


def test_a_tombstone_that_is_not_right_excuses_nothing(root: Path) -> None:
    digest, run = digest_of(root), made(root)[0].run
    places.store(root).remove(digest)
    path = tombstones.tombstone_path(root, digest)
    for text in (
        "{}",
        json.dumps({"schema_version": 1, "digest": "sha256:" + "0" * 64, "day": "2026-12-01", "reason": "x"}),
    ):
        atomic.write(path, text.encode())
        files = {one.file for one in verify(root, run)}
        assert files == {path.relative_to(root).as_posix(), name_of(root, run)}


def test_what_cannot_be_taken_down_is_said(root: Path) -> None:
    with pytest.raises(DataError, match="no record names evidence"):
        invoke(root, "take-down", "sha256:" + "0" * 64, "--reason", "a court order")
    with pytest.raises(DataError, match="has 0 characters"):
        invoke(root, "take-down", digest_of(root), "--reason", " ")
    invoke(root, "take-down", digest_of(root), "--reason", "a court order")
    with pytest.raises(ArgusicError, match="never changed"):
        invoke(root, "take-down", digest_of(root), "--reason", "another one")
    tombstones.tombstone_path(root, digest_of(root)).write_bytes(b"{}")
    with pytest.raises(DataErrors):
        invoke(root, "take-down", digest_of(root), "--reason", "a court order")


def test_a_tombstone_stays(root: Path) -> None:
    git(root, "init", "-q")
    invoke(root, "take-down", digest_of(root), "--reason", "a court order")
    base = commit(root)
    tombstones.tombstone_path(root, digest_of(root)).unlink()
    assert "was removed" in {one.problem.partition(" (")[0] for one in append_only(root, base)}
