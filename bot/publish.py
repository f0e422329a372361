"""The end of a cycle: ledger closed, pages written, one pull request with all of it. Nobody merges it but a person."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from archive import pools
from archive.errors import DataError
from archive.pins import pinned_files
from archive.plan import Plan
from bot import pages
from bot.close import close, planned
from bot.forge import Content, Forge, Proposal, PullRequest
from bot.measured import measured
from bot.render import pages as render_pages
from bot.render_summary import body
from bot.results import CycleResult, results_of

BASE = "main"


class Published(NamedTuple):
    """What closing a cycle came to."""

    result: CycleResult
    pages: list[pages.Difference]
    pull_request: PullRequest


def branch(cycle_id: str) -> str:
    """The branch on which a cycle is published."""
    return f"argusic/publish-{cycle_id}"


def publish(root: Path, cycle_id: str, forge: Forge) -> Published:
    """Closes a cycle and proposes it for publication. Doing it again changes nothing.

    Raises `Unfinished` while due jobs have no record, `BranchTaken` where a person has committed to the branch.
    """
    planned(root, cycle_id)
    pages.check_folder(root)
    runs = measured(root)
    plan = close(root, cycle_id, runs.get(cycle_id, []))
    found = results_of(root, runs)
    made = render_pages(root, found)
    changed = pages.write(root, made)
    pull_request = forge.open_or_update(proposal(root, plan, found, made))
    return Published(next(one for one in found if one.cycle.id == cycle_id), changed, pull_request)


def proposal(root: Path, plan: Plan, found: list[CycleResult], made: dict[str, bytes]) -> Proposal:
    """The pull request that publishes the cycle of `plan`: results, pages, and what its plan pins."""
    own = next(one for one in found if one.cycle.id == plan.cycle)
    files: dict[str, Content] = {path.relative_to(root).as_posix(): path for path in _results(root)}
    files |= {path.relative_to(root).as_posix(): path for path in pinned_files(root, plan)}
    files[pools.plan_path(root, plan.cycle).relative_to(root).as_posix()] = pools.plan_path(root, plan.cycle)
    return Proposal(
        branch=branch(plan.cycle),
        base=BASE,
        title=f"Publish cycle {plan.cycle}",
        body=body(own, found),
        files=files | made,
        whole=pages.GENERATED,
        day=max(run.judged.day for run in own.runs),
    )


def _results(root: Path) -> list[Path]:
    """Every file in the folders of results/. What lies beside them people write; a half-written file is none."""
    found = []
    for path in sorted((root / "results").glob("*/**/*")):
        if path.is_symlink():
            raise DataError(path, "", "is a link; results are files")
        if path.is_file() and not path.name.startswith("."):
            found.append(path)
    return found
