"""Subjects that a package registry serves: `package` and `mcp-server` from PyPI and npm.

The registry's own client fetches the pinned file, in a machine of its own: an archive is hostile data. No code of the
subject runs there. Only the README and the file's size and digest leave that machine.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from archive.errors import ArgusicError, MachineError
from archive.reasons import Reason
from archive.record import Fetched
from archive.subject import Subject
from runner.machine import spec
from runner.sandbox import HOME, FileRefused, Mount, Sandbox
from runner.sources import Brief, FetchFailed
from runner.watch import run

PROGRAM = Path(__file__).with_name("fetch_inside.py")
README_BYTES = 1 << 20
FETCH_SECONDS = 180
TRIES = 2
_FAILURES = {
    10: (Reason.INFRA_NETWORK, "the package registry cannot be reached"),
    11: (Reason.INFRA_SUBJECT_UNAVAILABLE, "the registry does not serve this version"),
    13: (Reason.INFRA_SUBJECT_UNAVAILABLE, "it has no wheel, and a source archive cannot be read without running it"),
}


class Registry:
    """As `Source`."""

    def fetch(self, subject: Subject, sandbox: Sandbox, extra_ca: Path | None, folder: Path) -> Brief:
        """As `Source.fetch`."""
        pin = subject.pin
        file, readme = self._ask(subject, sandbox, extra_ca)
        return Brief(pin.kind, pin.full_name, pin.version, readme, (file,))

    def reachable(self, subject: Subject, sandbox: Sandbox, extra_ca: Path | None) -> bool:
        """As `Source.reachable`."""
        try:
            self._ask(subject, sandbox, extra_ca)
        except FetchFailed as error:
            return error.reason is not Reason.INFRA_NETWORK
        return True

    def _ask(self, subject: Subject, sandbox: Sandbox, extra_ca: Path | None) -> tuple[Fetched, bytes | None]:
        pin = subject.pin
        if pin.kind not in ("pypi", "npm"):
            raise ArgusicError(f"{subject.id}: only PyPI and npm packages can be fetched so far")
        for rest in reversed(range(TRIES)):
            machine = sandbox.start(spec(sandbox, (Mount(PROGRAM, "/argusic/fetch.py"),), extra_ca))
            try:
                session = machine.exec(["python3", "-I", "/argusic/fetch.py", pin.kind, pin.full_name, pin.version])
                ended, said = run(session, seconds=FETCH_SECONDS, most_bytes=1 << 20)
                machine.stop()
                if ended.exit == 0:
                    return self._take(machine.read(f"{HOME}/manifest.json", 4096)), machine.read(
                        f"{HOME}/README", README_BYTES
                    )
            except FileRefused as error:
                raise FetchFailed(Reason.INFRA_SUBJECT_UNAVAILABLE, str(error)) from None
            finally:
                machine.destroy()
            failure = 10 if ended.by == "budget" else ended.exit or 0
            reason, words = _FAILURES.get(failure, (Reason.INFRA_SUBJECT_UNAVAILABLE, "it could not be fetched"))
            if reason is not Reason.INFRA_NETWORK or not rest:
                last = said.decode(errors="replace").strip().splitlines()[-1:] or [""]
                raise FetchFailed(reason, f"{subject.id}: {words} ({last[0][:300]})")
        raise MachineError("unreachable")

    def _take(self, data: bytes | None) -> Fetched:
        """The manifest, checked by the record's own model."""
        try:
            return Fetched.model_validate_json(data or b"")
        except ValidationError as error:
            raise FetchFailed(Reason.INFRA_SUBJECT_UNAVAILABLE, f"its file has no usable name: {error}") from None
