"""Commands of a cycle and of its pages."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from archive import pools
from archive.plan import Job
from bot import pages, words
from bot.forge import PullRequest
from bot.forge.local import LocalForge
from bot.plan import write_plan
from bot.publish import Published, publish
from bot.render import render
from scoring.due import due

CycleId = Annotated[str, typer.Argument(metavar="CYCLE", help="Folder of the cycle in pools/cycles.")]


def cycle_plan(
    ctx: typer.Context,
    cycle: CycleId,
    again: Annotated[
        bool, typer.Option("--again", help="Replace another plan, as long as nothing was measured.")
    ] = False,
) -> None:
    """Write down every attempt that a cycle may make, before the first one is made."""
    root: Path = ctx.obj
    plan, state = write_plan(root, cycle, again=again)
    names = pools.agents(root)
    first = due(plan.jobs, {}, pools.editions(root)[pools.cycle(root, cycle).edition])
    print(f"plan {state}: {pools.plan_path(root, cycle).relative_to(root)}")
    print(f"subjects: {len({job.subject for job in plan.jobs})}")
    for agent in pools.cycle(root, cycle).agents:
        own = sum(job.agent == agent for job in first)
        kind = ", control" if names[agent].control else ""
        print(f"agent: {names[agent].name} ({agent}{kind}), {own} attempts due first")
    print(f"due first: {len(first)} attempts, at most {_hours(first)} machine hours")
    print(f"ceiling: {len(plan.jobs)} attempts, at most {_hours(plan.jobs)} machine hours")


def cycle_close(
    ctx: typer.Context,
    cycle: CycleId,
    forge: Annotated[Path | None, typer.Option(help="Folder of a local forge; .argusic/forge where not given.")] = None,
) -> None:
    """End a cycle whose due attempts all have a record, write the pages, and open or update its pull request."""
    root: Path = ctx.obj
    folder = forge or root / ".argusic/forge"
    done = publish(root, cycle, LocalForge(folder, root))
    _tell(done)
    _tell_pull_request(done.pull_request, folder)


def pages_build(
    ctx: typer.Context,
    check: Annotated[bool, typer.Option("--check", help="Compare only; exit with 1 where a page differs.")] = False,
) -> None:
    """Write every generated page from pools/ and results/."""
    root: Path = ctx.obj
    pages.check_folder(root)
    made = render(root)
    found = pages.compare(root, made) if check else pages.write(root, made)
    for path, problem in found:
        print(f"{path}: {problem if check else 'removed' if problem == 'left over' else 'written'}")
    print(f"{len(made)} pages, {len(found)} {'different' if check else 'changed'}")
    if check and found:
        raise typer.Exit(1)


def _hours(jobs: Iterable[Job]) -> str:
    return words.tenths(Fraction(sum(job.budget_minutes for job in jobs), 60))


def _tell(done: Published) -> None:
    chain = done.result.chain
    print(f"cycle {done.result.cycle.id} closed: {chain.records if chain else 0} records")
    print(f"pages changed: {len(done.pages)}")


def _tell_pull_request(found: PullRequest, folder: Path) -> None:
    if found.number == 0:
        print("nothing to publish: the main branch has all of it")
        return
    said = f"pull request {found.number} ({found.branch}): {found.state}, {found.change}"
    print(f"{said}; see {folder / 'pulls' / f'{found.number}.md'}")
    if found.state == "closed":
        print("A person closed it, so it stays closed; to have it again, set its state to open.")
