"""Commands of this room: attempt run, cycle run, cycle status, doctor, play; evidence text, release."""

from __future__ import annotations

import json
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from archive import places, pools, records
from archive.errors import DataError, Unfinished, printable
from archive.reasons import Reason
from runner.agents import startable
from runner.condition import condition, job_of
from runner.cycle import Finished, run_cycle
from runner.progress import Shown, narrator
from runner.sandbox.choose import Chosen, Kind, choose
from runner.watch import Halt

ExtraCa = Annotated[
    Path | None,
    typer.Option(
        envvar="ARGUSIC_EXTRA_CA",
        help="PEM bundle that machines trust besides their own: for networks that intercept TLS.",
    ),
]
SandboxKind = Annotated[
    Kind, typer.Option("--sandbox", help="What makes the disposable machines; auto: docker where an engine answers.")
]
AtOnce = Annotated[int, typer.Option("--jobs", "-j", min=1, max=64, help="Attempts at the same time.")]
RELEASED = {"deletion-confirmed": "released: its key is deleted", "expired": "released: its key has expired"}
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON lines.")]


def cycle_run(
    ctx: typer.Context,
    cycle: str,
    at_once: AtOnce = 2,
    sandbox: SandboxKind = Kind.AUTO,
    extra_ca: ExtraCa = None,
    as_json: AsJson = False,
) -> None:
    """Make the attempts of CYCLE that are due, and go on where an earlier run stopped."""
    chosen = chosen_for(ctx.obj, cycle, sandbox)
    finish(measure(ctx.obj, cycle, chosen, at_once, extra_ca, Halt(), as_json))


def chosen_for(root: Path, cycle: str, kind: Kind) -> Chosen:
    """The sandbox for a cycle on this runner; it says on standard error which one it took and why.

    Raises ArgusicError where an agent of the cycle cannot be started.
    """
    accepted = pools.cycle(root, cycle)
    for name, agent in sorted(pools.agents(root).items()):
        if name in accepted.agents:
            startable(agent)  # An agent that cannot be started is named before anything is.
    if kind is Kind.AUTO and len(accepted.sandboxes) == 1:
        kind = Kind(accepted.sandboxes[0])
    chosen = choose(kind, root, accepted.image)
    print(printable(f"sandbox: {chosen.why}"), file=sys.stderr)
    return chosen


def measure(
    root: Path, cycle: str, chosen: Chosen, at_once: int, extra_ca: Path | None, halt: Halt, as_json: bool
) -> Finished:
    """`cycle run`, for commands that go on after it."""
    ready = condition(root, cycle, chosen.sandbox, extra_ca)
    with ended_by_signals(halt), narrator(Shown.JSON if as_json else Shown.PERSON) as tell:
        return run_cycle(ready, at_once, halt, tell)


def finish(finished: Finished) -> None:
    """Turns the end of a cycle's run into an exit status: 0 done, 5 attempts left, 130 stopped by a person."""
    for note in finished.notes:
        print(printable(f"note: {note}"), file=sys.stderr)
    if finished.halted is None:
        return
    reason, detail = finished.halted
    message = f"stopped ({reason}): {detail}. {finished.made} attempts were made and recorded, {finished.left} are left"
    if reason is Reason.INFRA_CANCELLED:
        print(printable(message), file=sys.stderr)
        raise typer.Exit(130)
    raise Unfinished(f"{message}; the same command goes on with them")


def attempt_run(
    ctx: typer.Context, cycle: str, job: str, sandbox: SandboxKind = Kind.AUTO, extra_ca: ExtraCa = None
) -> None:
    """Make the one attempt of JOB (an id, or its beginning, from the plan of CYCLE)."""
    ready = condition(ctx.obj, cycle, chosen_for(ctx.obj, cycle, sandbox).sandbox, extra_ca)
    wanted = job_of(ready.plan, job)
    with ended_by_signals(halt := Halt()), narrator(Shown.PERSON) as tell:
        finish(run_cycle(ready, 1, halt, tell, only=wanted.id))


def reproduce(ctx: typer.Context, run: str, extra_ca: ExtraCa = None, as_json: AsJson = False) -> None:
    """Make the attempt of RUN once more, beside it, and compare the two; exit 1 where the result is another one."""
    from runner.reproduce import reproduce as again
    from runner.reproduce import sandbox_of
    from scoring.comparison import compared

    record = records.find(ctx.obj, run)
    startable(pools.agents(ctx.obj)[record.agent])
    with ended_by_signals(halt := Halt()):
        made = again(ctx.obj, record, sandbox_of(ctx.obj, record), extra_ca, halt)
    found = compared(record, made.record, pools.editions(ctx.obj))
    if as_json:
        facts = {fact.name: {"before": fact.before, "now": fact.now} for fact in found.facts}
        said = {"of": made.of, "run": made.record.run, "number": made.number, "agrees": found.agrees}
        print(json.dumps(said | {"apart": found.apart, "facts": facts}))
    else:
        width = max(len(fact.before) for fact in found.facts)
        for fact in found.facts:
            mark = " " if fact.same else "≠"
            print(printable(f"{mark} {fact.name:12} {fact.before[:60]:{min(width, 60)}}  {fact.now[:60]}"))
        where = f"first apart: {found.apart}" if found.apart else "nowhere apart"
        print(f"{'the same result' if found.agrees else 'ANOTHER RESULT'}; {where}; kept as run {made.record.run[:8]}")
    if not found.agrees:
        raise typer.Exit(1)


def cycle_status(ctx: typer.Context, cycle: str, as_json: AsJson = False) -> None:
    """Say how far CYCLE is: attempts made, due and possible, and how the made ones ended."""
    from runner.spending import Spending, usd
    from scoring.due import due, result_of

    declared = pools.cycle(ctx.obj, cycle)
    edition = pools.editions(ctx.obj)[declared.edition]
    plan = pools.plan(ctx.obj, cycle)
    if plan is None:
        raise DataError(pools.plan_path(ctx.obj, cycle), "", f"no plan yet; make one: argusic cycle plan {cycle}")
    spent = Spending(declared, edition, pools.agents(ctx.obj))
    made = {}
    for record in records.each(ctx.obj, cycle):
        made[record.job] = result_of(record)
        spent.add(record.key)
    left = [job for job in due(plan.jobs, made, edition) if job.id not in made]
    counts = Counter(str(result.outcome or result.reason) for result in made.values())
    if as_json:
        money = {"known": spent.known, "unknown": spent.unknown, "due_at_most": spent.most(left), "cap": spent.cap}
        said = {"cycle": cycle, "made": len(made), "due": len(left), "results": dict(sorted(counts.items()))}
        print(json.dumps(said | {"spent_micro_usd": money}))
        return
    print(f"{cycle}: {len(made)} attempts made, {len(left)} due now, {len(plan.jobs)} possible in all")
    for name, count in sorted(counts.items()):
        print(f"  {count:6} {name}")
    if spent.cap is not None:
        gone = usd(spent.known) + (f", and at most {usd(spent.unknown)} that nobody could say" if spent.unknown else "")
        print(f"  spent {gone}, of {usd(spent.cap)}; the attempts due now may spend {usd(spent.most(left))} at most")


def doctor(
    ctx: typer.Context, sandbox: SandboxKind = Kind.AUTO, extra_ca: ExtraCa = None, as_json: AsJson = False
) -> None:
    """Say what this computer can and cannot guarantee; exit 1 where an attempt could not be made."""
    from runner.doctor import examine

    found = examine(ctx.obj, sandbox, extra_ca)
    for finding in found:
        if as_json:
            print(json.dumps(finding._asdict()))
        else:
            mark = "yes" if finding.good else "NO" if finding.needed else "no"
            print(f"{mark:3}  {finding.name}: {finding.said}")
    if not all(finding.good or not finding.needed for finding in found):
        raise typer.Exit(1)


def play(
    ctx: typer.Context,
    run: str,
    speed: Annotated[float, typer.Option(min=0.01, help="How many times faster than it was.")] = 1.0,
    idle: Annotated[float, typer.Option(min=0.0, help="Longest pause in seconds.")] = 2.0,
) -> None:
    """Play the recording of RUN (an id, or its beginning) in this terminal."""
    from runner.player import play as play_file

    def write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    with recording_of(ctx.obj, run) as path:
        play_file(path, write, speed=speed, idle=idle)


def evidence_text(ctx: typer.Context, run: str) -> None:
    """Print the recording of RUN as plain text, without colours or anything that steers a terminal."""
    from runner.transcript import lines

    with recording_of(ctx.obj, run) as path:
        for line in lines(path):
            sys.stdout.write(line + "\n")


@contextmanager
def recording_of(root: Path, run: str) -> Iterator[Path]:
    """A file with the recording of a run, while it is needed. Raises DataError where it is not here."""
    record = records.find(root, run)
    evidence = record.file("recording")
    with tempfile.TemporaryDirectory(prefix="argusic-") as folder:
        path = Path(folder) / "recording.cast"
        if evidence is None or not places.store(root).fetch(evidence.digest, path, evidence.bytes):
            missing = records.record_path(root, record.cycle, record.run)
            raise DataError(missing, "evidence", "its recording is not here")
        yield path


def evidence_release(ctx: typer.Context, cycle: str, as_json: AsJson = False) -> None:
    """Let the evidence out that waits for the end of its attempt's key; exit 5 while some waits on."""
    from runner.release import release

    pools.cycle(ctx.obj, cycle)
    found = list(release(ctx.obj, cycle, gone=lambda _: False))
    for one in found:
        if as_json:
            print(json.dumps(one._asdict()))
        else:
            print(f"{one.run[:12]}  {RELEASED.get(one.because or '', 'its key may still be alive')}")
    left = sum(one.because is None for one in found)
    if left:
        raise Unfinished(f"cycle {cycle}: the evidence of {left} of {len(found)} attempts waits on")
    print(f"cycle {cycle}: {len(found)} released, none waits", file=sys.stderr)


@contextmanager
def ended_by_signals(halt: Halt) -> Iterator[None]:
    """Lets the first Ctrl-C (or SIGTERM) end the running attempts in order, and a second one end this process."""

    def stop(number: int, _: object) -> None:
        halt.now(Reason.INFRA_CANCELLED, f"{signal.Signals(number).name} was received")
        for one in old:
            signal.signal(one, signal.SIG_DFL)

    old = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
