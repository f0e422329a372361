"""Measured checkouts whose evidence is complete, as a runner leaves it behind, and small ways to damage them."""

from __future__ import annotations

import codecs
import json
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from archive import places, records
from archive.canonical import canonical, digest
from archive.ledger import Ledger, ledger_path
from archive.plan import Job
from archive.record import Record
from tests.support.make import Change, Play, certified, make_record, make_root, passed

SESSION = [
    (1_000, b"$ pip install example\r\n"),
    (250_000, "\x1b[32m✓\x1b[0m installed\r\n".encode()),
    (900_000, "gr\xfc\xdfe ".encode()[:3]),
    (900_000, "gr\xfc\xdfe ".encode()[3:]),
    (2_500_000, b"\xff\xfe raw \x00 bytes </script> \x1b]52;c;aGk=\x07"),
    (61_000_001, "완료".encode()[:5]),
]
"""Time in microseconds and bytes of each read: characters cut by reads, stray bytes, and a cut one at the end."""
LOG = ["planned", "machine", "fetch", "agent", "stopped", "collect", "replay", "destroyed", "mask", "prove"]
MEDIA = {
    "terminal": "application/octet-stream",
    "timing": "text/plain",
    "recording": "application/x-asciicast",
    "log": "application/x-ndjson",
    "report": "application/json",
}


def checkout(
    folder: Path, *subjects: str, play: Play = lambda job: passed(), close: bool = True, **options: Any
) -> Path:
    """A measured cycle "first" with complete evidence; closed unless told otherwise."""
    root = make_root(folder, *subjects, play=evident(folder, play), evidence=False, **options)
    if close:
        ledger(root).close()
    return root


def evident(root: Path, play: Play) -> Play:
    """As `play`, with real files in the store behind each attempt that has evidence."""

    def played(job: Job) -> Change:
        change = dict(play(job))
        if "evidence" not in change:
            change |= certified(root, evidence(root, make_record(job, **change)))
        return change

    return played


def evidence(root: Path, record: Record, **instead: bytes) -> list[dict[str, Any]]:
    """The entries of a complete attempt over files that really lie in the store; `instead` replaces a role's bytes."""
    files = session(SESSION) | {"log": log(LOG, record.run)}
    if record.report is not None:
        files["report"] = canonical(record.report)
    return [stored(root, role, data) for role, data in (files | instead).items()]


def stored(root: Path, role: str, data: bytes) -> dict[str, Any]:
    source = root / ".argusic/making"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_bytes(data)
    kept = places.store(root).put(source)
    source.unlink()
    return {
        "role": role,
        "media_type": MEDIA.get(role, "application/octet-stream"),
        "bytes": len(data),
        "digest": kept,
        "arrived": "hmac-sha256:" + "0" * 64,
        "stage1": "hmac-sha256:" + "0" * 64,
        "manifests": [],
        "masked": {},
    }


def session(reads: Iterable[tuple[int, bytes]]) -> dict[str, bytes]:
    """Terminal, timing and recording of one session."""
    reads = list(reads)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    header = {"version": 2, "width": 120, "height": 40, "timestamp": 1_796_000_000, "env": {"TERM": "xterm-256color"}}
    cast = [json.dumps(header)]
    for at_us, data in reads:
        if text := decoder.decode(data):
            cast.append(event(at_us, text))
    if rest := decoder.decode(b"", final=True):
        cast.append(event(reads[-1][0], rest))
    return {
        "terminal": b"".join(data for _, data in reads),
        "timing": b"".join(b"%d %d\n" % (at_us, len(data)) for at_us, data in reads),
        "recording": "".join(line + "\n" for line in cast).encode(),
    }


def event(at_us: int, text: str) -> str:
    return f'[{at_us // 1_000_000}.{at_us % 1_000_000:06d}, "o", {json.dumps(text, ensure_ascii=False)}]'


def log(steps: Iterable[str], run: str = "") -> bytes:
    lines = ({"at_ms": number * 10, "step": step, "run": run} for number, step in enumerate(steps))
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def flipped(data: bytes, place: int) -> bytes:
    """`data` with one byte changed: a letter by its case, a space into a line break, and so on."""
    return data[:place] + bytes([data[place] ^ 0x20]) + data[place + 1 :]


def ledger(root: Path, cycle: str = "first") -> Ledger:
    return Ledger.read(root, cycle)


def made(root: Path, cycle: str = "first") -> list[Record]:
    """The records, in the order of the ledger."""
    return [records.read(path_of(root, run, cycle)) for run in ledger(root, cycle).entries]


def path_of(root: Path, run: str, cycle: str = "first") -> Path:
    return records.record_path(root, cycle, run)


def name_of(root: Path, run: str) -> str:
    """The record's file as a finding names it."""
    return path_of(root, run).relative_to(root).as_posix()


def rewrite(root: Path, change: Callable[[Record], Change | None], *, keep_order: bool = True) -> None:
    """A forger's work: changes records and makes a ledger over them whose chain is right; None drops a record."""
    before = ledger(root)
    ledger_path(root, "first").unlink()
    anew = Ledger.open(root, "first", before.plan)
    for run in before.entries:
        path = path_of(root, run)
        record = records.read(path)
        changes = change(record)
        path.unlink()
        if changes is None:
            continue
        data = canonical(merged(record, changes))
        path.write_bytes(data)
        anew.append(run, digest(data))
    if before.closed:
        anew.close()


def merged(record: Record, changes: Change) -> Record:
    """`record` with changed fields; nested ones as nested mappings."""

    def merge(data: dict[str, Any], new: Change) -> dict[str, Any]:
        inner = {
            k: merge(data[k], v) if isinstance(v, dict) and isinstance(data.get(k), dict) else v for k, v in new.items()
        }
        return data | inner

    return Record.model_validate_json(canonical(merge(record.model_dump(mode="json"), changes)))


def git(root: Path, *words: str) -> str:
    """Git in `root`, with a committer and no one's own configuration."""
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.org", "-c", "init.defaultBranch=main")
    calm = ("-c", "commit.gpgsign=false", "-c", "core.autocrlf=false", "-c", "core.hooksPath=/dev/null")
    done = subprocess.run(["git", *identity, *calm, *words], cwd=root, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def commit(root: Path, message: str = "change") -> str:
    git(root, "add", "-A", "--force", ".")
    git(root, "commit", "-q", "--allow-empty", "-m", message)
    return git(root, "rev-parse", "HEAD")
