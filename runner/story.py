"""What is known of an attempt while it goes on, and the record that it becomes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from archive.plan import Job, run_id
from archive.reasons import Limit, Reason, Validity
from archive.record import (
    Claims,
    Evidence,
    Fetched,
    Incident,
    Key,
    Program,
    Record,
    ReportState,
    Role,
    Times,
)
from archive.report import Report
from archive.usage import UsageReading
from runner.agents.reading import Reading
from runner.agents.trouble import settled
from runner.condition import Condition
from runner.ruling import rule
from runner.watch import Ended


@dataclass
class Story:
    """Facts of one attempt, filled in step by step; what stays as it is was not reached."""

    condition: Condition
    job: Job
    started_at: int
    """Wall-clock time in whole seconds."""
    ended: Ended = field(default_factory=lambda: Ended("harness", None, 0))
    agent_started: bool = False
    incidents: list[Incident] = field(default_factory=list)
    trouble: tuple[Reason, str] | None = None
    """What went wrong with our instrument."""
    fetched: tuple[Fetched, ...] = ()
    report: Report | None = None
    report_state: ReportState = "not-reached"
    error_ms: tuple[int | None, ...] = ()
    claims: Claims | None = None
    fetch_ms: int | None = None
    replay_ms: int | None = None
    program: Program | None = None
    usage: UsageReading = field(default_factory=UsageReading.unknown)
    key: Key = field(default_factory=Key.none)

    @property
    def key_gone(self) -> bool:
        """Whether no key can be alive that this attempt's evidence might still show."""
        return self.key.kind != "own" or bool(self.key.deletion_confirmed)

    @property
    def run(self) -> str:
        """Id of the attempt."""
        return run_id(self.condition.cycle.id, self.job.id)

    def take_end(self, reading: Reading, program: str) -> None:
        """What the output of the agent's `program` says of usage and end, once the key's own account is known."""
        self.usage = reading.usage
        if self.trouble is not None or self.ended.by not in ("agent", "budget"):
            return
        condition = settled(reading.condition, self.key)
        if condition is Limit.KEY_CAP:
            self.ended = self.ended._replace(by="key-cap")
        elif condition is Limit.MODEL_CONTEXT:
            self.ended = self.ended._replace(by="model-context")
        elif isinstance(condition, Reason):
            self.trouble = (condition, f"{program} ended with: {reading.terminal or 'no word of its own'}")
        elif self.ended.by == "agent" and not reading.complete:
            self.trouble = (Reason.AGENT_CRASHED, f"{program} broke off (exit {self.ended.exit})")

    def texts(self) -> list[str]:
        """Everything in the record that came out of the machine."""
        parts = [self.report, self.claims, *self.incidents]
        told = [part.model_dump_json() for part in parts if part is not None]
        return [*told, self.trouble[1]] if self.trouble else told

    def record(
        self, kept: dict[Role, Evidence], certificate: str | None, doubts: Sequence[str], total_ms: int
    ) -> Record:
        """The record, ruled by the order of doubt. `kept` is the stored evidence, `doubts` why it is not clean."""
        condition, job = self.condition, self.job
        ruling = rule(
            condition.edition,
            trouble=self.trouble,
            kept=set(kept),
            doubts=doubts,
            ended_by=self.ended.by,
            report=self.report,
        )
        # A withheld attempt shows nothing that came out of the machine.
        shown = ruling.validity is not Validity.WITHHELD
        return Record(
            schema_version=1,
            run=self.run,
            cycle=condition.cycle.id,
            job=job.id,
            purpose=job.purpose,
            subject=job.subject,
            source_type=job.source_type,
            agent=job.agent,
            agent_digest=condition.agent_digests[job.agent],
            attempt=job.attempt,
            edition=condition.edition.version,
            tier=job.tier,
            budget_minutes=job.budget_minutes,
            validity=ruling.validity,
            reason=ruling.reason,
            reason_detail=ruling.detail[:2000] if ruling.detail else None,
            outcome=ruling.outcome,
            ended_by=self.ended.by,
            agent_exit=self.ended.exit,
            incidents=tuple(self.incidents) if shown else (),
            environment=condition.environment,
            times=Times(
                started_at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.started_at)),
                fetch_ms=self.fetch_ms,
                agent_ms=self.ended.ms if self.agent_started else None,
                replay_ms=self.replay_ms,
                total_ms=total_ms,
            ),
            fetched=self.fetched,
            report_state=self.report_state if shown else "not-reached",
            report=self.report if shown else None,
            error_ms=self.error_ms if shown and self.report else (),
            claims=self.claims if shown else None,
            program=self.program,
            usage=self.usage,
            key=self.key,
            evidence=tuple(kept.values()) if shown else (),
            certificate=certificate if shown and kept else None,
        )
