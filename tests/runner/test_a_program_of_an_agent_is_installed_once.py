"""The program of an agent comes from its registry into a cache, once, and is the same for every machine."""

from __future__ import annotations

import io
import os
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from archive import places
from archive.errors import ArgusicError
from runner.agents import install as install_module
from runner.agents.install import PLACE, Ready, digest_of, installed
from runner.agents.program import Package
from runner.machine import spec
from runner.sandbox import Mount, Sandbox
from runner.watch import run

EXTRA_CA = Path(os.environ["ARGUSIC_EXTRA_CA"]) if os.environ.get("ARGUSIC_EXTRA_CA") else None
SEMVER = Package("npm", "semver", "7.6.3", "")
FIGLET = Package("pypi", "pyfiglet", "1.0.2", "python3.11")
network = pytest.mark.network


class Counted:
    """A sandbox that counts its machines."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox, self.machines = sandbox, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.sandbox, name)

    def start(self, wanted: Any) -> Any:
        self.machines += 1
        return self.sandbox.start(wanted)


def get(root: Path, sandbox: Any, package: Package = SEMVER, program: str = "semver") -> Ready:
    return installed(root, sandbox, package, program, EXTRA_CA)


def said_by(sandbox: Any, ready: Ready, command: str) -> str:
    machine = sandbox.start(spec(sandbox, (Mount(ready.folder, PLACE),), None))
    try:
        _, said = run(machine.exec(["sh", "-c", command]), seconds=30, most_bytes=1 << 20)
        return said.decode().replace("\r\n", "\n")
    finally:
        machine.destroy()


@network
def test_a_program_of_npm_runs_from_where_machines_see_it(sandbox, tmp_path):
    ready = get(tmp_path, sandbox)
    assert said_by(sandbox, ready, f"{PLACE}/bin/semver 1.2.3 --increment") == "1.2.4\n"
    assert (ready.what.registry, ready.what.name, ready.what.version) == ("npm", "semver", "7.6.3")
    assert digest_of(ready.folder) == (ready.what.bytes, ready.what.digest)


@network
def test_a_program_of_pypi_leaves_the_machines_own_python_alone(sandbox, tmp_path):
    ready = get(tmp_path, sandbox, FIGLET, "pyfiglet")
    said = said_by(
        sandbox, ready, f"{PLACE}/bin/pyfiglet -f term hello; python3 -c 'import pyfiglet' 2>&1 | tail -1; env"
    )
    assert said.startswith("hello")
    assert "No module named 'pyfiglet'" in said
    assert "PYTHONPATH" not in said
    assert list(ready.folder.rglob("pyfiglet/__pycache__/*.pyc")), "every start would translate it anew"
    assert get(tmp_path / "another", sandbox, FIGLET, "pyfiglet").what == ready.what


@network
def test_it_is_installed_once_and_again_where_a_byte_changed(sandbox, tmp_path):
    counted = Counted(sandbox)
    with ThreadPoolExecutor(2) as both:
        first, second = both.map(lambda _: get(tmp_path, counted), range(2))
    assert (first, counted.machines) == (second, 1)
    found = next(path for path in first.folder.rglob("semver.js") if path.is_file())
    whole = found.read_bytes()
    found.write_bytes(whole + b"//")
    again = get(tmp_path, counted)
    assert (again.what, counted.machines) == (first.what, 2), "the same files have the same digest"
    assert found.read_bytes() == whole


@network
@pytest.mark.parametrize(
    ("package", "program", "said"),
    [
        (SEMVER._replace(version="7.6.99999"), "semver", "the registry does not serve this version"),
        (FIGLET._replace(version="1.0.99999"), "pyfiglet", "the registry does not serve this version"),
        (SEMVER, "codex", "brings no program codex"),
        (FIGLET, "codex", "brings no program codex"),
    ],
)
def test_what_cannot_be_installed_is_said_and_leaves_nothing(sandbox, tmp_path, package, program, said):
    with pytest.raises(ArgusicError, match=f"{package.name} {package.version} could not be installed: .*{said}"):
        get(tmp_path, sandbox, package, program)
    left = {path.suffix for path in (places.private(tmp_path) / "programs").iterdir()}
    assert left == {".lock"}


def test_without_a_registry_that_is_said(sandbox, tmp_path, monkeypatch):
    real = install_module.spec
    monkeypatch.setattr(install_module, "spec", lambda *a: real(*a)._replace(network="none"))
    with pytest.raises(ArgusicError, match="the package registry cannot be reached"):
        get(tmp_path, sandbox, FIGLET, "pyfiglet")


@pytest.mark.parametrize(
    "member",
    [
        {"name": "../outside"},
        {"name": "/outside"},
        {"name": "folder/../../outside"},
        {"name": "link", "type": tarfile.SYMTYPE, "linkname": "/etc/passwd"},
        {"name": "link", "type": tarfile.SYMTYPE, "linkname": "../../outside"},
        {"name": "link", "type": tarfile.LNKTYPE, "linkname": "/etc/passwd"},
        {"name": "device", "type": tarfile.CHRTYPE},
        {"name": "pipe", "type": tarfile.FIFOTYPE},
    ],
)
def test_an_archive_that_reaches_outside_is_refused(tmp_path, member):
    archive = tmp_path / "program.tar"
    with tarfile.open(archive, "w") as made:
        entry = tarfile.TarInfo(member["name"])
        for name, value in member.items():
            setattr(entry, name, value)
        made.addfile(entry, io.BytesIO())
    with pytest.raises(tarfile.TarError):
        install_module._unpack(archive, tmp_path / "files")
    assert not (tmp_path / "outside").exists()


def test_links_and_modes_inside_are_kept(tmp_path):
    with tarfile.open(tmp_path / "program.tar", "w") as made:
        for name, mode, kind, target in (
            ("bin", 0o755, tarfile.DIRTYPE, ""),
            ("bin/tool", 0o4755, tarfile.REGTYPE, ""),
            ("bin/other", 0o755, tarfile.SYMTYPE, "tool"),
            ("text", 0o666, tarfile.REGTYPE, ""),
        ):
            entry = tarfile.TarInfo(name)
            entry.mode, entry.type, entry.linkname = mode, kind, target
            made.addfile(entry, io.BytesIO())
    install_module._unpack(tmp_path / "program.tar", tmp_path / "files")
    assert (tmp_path / "files/bin/other").resolve() == (tmp_path / "files/bin/tool").resolve()
    modes = [(tmp_path / "files" / name).stat().st_mode & 0o7777 for name in ("bin/tool", "text")]
    assert modes == [0o755, 0o644], "neither another user's rights nor anything to write"
