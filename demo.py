"""The embedded default: a whole measurement of a small pool of real packages, in a scratch checkout, without a key.

The same code paths as in production with the local backend of each interface. What is measured here is a
demonstration: it never makes a source type "in use".
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from archive import atomic, pools
from archive.errors import ArgusicError, DataErrors, MachineError
from archive.harness import harness
from archive.reasons import Reason
from audit.append_only import append_only
from audit.complete import complete
from audit.finding import Finding
from audit.pages import pages
from audit.rules import rules
from audit.verify import verify
from bot.forge.local import LocalForge
from bot.plan import write_plan
from bot.publish import Published, publish
from bot.results import CycleResult
from runner.commands import AtOnce, ExtraCa, SandboxKind, chosen_for, finish, measure
from runner.sandbox.choose import Kind
from runner.watch import Halt
from scoring.rounding import two

CYCLE = "demo"
DONE = "done"
MINUTES = 30
PLAYED = ("codex", "pi", "claude")
"""Programs that can take part; their packages are fetched then."""
PLAYS = "python3 /argusic/inside/control_readme"
"""What the scripted model has an agent do."""
PLAIN_WIDTH = 110
GIT = ("git", "-c", "user.name=argusic demo", "-c", "user.email=demo@argusic.invalid")


def demo(
    ctx: typer.Context,
    at_once: AtOnce = 2,
    minutes: Annotated[int, typer.Option(min=1, help="Deadline; a later call goes on.")] = MINUTES,
    folder: Annotated[Path | None, typer.Option(help="Where to work; build/demo where not given.")] = None,
    sandbox: SandboxKind = Kind.AUTO,
    extra_ca: ExtraCa = None,
    agent: Annotated[
        str | None,
        typer.Option(help=f"A real program takes part ({', '.join(PLAYED)}); a script plays its model."),
    ] = None,
) -> None:
    """Measure a small pool of real packages here and now, from plan to pull request."""
    began = time.monotonic()
    if agent is not None and agent not in PLAYED:
        raise ArgusicError(f"no agent {agent!r} takes part in a demonstration; one of {', '.join(PLAYED)}")
    place, goes_on = scratch(ctx.obj, folder or ctx.obj / "build/demo", agent)
    root = place / "checkout"
    verb = "going on with" if goes_on else "beginning"
    who = f"control agents and {agent} with a model that a script plays" if agent else "control agents, no model"
    print(f"{verb} a demonstration in {shown(place)}: real packages, {who}, no key")
    if sandbox is not Kind.BUBBLEWRAP:
        bring_image()
    chosen = chosen_for(root, CYCLE, sandbox)
    halt = Halt()
    alarm = threading.Timer(minutes * 60, halt.now, (Reason.INFRA_DEMO_DEADLINE, f"{minutes} minutes were over"))
    alarm.daemon = True
    alarm.start()
    try:
        with scripted_model(root, agent):
            finish(measure(root, CYCLE, chosen, at_once, extra_ca, halt, as_json=False))
    finally:
        alarm.cancel()
    published = publish(root, CYCLE, LocalForge(place / "forge", root))
    findings = check(root)
    atomic.write(place / DONE, b"")
    tell(place, published, findings, time.monotonic() - began)
    if findings:
        raise typer.Exit(1)


def bring_image() -> None:
    """Builds the small image where an engine answers that has none; what keeps it from that is said, and no more."""
    from runner.image.build import build
    from runner.image.engine import NoSuchImage, engine
    from runner.sandbox.container import IMAGE
    from runner.sandbox.engine import connect

    try:
        connect().close()
    except MachineError:
        return  # The choice of a sandbox says so.
    try:
        with engine() as found:
            try:
                found.inspect(IMAGE)
            except NoSuchImage:
                print(f"building the image {IMAGE}, once")
                build("slim", IMAGE, None, found.load, lambda said: print(f"  {said}"))
    except MachineError as error:
        print(f"no image: {error}")


@contextmanager
def scripted_model(root: Path, agent: str | None) -> Iterator[None]:
    """The model of `agent`, while it is needed: it has it run the program of the control that follows READMEs."""
    if agent is None:
        yield
        return
    from tests.model_server import ModelServer, Script

    model = pools.agents(root)[f"agent-{agent}"].model
    port = urlsplit(model.endpoint).port if model else None
    with ExitStack() as until_done:
        try:
            until_done.enter_context(ModelServer(Script((PLAYS,), "The README was followed."), port=port or 0))
        except OSError as error:
            raise MachineError(f"the scripted model cannot listen at port {port}: {error.strerror}") from None
        yield


def with_agent(root: Path, agent: str) -> None:
    """Lets a real program take part."""
    from runner.agents import program

    package = program(agent).package
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    (root / f"pools/agents/agent-{agent}.toml").write_text(
        f"""id = "agent-{agent}"
name = "Argusic Agent D"
control = false
harness = "{agent}"
harness_version = "{package.version if package else 1}"
instructions = 1
about = "A real program. A script plays its model, which has it run the program of the control that follows READMEs."

[model]
name = "played-by-a-script"
endpoint = "http://127.0.0.1:{port}"
key = "none"
"""
    )
    path = root / f"pools/cycles/{CYCLE}/cycle.toml"
    path.write_text(path.read_text().replace('agents = ["', f'agents = ["agent-{agent}", "', 1))


def scratch(code: Path, folder: Path, agent: str | None) -> tuple[Path, bool]:
    """A folder to work in: the last one where it is unfinished and of this very program, else a new one."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = sorted(int(path.name) for path in folder.iterdir() if path.name.isdigit())
    if numbers:
        last = folder / str(numbers[-1])
        if not (last / DONE).exists() and planned_by_this_program(last / "checkout", agent):
            return last, True
    place = folder / str(numbers[-1] + 1 if numbers else 1)
    root = place / "checkout"
    for name in ("editions", "sources", "agents", f"cycles/{CYCLE}"):
        shutil.copytree(code / "pools" / name, root / "pools" / name, ignore=shutil.ignore_patterns("plan.json"))
    (root / ".gitignore").write_text("/.argusic/\n")
    if agent is not None:
        with_agent(root, agent)
    write_plan(root, CYCLE)
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "Plan the demonstration")
    return place, False


def planned_by_this_program(root: Path, agent: str | None) -> bool:
    """Whether the demonstration at `root` got as far as its plan, with the same agent and under this harness."""
    try:
        plan = pools.plan(root, CYCLE)
        played = [name for name in pools.cycle(root, CYCLE).agents if not name.startswith("control-")]
    except (ArgusicError, DataErrors):
        return False
    committed = (root / ".git").is_dir() and git(root, "rev-parse", "--verify", "--quiet", "HEAD", check=False) == 0
    same = plan is not None and plan.pins.harness.digest == harness().digest
    return committed and same and played == ([f"agent-{agent}"] if agent else [])


def check(root: Path) -> list[Finding]:
    """Everything that the audits find in the demonstration."""
    return [*complete(root, CYCLE), *append_only(root, "main"), *rules(root), *pages(root), *verify(root, CYCLE)]


def tell(place: Path, published: Published, findings: list[Finding], seconds: float) -> None:
    """The table at the end, and where to look next."""
    from rich.console import Console
    from rich.table import Table

    result = published.result
    table = Table(box=None, pad_edge=False)
    table.add_column("subject", overflow="fold")
    for name in ("verdict", *(result.agent_name(agent) for agent in result.cycle.agents)):
        table.add_column(name, no_wrap=True)
    for subject in result.pool:
        cells = [_scores(result, subject.id, agent) for agent in result.cycle.agents]
        verdict = result.verdicts.get(subject.id)
        name = f"{subject.pin.full_name} {subject.pin.version} ({subject.pin.kind})"
        table.add_row(name, (verdict and verdict.words) or "", *cells)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else PLAIN_WIDTH)
    print()
    console.print(table)
    print("\nEach cell: the three scores, and the middle one, which counts. Controls are shown, never ranked.")
    spent = f"{int(seconds // 60)} min {int(seconds % 60)} s"
    print(f"{len(result.runs)} attempts, {spent}; the audits found {len(findings) or 'nothing'}.\n")
    for finding in findings:
        print(f"  {finding}")
    root, request = place / "checkout", published.pull_request
    first = next((run for run in result.runs if run.judged.outcome and run.judged.outcome.passed), result.runs[0])
    print(f"board         {shown(root / 'docs/board.md')}")
    print(f"verdicts      {shown(root / 'docs/verdicts.md')}")
    print(f"pull request  {shown(place / 'forge/pulls' / f'{request.number}.md')}")
    print(f"check it      .venv/bin/argusic --root {shown(root)} verify {CYCLE}")
    print(f"play one      .venv/bin/argusic --root {shown(root)} play {first.judged.run[:8]}")


def _scores(result: CycleResult, subject: str, agent: str) -> str:
    found = next((one for one in result.sets if one.project == subject and one.agent == agent), None)
    if found is None:
        return ""
    scores = " ".join(str(two(score)) for score in found.scores)
    middle = f"→ {two(found.middle)}" if found.middle is not None else "incomplete"
    return f"{scores} {middle}{', unstable' if found.unstable else ''}"


def git(root: Path, *words: str, check: bool = True) -> int:
    """Runs git in `root`; its exit status."""
    # The person's own settings (hooks, templates, signing) have no part in a scratch checkout.
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run([*GIT, *words], cwd=root, env=env, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise ArgusicError(f"git {words[0]} failed in {root}: {done.stderr.strip()}")
    return done.returncode


def shown(path: Path) -> str:
    """`path` as a person standing here would type it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
