"""The time stamps of a closed ledger, held against it and against the authority that signed them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from archive import timestamps
from archive.canonical import canonical, digest
from archive.errors import ArgusicError
from archive.ledger import Ledger
from archive.timestamps import Stamp, Unproven
from audit.finding import Checked, Finding, explained, place


def stamped(
    root: Path, cycle: str, ledger: Ledger | None, authority: str | None, checked: Checked, words: list[str]
) -> Iterator[Finding]:
    """What is wrong with the stamps of `cycle`. `authority` is somebody's own PEM text; without it the certificates
    that lie beside each stamp are taken. Raises DataError where `authority` holds none."""
    if authority is not None:
        timestamps.certificates(authority)
    folder = timestamps.folder(root, cycle)
    there = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    try:
        for path, stamp in timestamps.each(root, cycle):
            there -= {path.name, path.with_suffix(".tsr").name}
            problem = _problem(path, cycle, stamp, ledger, authority)
            if problem:
                yield Finding("verify", place(root, path), problem)
                continue
            checked["time stamps"] += 1
            under = "the given authority" if authority is not None else f"authority {', '.join(stamp.fingerprints)}"
            words.append(f"stamped: {stamp.at} by {stamp.by}, under {under}")
    except ArgusicError as error:
        yield from explained("verify", root, error)
        return
    for name in sorted(there):
        yield Finding("verify", place(root, folder / name), "belongs to no time stamp")


def _problem(path: Path, cycle: str, stamp: Stamp, ledger: Ledger | None, authority: str | None) -> str | None:
    if canonical(stamp) != path.read_bytes():
        return "is not in canonical form"
    if stamp.cycle != cycle:
        return f"is of cycle {stamp.cycle}"
    if ledger is not None and not (ledger.closed and ledger.head == stamp.head):
        return "stamps another ledger than the one that is here"
    answer = path.with_suffix(".tsr")
    try:
        with answer.open("rb") as file:
            data = file.read(timestamps.MOST_BYTES + 1)
        if digest(data) != stamp.response:
            return f"{answer.name} was changed"
        if timestamps.fingerprints(stamp.authority) != stamp.fingerprints:
            return "states other fingerprints than those of its certificates"
        said = timestamps.check(data, stamp.head, stamp.authority if authority is None else authority)
    except OSError as error:
        return f"{answer.name}: {error.strerror or 'cannot be read'}"
    except Unproven as error:
        return f"the time stamp {error}"
    except ArgusicError as error:
        return str(error)
    return (
        None if said == (stamp.at, stamp.by) else f"says {stamp.at} by {stamp.by}; the answer says {' by '.join(said)}"
    )
