"""evidence stamp: a real authority says when a closed ledger existed, and verify holds its word against the ledger."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from archive import timestamps
from archive.errors import DataError, MachineError
from archive.timestamps import Unproven
from audit import commands
from audit.append_only import append_only
from audit.finding import Checked, Finding
from audit.verify import verify
from tests.audit.making import checkout, commit, git, ledger, rewrite
from tests.support import stamp_server
from tests.support.stamp_server import Authority

pytestmark = pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl, which signs the time stamps")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkout(tmp_path_factory.mktemp("whole"), agents=["agent-a"], records_until=2)


@pytest.fixture
def root(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    shutil.copytree(whole, tmp_path / "root")
    return tmp_path / "root"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Authority]:
    with stamp_server.serving(tmp_path_factory.mktemp("authority") / "one") as one:
        yield one


def stamp(root: Path, url: str, pem: Path) -> str:
    app = typer.Typer()

    @app.callback()
    def main(ctx: typer.Context) -> None:
        ctx.obj = root

    app.command("stamp")(commands.evidence_stamp)
    done = CliRunner().invoke(app, ["stamp", "first", "--tsa", url, "--authority", str(pem)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout.strip()


def stamps(root: Path) -> list[str]:
    folder = timestamps.folder(root, "first")
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def of_stamps(found: list[Finding]) -> list[Finding]:
    return [one for one in found if "/stamps/" in one.file]


def test_a_stamp_is_kept_and_said_and_openssl_agrees(root: Path, authority: Authority) -> None:
    said = stamp(root, authority.address, authority.root)
    assert said.startswith("results/stamps/first/1.tsr: 2")
    assert said.endswith(" by CN=Test authority signer")
    assert stamps(root) == ["1.json", "1.tsr"]
    head = ledger(root).head
    answer = timestamps.folder(root, "first") / "1.tsr"
    assert authority.confirms(answer, head[7:])
    assert not authority.confirms(answer, "0" * 64)
    checked = Checked()
    assert of_stamps(verify(root, "first", checked=checked)) == []
    assert checked["time stamps"] == 1


def test_a_second_time_at_the_same_authority_does_nothing(root: Path, authority: Authority) -> None:
    first = stamp(root, authority.address, authority.root)
    assert stamp(root, authority.address, authority.root) == f"{first}, is there already"
    assert stamps(root) == ["1.json", "1.tsr"]


def test_a_second_authority_adds_a_stamp(root: Path, authority: Authority, tmp_path: Path) -> None:
    stamp(root, authority.address, authority.root)
    with stamp_server.serving(tmp_path / "two") as two:
        stamp(root, two.address, two.root)
    checked = Checked()
    assert of_stamps(verify(root, "first", checked=checked)) == []
    assert (stamps(root), checked["time stamps"]) == (["1.json", "1.tsr", "2.json", "2.tsr"], 2)


def test_an_open_ledger_is_not_stamped(tmp_path: Path, authority: Authority) -> None:
    root = checkout(tmp_path / "open", agents=["agent-a"], records_until=1, close=False)
    with pytest.raises(DataError, match="still open"):
        stamp(root, authority.address, authority.root)


def test_a_stamp_under_somebody_elses_certificate_is_not_kept(root: Path, authority: Authority, tmp_path: Path) -> None:
    other = Authority(tmp_path / "other", "Another authority")
    with pytest.raises(Unproven, match="does not hold"):
        stamp(root, authority.address, other.root)
    assert stamps(root) == []


def test_a_sceptic_brings_another_authority(root: Path, authority: Authority, tmp_path: Path) -> None:
    stamp(root, authority.address, authority.root)
    other = Authority(tmp_path / "other")
    assert of_stamps(verify(root, "first", authority=authority.root.read_text())) == []
    (found,) = of_stamps(verify(root, "first", authority=other.root.read_text()))
    assert "does not hold" in found.problem


def test_the_answer_to_another_question_is_refused(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with stamp_server.serving(tmp_path / "two") as two:
        stamp(root, two.address, two.root)
        two.instead = (timestamps.folder(root, "first") / "1.tsr").read_bytes()
        shutil.rmtree(root / "results/stamps")
        with pytest.raises(Unproven, match="Nonce"):
            stamp(root, two.address, two.root)
        for junk in (b"", b"junk", b"\x30\x03\x02\x01\x02", two.instead[:-20]):
            two.instead = junk
            with pytest.raises(Unproven):
                stamp(root, two.address, two.root)
        two.instead = bytes(timestamps.MOST_BYTES + 1)
        with pytest.raises(Exception, match="larger than"):
            stamp(root, two.address, two.root)
    assert stamps(root) == []


def test_nobody_there_and_no_certificates_are_one_message(root: Path, authority: Authority, tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="no answer"):
        stamp(root, "http://127.0.0.1:9", authority.root)
    (tmp_path / "none.pem").write_text("nothing")
    with pytest.raises(DataError, match=r"none\.pem: holds no certificates"):
        stamp(root, authority.address, tmp_path / "none.pem")


def test_a_ledger_made_anew_does_not_fit_its_stamp(root: Path, authority: Authority) -> None:
    stamp(root, authority.address, authority.root)
    rewrite(root, lambda record: {"agent_exit": 7})
    assert "stamps another ledger than the one that is here" in {one.problem for one in verify(root, "first")}


def test_one_changed_byte_of_a_stamp_is_found(root: Path, authority: Authority) -> None:
    stamp(root, authority.address, authority.root)
    chance = random.Random(20261201)
    for name in stamps(root):
        path = timestamps.folder(root, "first") / name
        data = path.read_bytes()
        for place in chance.sample(range(len(data)), 12):
            path.write_bytes(data[:place] + bytes([data[place] ^ (1 << chance.randrange(8))]) + data[place + 1 :])
            assert of_stamps(verify(root, "first")), f"{name} at byte {place}"
        path.write_bytes(data)


def test_a_stamp_without_its_answer_and_a_stranger_are_named(root: Path, authority: Authority) -> None:
    stamp(root, authority.address, authority.root)
    folder = timestamps.folder(root, "first")
    (folder / "1.tsr").unlink()
    (folder / "7.tsr").write_bytes(b"")
    found = {Path(one.file).name: one.problem for one in of_stamps(verify(root, "first"))}
    assert found == {"1.json": "1.tsr: No such file or directory", "7.tsr": "belongs to no time stamp"}


def test_what_is_said_of_an_answer_must_be_what_it_says(root: Path, authority: Authority) -> None:
    stamp(root, authority.address, authority.root)
    path = timestamps.folder(root, "first") / "1.json"
    said = json.loads(path.read_text()) | {"at": "2020-01-01T00:00:00Z"}
    path.write_text(json.dumps(said, sort_keys=True, indent=2, ensure_ascii=False) + "\n")
    (found,) = of_stamps(verify(root, "first"))
    assert found.problem.startswith("says 2020-01-01T00:00:00Z by ")


def test_a_stamp_stays(root: Path, authority: Authority) -> None:
    git(root, "init", "-q")
    stamp(root, authority.address, authority.root)
    base = commit(root)
    shutil.rmtree(root / "results/stamps")
    assert {one.file for one in append_only(root, base)} == {
        "results/stamps/first/1.json",
        "results/stamps/first/1.tsr",
    }
