"""The files of one attempt on their way from the spool to the store."""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from pathlib import Path

from archive.record import Evidence, Role
from archive.store import FolderStore
from runner.journal import LOG
from runner.masker import Masker
from runner.recorder import RECORDING, TERMINAL, TIMING, Recorder

PICTURES: tuple[Role, ...] = ("video", "screenshot")


class Bundle:
    """Collects files by role; everything is masked before it touches the disk."""

    def __init__(self, spool: Path, key: bytes, secret_values: Iterable[str]) -> None:
        self.spool, self.key = spool, key
        self._secrets = tuple(secret_values)
        self._files: dict[Role, tuple[Path, str, str, int]] = {}

    def recorded(self, recorder: Recorder) -> None:
        """Ends a recorder and takes its three files."""
        arrived = recorder.close()
        self._files["terminal"] = (self.spool / TERMINAL, "application/octet-stream", arrived, recorder.masked)
        self._take("timing", TIMING, "text/plain")
        self._files["recording"] = (self.spool / RECORDING, "application/x-asciicast", arrived, recorder.masked)

    def mended(self) -> None:
        """Takes the files of a recorder that was killed: the commitment is to what was left."""
        self._take("terminal", TERMINAL, "application/octet-stream")
        self._take("timing", TIMING, "text/plain")
        self._take("recording", RECORDING, "application/x-asciicast")

    def logged(self) -> None:
        """Takes the journal, which nothing more is written to."""
        self._take("log", LOG, "application/x-ndjson")

    def add(self, role: Role, media_type: str, data: bytes) -> bytes:
        """Takes `data` as it came out of the machine; what is kept, masked."""
        masker = Masker(self._secrets)
        masked = masker.whole(data)
        path = self.spool / f"{role}.kept"
        path.write_bytes(masked)
        self._files[role] = (path, media_type, self._commit(data), masker.count)
        return masked

    def take(self, role: Role, media_type: str, path: Path) -> None:
        """Takes a picture or video that was copied into the spool; nothing can be masked in it."""
        self._files[role] = (path, media_type, self._commit_file(path), 0)

    def mentions(self, words: Iterable[bytes]) -> bool:
        """Whether the end of the terminal's bytes holds one of `words`."""
        with (self.spool / TERMINAL).open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - (1 << 20)))
            tail = file.read()
        return any(word in tail for word in words)

    def survivors(self, *texts: str) -> int:
        """How many known values can still be read in the files, the journal included, or in `texts`."""
        if not self._secrets:
            return 0
        masker = Masker(self._secrets)
        # Whether a picture shows a known value cannot be read off its bytes: withholding it is another rule's part.
        kept = [path.read_bytes() for role, (path, *_) in self._files.items() if role not in PICTURES]
        kept.append((self.spool / LOG).read_bytes())
        return sum(masker.survivors(data) for data in (*kept, *(text.encode() for text in texts)))

    def keep(self, store: FolderStore) -> dict[Role, Evidence]:
        """Puts every file into the store; what the record says of each."""
        return {
            role: Evidence(
                role=role,
                media_type=media_type,
                bytes=path.stat().st_size,
                digest=store.put(path),
                arrived=arrived,
                masked_values=masked,
            )
            for role, (path, media_type, arrived, masked) in sorted(self._files.items())
        }

    def _take(self, role: Role, name: str, media_type: str) -> None:
        path = self.spool / name
        if path.is_file():
            self._files[role] = (path, media_type, self._commit_file(path), 0)

    def _commit(self, data: bytes) -> str:
        return f"hmac-sha256:{hmac.digest(self.key, data, 'sha256').hex()}"

    def _commit_file(self, path: Path) -> str:
        """As `_commit`, in constant memory."""
        made = hmac.new(self.key, digestmod="sha256")
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                made.update(block)
        return f"hmac-sha256:{made.hexdigest()}"
