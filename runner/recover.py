"""Closing attempts whose runner was killed: what they recorded is kept, and they are invalid, never forgotten."""

from __future__ import annotations

import time

from archive import records
from archive.reasons import Reason
from archive.record import Record
from runner.condition import Condition, job_of
from runner.evidence import Bundle
from runner.journal import Journal
from runner.recorder import mend
from runner.spool import abandoned, commitment_key, remove
from runner.story import Story


def recover(condition: Condition) -> list[Record]:
    """Records for the attempts of this cycle that a dead process left in the spool; each is saved before it is listed.

    Their machines ended with the process. The recorder masks before it writes, so what lies in the spool is masked.
    """
    closed: list[Record] = []
    with abandoned(condition.root) as found:
        for folder, begun in found:
            if begun is None:
                remove(folder)
                continue
            if begun.cycle != condition.cycle.id:
                continue
            if not records.record_path(condition.root, begun.cycle, begun.run).exists():
                story = Story(condition, job_of(condition.plan, begun.job), begun.started_at)
                story.trouble = (Reason.INFRA_RUNNER_LOST, "the runner's process ended in the middle of the attempt")
                bundle = Bundle(folder, commitment_key(condition.root, begun.run), ())
                if mend(folder, begun.started_at):
                    story.agent_started = True
                    bundle.mended()
                journal = Journal(folder)
                journal.note("closed by a later start: the process of this attempt is gone")
                journal.close()
                bundle.logged()
                total_ms = max(0, int((time.time() - begun.started_at) * 1000))
                record = story.record(bundle.keep(condition.store), 0, total_ms)
                records.save(condition.root, record)
                closed.append(record)
            remove(folder)
    return closed
