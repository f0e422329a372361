"""The files of one attempt on their way from the spool to the store: as they arrived, masked, proven clean, kept.

What arrived stays as it is in the spool, which only this user can read. What will be served is written beside it, into
quarantine, and leaves that only with a certificate (MEASUREMENT §10).
"""

from __future__ import annotations

import hmac
import shutil
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from archive import places
from archive.canonical import canonical
from archive.edits import Kind
from archive.record import Evidence, Role
from archive.store import FolderStore
from runner.checking import CERTIFICATE, Checker
from runner.journal import LOG
from runner.masking import Known, NotProven
from runner.masking.stages import committed, staged_bytes
from runner.recorder import RECORDING, TERMINAL, TIMING, mend
from scoring.moments import error_moments

PICTURES: tuple[Role, ...] = ("video", "screenshot")
"""No value can be masked in them or read from their bytes; the confirmed end of the key is what makes them harmless."""
NAMES: dict[Role, tuple[str, str]] = {
    "terminal": (TERMINAL, "application/octet-stream"),
    "timing": (TIMING, "text/plain"),
    "recording": (RECORDING, "application/x-asciicast"),
    "log": (LOG, "application/x-ndjson"),
    "report": ("report.json", "application/json"),
    "session": ("session.jsonl", "application/x-ndjson"),
    "stdout": ("stdout.txt", "text/plain"),
    "stderr": ("stderr.txt", "text/plain"),
    "replay": ("replay.raw", "application/octet-stream"),
    "video": ("session.mp4", "video/mp4"),
    "screenshot": ("screenshot.png", "image/png"),
}
"""File name and media type of each role."""


class _File(NamedTuple):
    """One file that will be served."""

    path: Path
    arrived: str
    stage1: str
    """Keyed commitments."""
    manifests: tuple[str, ...] = ()
    """Their file names, in quarantine."""
    masked: tuple[tuple[Kind, int], ...] = ()


class Bundle:
    """Collects files by role."""

    def __init__(self, root: Path, run: str, known: Known, key: bytes) -> None:
        """`known` are the values that the harness handed into the machine, `key` makes the run's commitments."""
        self.spool, self.quarantine = places.spool(root) / run, places.quarantine(root) / run
        self.known, self.key = known, key
        self.doubts: list[str] = []
        """Why something could not be masked for certain, or not be proven clean."""
        self._archive = FolderStore(places.private(root) / "stage1")
        self._files: dict[Role, _File] = {}
        shutil.rmtree(self.quarantine, ignore_errors=True)
        self.quarantine.mkdir(parents=True, mode=0o700)

    def add(self, role: Role, data: bytes) -> bytes:
        """Takes `data` as it came out of the machine; what will be served of it."""
        name, _ = NAMES[role]
        arrived = committed(data, self.key).mark
        path = self.quarantine / name
        try:
            made = staged_bytes(data, self.known, self.key)
        except NotProven as error:
            self.doubts.append(f"{name}: {error}")
            return data
        path.write_bytes(made.served)
        if made.archived != made.served:
            (self.spool / f"{name}.stage1").write_bytes(made.archived)
        manifests = []
        for manifest in (made.credentials, made.presentation) if made.served != data else ():
            manifests.append(f"{name}.{manifest.stage}.json")
            (self.quarantine / manifests[-1]).write_bytes(canonical(manifest))
        kinds = Counter(edit.kind for manifest in (made.credentials, made.presentation) for edit in manifest.edits)
        stage1 = committed(made.archived, self.key).mark
        self._files[role] = _File(path, arrived, stage1, tuple(manifests), tuple(sorted(kinds.items())))
        return made.served

    def take(self, role: Role, path: Path) -> None:
        """Takes a file in which nothing is masked as it lies in the spool."""
        mark = self._commit_file(path)
        self._files[role] = _File(path, mark, mark)

    def recorded(self, started_at: int) -> None:
        """Takes the three files of a recorder that has ended, and makes the recording of what was masked."""
        raw, timing, cast = (self.spool / name for name in (TERMINAL, TIMING, RECORDING))
        if not raw.is_file():
            return
        arrived = self._commit_file(cast)
        data = raw.read_bytes()
        served = self.add("terminal", data)
        if "terminal" not in self._files:
            return
        shutil.copyfile(timing, self.quarantine / TIMING)
        self.take("timing", self.quarantine / TIMING)
        if served == data:
            shutil.copyfile(cast, self.quarantine / RECORDING)
        else:
            mend(self.quarantine, started_at)
        made = self._commit_file(self.quarantine / RECORDING)
        masked = self._files["terminal"].masked
        self._files["recording"] = _File(self.quarantine / RECORDING, arrived, made, (), masked)

    def logged(self) -> None:
        """Takes the journal, which nothing more is written to."""
        path = self.spool / LOG
        if path.is_file():
            self.add("log", path.read_bytes())

    def mentions(self, words: Iterable[bytes]) -> bool:
        """Whether the end of the terminal's bytes holds one of `words`."""
        with (self.spool / TERMINAL).open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - (1 << 20)))
            tail = file.read()
        return any(word in tail for word in words)

    def moments(self, errors: Sequence[str]) -> tuple[int | None, ...]:
        """When the served terminal first shows each of `errors`, in milliseconds since the agent's start."""
        terminal, timing = (self.quarantine / name for name in (TERMINAL, TIMING))
        if not errors or not timing.is_file():
            return (None,) * len(errors)
        return error_moments(terminal.read_bytes(), timing.read_bytes(), errors)

    def prove(self, checker: Checker, texts: Iterable[str]) -> None:
        """Has `checker` look at what is to be served, and at `texts` of the record; what it cannot prove is a doubt.

        Raises OSError or MachineError where there is no room for it.
        """
        (self.quarantine / "texts.txt").write_text("\n".join(texts), "utf-8", "replace")
        if not self.doubts:
            self.doubts += checker.doubts(self.known.values)

    def keep(self, store: FolderStore) -> tuple[dict[Role, Evidence], str]:
        """Puts what has its certificate into the store; what the record says of each file, and the certificate's
        digest. The archive of what is not served is filled first: a stage that is lost cannot be made again."""
        kept = {}
        for role, file in sorted(self._files.items()):
            name, media_type = NAMES[role]
            first = self.spool / f"{name}.stage1"
            if first.is_file():
                self._archive.put(first)
            kept[role] = Evidence(
                role=role,
                media_type=media_type,
                bytes=file.path.stat().st_size,
                digest=store.put(file.path),
                arrived=file.arrived,
                stage1=file.stage1,
                manifests=tuple(store.put(self.quarantine / one) for one in file.manifests),
                masked=dict(file.masked),
            )
        return kept, store.put(self.quarantine / CERTIFICATE)

    def leave(self) -> None:
        """Empties the quarantine."""
        shutil.rmtree(self.quarantine, ignore_errors=True)

    def _commit_file(self, path: Path) -> str:
        """As `committed`, in constant memory."""
        made = hmac.new(self.key, digestmod="sha256")
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                made.update(block)
        return f"hmac-sha256:{made.hexdigest()}"
