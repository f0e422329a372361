"""Closing attempts whose runner was killed: what they recorded is kept, and none of them is forgotten."""

from __future__ import annotations

import time
from pathlib import Path

from archive import records
from archive.errors import ArgusicError
from archive.pools import read_json
from archive.reasons import Reason
from archive.record import Record
from runner.checking import Checker
from runner.condition import Condition, job_of
from runner.evidence import Bundle
from runner.journal import Journal
from runner.keys.lease import close_left
from runner.masking import Known
from runner.proving import proven
from runner.recorder import mend
from runner.spool import RECORD, Begun, abandoned, commitment_key, recalled, remove, set_aside
from runner.story import Story


def recover(condition: Condition) -> list[str]:
    """Saves a record for each attempt of this cycle that a dead process left in the spool.

    An attempt that had its record is saved as it is; any other becomes `infra:runner-lost`, what it recorded masked
    and proven clean like any. What cannot be closed is set aside, and the answer says where. Machines ended with their
    process.
    """
    notes: list[str] = []
    with abandoned(condition.root) as found:
        for folder, begun in found:
            if begun is None and not any(folder.glob("*.*")):
                remove(folder)  # Cut off before it had begun.
            elif begun is None:
                notes.append(f"an attempt that cannot be read was set aside: {set_aside(condition.root, folder)}")
            elif begun.again is not None:
                notes.append(_forget(condition, folder, begun.again))
            elif begun.cycle == condition.cycle.id:
                try:
                    _close(condition, folder, begun)
                    remove(folder)
                except ArgusicError as error:
                    notes.append(f"an attempt was set aside: {set_aside(condition.root, folder)}: {error}")
    return notes


def forget_reproductions(condition: Condition) -> list[str]:
    """Removes attempts to reproduce that a dead process left in the spool; what they were, in words."""
    with abandoned(condition.root) as found:
        return [_forget(condition, folder, begun.again) for folder, begun in found if begun and begun.again]


def _forget(condition: Condition, folder: Path, of: str) -> str:
    """It counts nowhere, and is made anew by whoever wants it: only its key must not live on."""
    values = recalled(folder)
    close_left(folder, condition.environ, values[-1] if values else None)
    remove(folder)
    return f"an attempt to reproduce run {of[:8]} was cut off, and is gone"


def _close(condition: Condition, folder: Path, begun: Begun) -> None:
    if records.record_path(condition.root, begun.cycle, begun.run).exists():
        return
    if (folder / RECORD).is_file():
        records.save(condition.root, read_json(Record, folder / RECORD))
        return
    story = Story(condition, job_of(condition.plan, begun.job), begun.started_at)
    values = recalled(folder)
    # The last value is the key's own; without it no machine had the key.
    left = close_left(folder, condition.environ, values[-1] if values else None)
    story.key = left or story.key
    story.trouble = (Reason.INFRA_RUNNER_LOST, "the runner's process ended in the middle of the attempt")
    mend(folder, begun.started_at)
    journal = Journal(folder)
    journal.note("closed by a later start: the process of this attempt is gone")
    journal.close()
    bundle = Bundle(condition.root, begun.run, Known(values), commitment_key(condition.root, begun.run))
    checker = Checker(bundle.quarantine)
    try:
        bundle.recorded(begun.started_at)
        bundle.logged()
        record = proven(story, bundle, checker, lambda: _since(begun))
    finally:
        checker.end()
    records.save(condition.root, record)


def _since(begun: Begun) -> int:
    """Milliseconds since an attempt began; the wall clock is all that is left to tell."""
    return max(0, int((time.time() - begun.started_at) * 1000))
