"""One attempt: a state machine whose every step is written to the journal before it is taken.

planned → key → fetch → machine → agent → stopped → collect → replay → destroyed → key-closed → mask → prove → record
"""

from __future__ import annotations

import errno
import shutil
import signal
import time
import traceback
from collections.abc import Callable
from typing import Any

from archive.canonical import canonical
from archive.errors import ArgusicError, MachineError
from archive.plan import Job
from archive.reasons import Reason
from archive.record import Incident, Record
from archive.report import MAX_BYTES, ReportRefused, VerifiedHow, read_report
from runner import claims as claim
from runner.agents import adapter, program_of
from runner.agents.reading import Reading
from runner.agents.work import Control, WithModel, Work
from runner.attempt_key import attempt_key
from runner.checking import Checker
from runner.condition import FREE_BYTES, Condition
from runner.evidence import Bundle
from runner.film import collect_film
from runner.journal import Journal
from runner.machine import INSTRUCTIONS, REPORT, spec
from runner.masking import Known
from runner.proving import proven
from runner.recorder import Recorder, mend
from runner.sandbox import PROJECT, FileRefused, Machine, Mount
from runner.sources import FetchFailed, source
from runner.sources.prepare import prepare
from runner.spool import Begun, claimed, commitment_key, finish, remember, remove
from runner.story import Story
from runner.task import task
from runner.watch import Ended, Halt, drain, run, watch

CLOCK_DRIFT_MS = 2000
KILLED = 128 + signal.SIGKILL
"""How a program's starter says that the program was killed; with an event of memory before, it was for that."""
NETWORK_TROUBLE = (
    *(b"name resolution", b"ENOTFOUND", b"EAI_AGAIN", b"unreachable", b"ECONNREFUSED", b"ETIMEDOUT"),
    *(b"CERTIFICATE", b"certificate verify failed"),
)
"""Words in a recording that make the harness ask whether the network was there; they decide nothing themselves."""


class ReportLost(ArgusicError):
    """The agent had ended, and its report could not be copied out: our failure, not the agent's."""


class Attempt:
    """Carries one job out. `make` returns its record whatever happens; the machine is gone on every way out."""

    def __init__(
        self,
        condition: Condition,
        job: Job,
        halt: Halt,
        secret_values: tuple[str, ...] = (),
        again: str | None = None,
    ) -> None:
        """`secret_values` are handed into the machine by the harness: they are masked wherever they appear. `again` is
        the run that is made once more."""
        self.again = again
        self.condition, self.job, self.halt, self.secret_values = condition, job, Halt(halt), secret_values
        self.agent, self.subject = condition.agents[job.agent], condition.subjects[job.subject]
        self.story = Story(condition, job, int(time.time()))
        self.reading: Reading | None = None

    def make(self) -> Record:
        """Makes the attempt and keeps its evidence. The record is returned, not saved; its spool stays until it is."""
        story = self.story
        begun = Begun(
            schema_version=1,
            cycle=self.condition.cycle.id,
            job=self.job.id,
            run=story.run,
            started_at=story.started_at,
            again=self.again,
        )
        with claimed(self.condition.root, begun) as self.spool:
            self.journal = Journal(self.spool)
            remember(self.spool, self.secret_values)
            key = commitment_key(self.condition.root, story.run)
            self.bundle = Bundle(self.condition.root, story.run, Known(self.secret_values), key)
            self.journal.step("planned", run=story.run, job=self.job.id, subject=self.job.subject, agent=self.job.agent)
            self.journal.step("key", kind=self.agent.model.key if self.agent.model else "none")
            try:
                seconds = self.job.budget_minutes * 60
                self.key = attempt_key(self.condition, self.agent, self.spool, story.run, seconds)
            except BaseException:
                remove(self.spool)  # Nothing began: the attempt stays due.
                raise
            with self.key:
                record = self._recorded()
            finish(self.spool, canonical(record))
            return record

    def _recorded(self) -> Record:
        """Everything after the key is there and before the record is kept."""
        self.story.key = self.key.key
        checker = Checker(self.bundle.quarantine)
        try:
            self._guarded(self._made)
            self._guarded(self._close_key)
            return self._settled(checker)
        finally:
            checker.end()

    def _close_key(self) -> None:
        """The key ends on every path, before anything is masked; then its account is asked what the end was."""
        story, reading = self.story, self.reading
        story.key = self.key.close()
        self.journal.step("key-closed", kind=story.key.kind, confirmed=story.key.deletion_confirmed)
        if reading is not None:
            story.take_end(reading, self.agent.harness)

    def _made(self) -> None:
        """Everything up to the machine's end. The key's value is kept for whoever has to mask it before any machine
        has it."""
        if self.key.secrets:
            values = (*self.secret_values, *self.key.secrets)
            remember(self.spool, values)
            self.bundle.known = Known(values)
        self._fetch()
        self.work = self._work()
        try:
            self._in_machine()
        finally:
            self.work.end()

    def _guarded(self, part: Callable[[], None]) -> None:
        """Carries a part out; trouble of ours in it becomes a reason, never an outcome."""
        story = self.story
        try:
            part()
        except FetchFailed as error:
            story.trouble = (error.reason, str(error))
        except ReportLost as error:
            story.trouble = (Reason.HARNESS_REPORT_LOST, str(error))
        except MachineError as error:
            story.trouble = (Reason.INFRA_MACHINE, str(error))
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            story.trouble = (Reason.INFRA_DISK if full else Reason.HARNESS_ERROR, str(error))
        except ArgusicError as error:
            story.trouble = (Reason.HARNESS_ERROR, str(error))
        except Exception as error:  # noqa: BLE001 - a defect of ours spoils this attempt, recorded, and no other
            story.trouble = (Reason.HARNESS_ERROR, repr(error))
            self.journal.note(traceback.format_exc())
        if self.halt.reason is not None and story.ended.by == "harness":
            story.trouble = (self.halt.reason, self.halt.detail)

    def _fetch(self) -> None:
        self.journal.step("fetch", subject=self.job.subject)
        if shutil.disk_usage(self.condition.root).free < FREE_BYTES:
            raise OSError(errno.ENOSPC, f"less than {FREE_BYTES >> 30} GiB free on the runner")
        began = time.monotonic()
        kind = source(self.subject.source_type)
        folder = self.spool / "subject"
        self.brief = kind.fetch(self.subject, self.condition.sandbox, self.condition.extra_ca, folder)
        self.story.incidents += self.brief.incidents
        self.story.fetched = self.brief.fetched
        self.story.fetch_ms = int((time.monotonic() - began) * 1000)

    def _in_machine(self) -> None:
        self.journal.step("machine", sandbox=self.condition.sandbox.name)
        self.journal.sound()
        sandbox = self.condition.sandbox
        machine = sandbox.start(spec(sandbox, self._mounts(), self.condition.extra_ca, self.condition.limits))
        try:
            prepare(machine, self.brief, self.halt)
            self.work.ready(machine)
            self._agent(machine)
            if self.story.ended.by != "harness":
                self._collect(machine)
                for kind, detail in collect_film(machine, self.used, self.bundle, self.halt):
                    self._incident(kind, detail)
                self._replay(machine)
        finally:
            machine.destroy()
            self.journal.step("destroyed")
        self.journal.sound()
        self._ask_network()

    def _work(self) -> Work:
        """What drives the agent. The shared key of an agent never leaves this process."""
        model = self.agent.model
        if model is None:
            return Control(self.agent, adapter(self.agent))
        ready = self.condition.programs.get(self.agent.id)
        self.story.program = ready.what if ready else None
        return WithModel(
            program_of(self.agent),
            model,
            prompt=(INSTRUCTIONS / f"{self.agent.instructions}.md").read_text("utf-8"),
            installed=ready,
            key=next(iter(self.key.secrets), None),
            extra_ca=self.condition.extra_ca,
        )

    def _agent(self, machine: Machine) -> None:
        """The agent's own time: the budget runs from here, and from nowhere before."""
        story = self.story
        self.journal.step("agent", budget_minutes=self.job.budget_minutes)
        recorder = Recorder(self.spool, self.bundle.key, story.started_at)
        try:
            session = self.work.begin(machine, self.halt)
            story.agent_started = True
            began = time.monotonic()
            seconds, most = self.job.budget_minutes * 60.0, self.condition.ceiling_bytes
            story.ended = watch(session, recorder, seconds=seconds, most_bytes=most, halt=self.halt)
            recorder.sync()  # Whatever happens from here, the agent's own time is on the disk.
            self.journal.step("stopped", by=story.ended.by, exit=story.ended.exit, agent_ms=story.ended.ms)
            if self.agent.model and story.ended.exit == KILLED and session.memory_events:
                story.ended = story.ended._replace(by="memory-limit")
            used = self.used = machine.stop()
            drain(session, recorder)
        except BaseException:
            if story.agent_started and not story.ended.ms:
                story.ended = Ended("harness", None, int((time.monotonic() - began) * 1000))
            raise
        finally:
            recorder.close()
        ended = [event.bytes for event in session.memory_events if not event.main]
        if ended:
            times = "once" if len(ended) == 1 else f"{len(ended)} times"
            self._incident("memory-limit", f"a process was ended {times}, first at {ended[0]} bytes in the machine")
        if used.disk_full:
            self._incident("disk-limit", "the machine's disk was full at some moment")
        if used.peak_processes >= self.condition.limits.processes:
            self._incident("process-limit", f"{used.peak_processes} processes at some moment")
        suspended = self.journal.suspended_ms()
        if suspended > CLOCK_DRIFT_MS:
            self._incident("suspended", f"the runner was suspended for {suspended} ms, which no budget counts")
        drift = abs((time.time() - story.started_at) * 1000 - self.journal.ms() - suspended)
        if drift > CLOCK_DRIFT_MS:
            self._incident("clock-jump", f"the wall clock moved by {int(drift)} ms against the monotonic one")

    def _collect(self, machine: Machine) -> None:
        """Copies out what the agent left, before anything of the harness runs on the same disk."""
        self.journal.step("collect")
        story = self.story
        self.commands, self.reading = self.work.left(machine, self.bundle, story.ended, self.journal.note)
        try:
            data = machine.read(REPORT, MAX_BYTES)
            if data is None:
                story.report_state = "missing"
                return
            data = self.bundle.add("report", data)
            # An agent that a provider cut off, or a limit of its model, came to no end of its own.
            cut_off = self.reading is not None and self.reading.condition is not None
            if story.ended.by in ("agent", "budget") and not cut_off:
                story.report = read_report(data)
                story.report_state = "read"
        except (FileRefused, ReportRefused) as error:
            story.report_state = "refused"
            self._incident("report-refused", str(error))
        except (MachineError, OSError) as error:
            raise ReportLost(str(error)) from None
        if story.report and len(story.report.errors) != story.report.errors_encountered:
            detail = f"{story.report.errors_encountered} errors reported, {len(story.report.errors)} listed"
            self._incident("report-counts-differ", detail)

    def _replay(self, machine: Machine) -> None:
        """Runs the verifying command once more, in fresh processes on the same disk, without the key."""
        self.journal.step("replay")
        report = self.story.report
        if report is None:
            return
        replayed = None
        if isinstance(report.verified_how, VerifiedHow) and self.story.ended.by == "agent":
            began = time.monotonic()
            session = machine.exec(["sh", "-c", report.verified_how.command], PROJECT)
            seconds, most = claim.REPLAY_SECONDS, claim.REPLAY_BYTES
            ended, output = run(session, seconds=seconds, most_bytes=most, halt=self.halt)
            machine.stop()
            self.story.replay_ms = int((time.monotonic() - began) * 1000)
            output = self.bundle.add("replay", output)
            replayed = (ended, output.decode(errors="replace"))
        self.story.claims = claim.claims(report, self.commands, replayed)

    def _ask_network(self) -> None:
        """A failure with words of network trouble in it: was the network there? If not, it was no agent's failure."""
        story = self.story
        if story.ended.by != "agent" or (story.report is not None and story.report.launched):
            return
        if self.bundle.mentions(NETWORK_TROUBLE):
            kind = source(self.subject.source_type)
            if not kind.reachable(self.subject, self.condition.sandbox, self.condition.extra_ca):
                story.trouble = (Reason.INFRA_NETWORK, "the network went away during the attempt")

    def _settled(self, checker: Checker) -> Record:
        """The record; where even making it fails, one that says so and holds nothing from the machine."""
        try:
            record = self._proven(checker)
            return Record.model_validate_json(canonical(record))
        except Exception as error:  # noqa: BLE001 - whatever it was, the attempt must not be lost
            full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
            reason = Reason.INFRA_DISK if full or isinstance(error, MachineError) else Reason.HARNESS_ERROR
            empty = Story(self.condition, self.job, self.story.started_at)
            empty.trouble = (reason, repr(error)[:500])
            return empty.record({}, None, (), self.journal.ms())

    def _proven(self, checker: Checker) -> Record:
        """Masks what was recorded, has it proven clean, and stores it only then."""
        self.journal.step("mask")
        if self.story.trouble is not None and self.story.trouble[0] is Reason.INFRA_DISK:
            mend(self.spool, self.story.started_at)  # The recorder's files were cut off, each at another place.
        self.bundle.recorded(self.story.started_at)
        if self.story.report is not None:
            self.story.error_ms = self.bundle.moments([error.what for error in self.story.report.errors])
        self.journal.step("prove")
        self.journal.close()
        self.bundle.logged()
        return proven(self.story, self.bundle, checker, self.journal.ms)

    def _mounts(self) -> tuple[Mount, ...]:
        folder = self.spool / "task"
        folder.mkdir(mode=0o755)
        return (*task(folder, self.job, self.brief, self.agent.instructions), *self.work.mounts(folder))

    def _incident(self, kind: Any, detail: str) -> None:
        detail = detail.encode("utf-8", "replace").decode()
        self.story.incidents.append(Incident(kind=kind, detail=detail[:2000]))
        self.journal.note(detail[:2000], incident=kind)
