"""Subjects that lie in git repositories: the pinned commit and what it includes, without any history.

Each repository is fetched in a machine of its own, since a repository is hostile data. What leaves that machine is a
pack of objects; git computes the name of each object anew where the agent works, so what is checked out there is the
pinned commit whatever the first machine, the server or the network did.
"""

from __future__ import annotations

import json
import re
from collections import deque
from pathlib import Path, PurePosixPath
from typing import Annotated, NamedTuple

from pydantic import Field, StringConstraints, ValidationError

from archive.errors import ArgusicError, MachineError
from archive.model import Digest, Model
from archive.reasons import Reason
from archive.record import Fetched, Incident
from archive.subject import Subject
from runner.machine import spec
from runner.sandbox import HOME, FileRefused, Machine, Mount, Sandbox
from runner.sources import Brief, FetchFailed
from runner.sources.git_address import INSIDE, Address, NoAddress, address, resolved
from runner.watch import run

PROGRAM = Path(__file__).with_name("git_inside.py")
CHECKOUT = Path(__file__).with_name("checkout_inside.py")
MOST_BYTES = 1 << 30
"""Of all files of a subject together, and of their packs; more is not fetched."""
MOST_SUBMODULES = 200
README_BYTES = 1 << 20
FETCH_SECONDS = 900
REACH_SECONDS = 60
TRIES = 2
UNREACHED, TOO_LARGE = 10, 16
FAILURES = {
    UNREACHED: (Reason.INFRA_NETWORK, "its server cannot be reached"),
    11: (Reason.INFRA_SUBJECT_UNAVAILABLE, "the pinned commit is not there any more"),
    12: (Reason.INFRA_SUBJECT_UNAVAILABLE, "it asks for credentials: it is private, or not there any more"),
    13: (Reason.INFRA_SUBJECT_UNAVAILABLE, "there is no repository at its address"),
    14: (Reason.INFRA_SUBJECT_UNAVAILABLE, "its server hands out no single commit, and a history is not fetched"),
    15: (Reason.INFRA_SUBJECT_UNAVAILABLE, "git refuses the objects it is made of"),
    TOO_LARGE: (Reason.INFRA_SUBJECT_UNAVAILABLE, f"it is larger than the {MOST_BYTES} bytes that are fetched"),
    17: (Reason.INFRA_SUBJECT_UNAVAILABLE, "its pin names no commit"),
}
"""Exit status of `PROGRAM` -> what it means for the attempt."""
Whole = Annotated[int, Field(ge=0)]
Commit = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]


class Link(Model):
    """A repository that the commit includes."""

    path: str
    commit: Commit
    url: str
    """As the commit writes it; empty where it gives none."""


class Seen(Model):
    """What was seen of a commit, told by a machine that had hostile data in it."""

    files: Whole
    bytes: Whole
    archive_bytes: Whole
    archive_digest: Digest
    pointers: Whole
    pointer_bytes: Whole
    moved_to: Annotated[str, StringConstraints(max_length=2000)] | None
    submodules: tuple[Link, ...]


class Wanted(NamedTuple):
    """A commit that is still to be fetched."""

    path: str
    """Where it lies in the checkout; "" for the subject itself."""
    url: str
    commit: str


class Refused(ArgusicError):
    """One repository could not be fetched."""

    def __init__(self, status: int, detail: str) -> None:
        self.ours = status in (UNREACHED, TOO_LARGE)
        """Whether another runner, or a higher ceiling, could have had it."""
        self.reason, words = FAILURES.get(status, (Reason.INFRA_SUBJECT_UNAVAILABLE, "it could not be fetched"))
        super().__init__(f"{words} ({_plain(detail)})" if detail else words)


class Repository:
    """As `Source`."""

    def fetch(self, subject: Subject, sandbox: Sandbox, extra_ca: Path | None, folder: Path) -> Brief:
        """As `Source.fetch`. A submodule that nobody could have is the project's own trouble: noted, and left out."""
        pin = subject.pin
        collected = _Collected(folder)
        waiting = deque([Wanted("", _clone_url(subject), pin.version)])
        while waiting:
            if len(collected.parts) > MOST_SUBMODULES:
                words = f"it includes more than the {MOST_SUBMODULES} repositories that are fetched"
                raise FetchFailed(Reason.INFRA_SUBJECT_UNAVAILABLE, f"{subject.id}: {words}")
            wanted = waiting.popleft()
            try:
                seen = self._fetch_one(wanted, sandbox, extra_ca, collected)
            except (NoAddress, Refused) as error:
                refused = error if isinstance(error, Refused) else None
                if not wanted.path or (refused and refused.ours):
                    reason = refused.reason if refused else Reason.INFRA_SUBJECT_UNAVAILABLE
                    where = f", its submodule {_plain(wanted.path)}" if wanted.path else ""
                    raise FetchFailed(reason, f"{subject.id}{where}: {error}") from None
                collected.missing(wanted, str(error))
                continue
            for link in seen.submodules:
                below = Wanted(str(PurePosixPath(wanted.path, link.path)), resolved(link.url, wanted.url), link.commit)
                trouble = _trouble(link)
                if trouble:
                    collected.missing(below, trouble)
                else:
                    waiting.append(below)
        return Brief(
            pin.kind,
            pin.full_name,
            pin.version,
            collected.readme,
            tuple(collected.fetched),
            files=(*collected.files(), Mount(CHECKOUT, "/argusic/subject/checkout.py")),
            prepare=("python3", "-I", "/argusic/subject/checkout.py"),
            incidents=tuple(collected.incidents),
        )

    def reachable(self, subject: Subject, sandbox: Sandbox, extra_ca: Path | None) -> bool:
        """As `Source.reachable`."""
        try:
            place = address(_clone_url(subject))
        except NoAddress:
            return True
        machine = _machine(place, sandbox, extra_ca)
        try:
            session = machine.exec(["python3", "-I", "/argusic/git.py", "reach", place.url])
            ended, _ = run(session, seconds=REACH_SECONDS, most_bytes=1 << 16)
        finally:
            machine.destroy()
        return ended.by == "agent" and ended.exit != UNREACHED

    def _fetch_one(self, wanted: Wanted, sandbox: Sandbox, extra_ca: Path | None, collected: _Collected) -> Seen:
        place = address(wanted.url)
        if wanted.path and not wanted.url.startswith("https://") and place.url == wanted.url:
            raise NoAddress("its address is none of https")
        for rest in reversed(range(TRIES)):
            machine = _machine(place, sandbox, extra_ca)
            try:
                words = ["python3", "-I", "/argusic/git.py", "fetch", place.url, wanted.commit, str(collected.left)]
                ended, said = run(machine.exec(words), seconds=FETCH_SECONDS, most_bytes=1 << 20)
                machine.stop()
                if ended.exit == 0:
                    return collected.take(wanted, machine)
            finally:
                machine.destroy()
            status = {"budget": UNREACHED, "memory-limit": TOO_LARGE}.get(ended.by, ended.exit or 0)
            if status != UNREACHED or not rest:
                last = said.decode("ascii", "replace").strip().splitlines()[-1:] or [""]
                late = f"not within {FETCH_SECONDS} seconds" if ended.by == "budget" else last[0]
                raise Refused(status, late)
        raise MachineError("unreachable")


class _Collected:
    """What was fetched so far."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        self.left = MOST_BYTES
        self.readme: bytes | None = None
        self.parts: list[dict[str, str]] = []
        self.fetched: list[Fetched] = []
        self.incidents: list[Incident] = []

    def take(self, wanted: Wanted, machine: Machine) -> Seen:
        """Copies one commit out of the machine that fetched it."""
        try:
            seen = Seen.model_validate_json(machine.read(f"{HOME}/fetched/seen.json", 4 << 20) or b"")
            pack = machine.read(f"{HOME}/fetched/pack", self.left)
            if not wanted.path:
                self.readme = machine.read(f"{HOME}/fetched/README", README_BYTES)
        except (FileRefused, ValidationError):
            raise Refused(15, "what came of it is not what git makes") from None
        if pack is None:
            raise Refused(15, "no pack came of it")
        self.left -= max(seen.bytes, len(pack))
        if self.left < 0:
            raise Refused(TOO_LARGE, "")
        name = f"{len(self.parts)}.pack"
        _readable(self.folder / name, pack)
        self.parts.append({"pack": name, "path": wanted.path, "url": wanted.url, "commit": wanted.commit})
        label = re.sub(r"[^A-Za-z0-9._-]", "-", wanted.url.rstrip("/").rpartition("/")[2].removesuffix(".git"))[:200]
        self.fetched.append(
            Fetched(name=f"{label}-{wanted.commit}.tar", bytes=seen.archive_bytes, digest=seen.archive_digest)
        )
        if seen.moved_to:
            moved = _plain(seen.moved_to).rstrip("/")
            self._incident("subject-moved", f"{_plain(wanted.url)} answers at {re.sub('//[^/]*@', '//', moved)}")
        if seen.pointers:
            words = (
                f"{seen.pointers} files of {wanted.path or 'the repository'} only point to {seen.pointer_bytes} bytes"
            )
            self._incident("large-files-elsewhere", f"{words} in Git LFS, which are not part of the commit")
        return seen

    def missing(self, wanted: Wanted, why: str) -> None:
        """A submodule that the agent will find empty, as anybody would."""
        self._incident("submodule-missing", f"{_plain(wanted.path)}: {why}")

    def files(self) -> list[Mount]:
        """What the agent's machine needs for the checkout."""
        _readable(self.folder / "checkout.json", json.dumps(self.parts, indent=2).encode())
        names = ["checkout.json", *(part["pack"] for part in self.parts)]
        return [Mount(self.folder / name, f"/argusic/subject/{name}") for name in names]

    def _incident(self, kind: str, detail: str) -> None:
        self.incidents.append(Incident.model_validate({"kind": kind, "detail": detail[:2000]}))


def _clone_url(subject: Subject) -> str:
    if not subject.pin.clone_url:
        raise ArgusicError(f"{subject.id}: names no repository that could be fetched")
    return subject.pin.clone_url


def _machine(place: Address, sandbox: Sandbox, extra_ca: Path | None) -> Machine:
    mounts = [Mount(PROGRAM, "/argusic/git.py")]
    if place.mirror is not None:
        mounts.append(Mount(place.mirror, INSIDE))
    return sandbox.start(spec(sandbox, tuple(mounts), extra_ca))


def _trouble(link: Link) -> str:
    """Why a submodule is not even tried; "" where it is."""
    parts = PurePosixPath(link.path).parts
    if not parts or link.path.startswith("/") or not link.path.isprintable() or "\ufffd" in link.path:
        return "its path is none that is followed"
    if {"..", ".git"} & {part.lower() for part in parts}:
        return "its path leads out of the repository"
    return "" if link.url else "the commit gives no address for it"


def _plain(text: str) -> str:
    """Hostile text on one line of a message."""
    return re.sub(r"[^ -~]", "?", text)[:300]


def _readable(path: Path, data: bytes) -> None:
    """A file that the machine's user can read, whatever umask the runner has."""
    path.write_bytes(data)
    path.chmod(0o644)
