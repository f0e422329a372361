"""Programs of agents, installed once for each pinned version: by their registry's own client, in a machine of its own.

What a machine gets is a folder of files, read-only. The same files are on every machine of the cycle, and their digest
stands in every record.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from archive import atomic, places
from archive.canonical import canonical
from archive.errors import ArgusicError, DataErrors, MachineError
from archive.pools import read_json
from archive.record import Program as Installed
from runner.agents.program import Package, Program, Setting
from runner.machine import spec
from runner.sandbox import HOME, FileRefused, Mount, Sandbox
from runner.watch import run

INSTALLER = Path(__file__).with_name("install_inside.py")
FETCHER = Path(__file__).parents[1] / "sources/fetch_inside.py"
INSTALL_SECONDS = 900
MOST_BYTES = 3 << 30
MOST_FILES = 400_000
PLACE = "/opt/argusic/agent"
"""Where machines see it."""
_FAILURES = {10: "the package registry cannot be reached", 11: "the registry does not serve this version"}


class Ready(NamedTuple):
    """A program that machines can be given."""

    folder: Path
    what: Installed


def word(program: Program) -> str:
    """The command that starts `program`."""
    return program.start(Setting(home=HOME, endpoint="https://model.invalid", model="model", prompt="")).argv[0]


def installed(root: Path, sandbox: Sandbox, package: Package, program: str, extra_ca: Path | None) -> Ready:
    """The program of `package` whose command is `program`, from the cache where its files are as they were.

    Raises ArgusicError where it cannot be installed.
    """
    words = (*package[:4], *package.along, program, sandbox.name, sandbox.image or "", sandbox.inside().python)
    place = places.private(root) / "programs" / hashlib.sha256("\0".join(words).encode()).hexdigest()[:24]
    with _one_at_a_time(place):
        ready = _kept(place)
        return ready or _made(place, sandbox, package, program, extra_ca)


def _kept(place: Path) -> Ready | None:
    try:
        what = read_json(Installed, place / "program.json")
        return Ready(place / "files", what) if digest_of(place / "files") == (what.bytes, what.digest) else None
    except (OSError, DataErrors):
        return None


def _made(place: Path, sandbox: Sandbox, package: Package, program: str, extra_ca: Path | None) -> Ready:
    what = f"{package.registry} {package.name} {package.version}"
    shutil.rmtree(place, ignore_errors=True)
    making = place.with_suffix(".making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True, mode=0o700)
    try:
        _install(making / "program.tar", sandbox, package, program, extra_ca)
        _unpack(making / "program.tar", making / "files")
        (making / "program.tar").unlink()
        size, digest = digest_of(making / "files")
        made = Installed(
            registry=package.registry, name=package.name, version=package.version, bytes=size, digest=digest
        )
        atomic.write(making / "program.json", canonical(made))
        making.rename(place)
        return Ready(place / "files", made)
    except (tarfile.TarError, FileRefused, OSError) as error:
        raise ArgusicError(f"{what} could not be installed: {error}") from None
    finally:
        shutil.rmtree(making, ignore_errors=True)


def _install(target: Path, sandbox: Sandbox, package: Package, program: str, extra_ca: Path | None) -> None:
    mounts = (Mount(INSTALLER, "/argusic/install.py"), Mount(FETCHER, "/argusic/fetch_inside.py"))
    machine = sandbox.start(spec(sandbox, mounts, extra_ca))
    try:
        words = [package.registry, package.name, package.version, program, package.engine, *package.along]
        session = machine.exec(["python3", "-I", "/argusic/install.py", *words], HOME)
        ended, said = run(session, seconds=INSTALL_SECONDS, most_bytes=1 << 20)
        machine.stop()
        if ended.exit != 0:
            last = said.decode("ascii", "replace").strip().splitlines()[-1:] or [""]
            why = f"not within {INSTALL_SECONDS} seconds" if ended.by == "budget" else last[0][:300]
            known = _FAILURES.get(ended.exit or 0)
            raise ArgusicError(
                f"{package.registry} {package.name} {package.version} could not be installed: "
                + (f"{known} ({why})" if known else why)
            )
        if not machine.copy(f"{HOME}/program.tar", target, MOST_BYTES):
            raise MachineError(f"{package.name}: the machine in which it was installed left nothing")
    finally:
        machine.destroy()


def _unpack(archive: Path, folder: Path) -> None:
    """Files and links that stay inside `folder`, written into folders of our own making; anything else is refused.

    Not by tarfile's own filters, which the Python of Debian 12 does not have.
    """
    folder.mkdir(mode=0o755)
    with tarfile.open(archive) as opened:
        for count, member in enumerate(opened):
            parts = PurePosixPath(member.name).parts
            if count >= MOST_FILES or not parts or parts[0] == "/" or ".." in parts:
                raise tarfile.TarError(f"{member.name}: more files than a program has, or none of its own")
            path = folder.joinpath(*parts)
            if not path.parent.resolve().is_relative_to(folder.resolve()):
                raise tarfile.TarError(f"{member.name}: lies behind a link")
            if member.isdir():
                path.mkdir(mode=0o755, exist_ok=True)
            elif member.issym():
                _link(path, member.linkname, folder)
            elif member.isfile() and (data := opened.extractfile(member)) is not None:
                with data, path.open("xb") as file:
                    shutil.copyfileobj(data, file)
                path.chmod(0o755 if member.mode & 0o100 else 0o644)
            else:
                raise tarfile.TarError(f"{member.name}: neither a file nor a folder nor a link")


def _link(path: Path, target: str, folder: Path) -> None:
    if PurePosixPath(target).is_absolute() or not (path.parent / target).resolve().is_relative_to(folder.resolve()):
        raise tarfile.TarError(f"{path.name}: a link that leads out of the program")
    path.symlink_to(target)


def digest_of(folder: Path) -> tuple[int, str]:
    """Bytes of all files, and a digest over path, mode and content of each."""
    total, size = hashlib.sha256(), 0
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            line = f"link {path.readlink()}"
        elif path.is_file():
            with path.open("rb") as file:
                line = f"{path.stat().st_mode & 0o777:o} {hashlib.file_digest(file, 'sha256').hexdigest()}"
            size += path.stat().st_size
        else:
            continue
        total.update(f"{line} {name}\n".encode("utf-8", "surrogateescape"))
    return size, f"sha256:{total.hexdigest()}"


@contextmanager
def _one_at_a_time(place: Path) -> Iterator[None]:
    """Two processes that want the same program install it once."""
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle = os.open(place.with_suffix(".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
