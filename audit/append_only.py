"""What was measured once stays as it was: records never change, ledgers only grow (ARCHITECTURE, invariant 2).

Compared with a base are the last commit, the index and the files on disk, and every commit since the base with the
one before it: what was changed and changed back was changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from audit.finding import Checked, Finding
from audit.git import FILE, LINK, MODULE, PROGRAM, SPECIAL, Git, GitError, Tree

FROZEN = (
    "results/records/",
    "results/releases/",
    "results/reproductions/",
    "results/corrections/",
    "results/reviews/",
    "results/stamps/",
    "results/tombstones/",
)
GROWING = "results/ledgers/"
CYCLES = "pools/cycles/"
PLAN = "/plan.json"
LOOKED_AT = ("results", "pools/cycles")
BASES = ("origin/main", "main")
_KINDS = {
    FILE: "a file",
    PROGRAM: "an executable file",
    LINK: "a symbolic link",
    MODULE: "another repository",
    SPECIAL: "no file at all",
}


class _Step(NamedTuple):
    """Two states to compare."""

    where: str
    before: Tree
    after: Tree
    measured: set[str]
    """Cycles whose plan must not change any more in this step."""


def append_only(root: Path, base: str | None = None, *, checked: Checked | None = None) -> list[Finding]:
    """Everything that was changed since `base`, although it must not be.

    `base` is a commit; it is compared with as it is. Without one it is where HEAD left the main branch. Raises
    GitError where there is no repository or no such commit.
    """
    checked = Checked() if checked is None else checked
    git = Git(root.resolve())
    since = git.commit(base) if base is not None else _usual_base(git)
    places: dict[Finding, list[str]] = {}
    for step in _steps(git, since, checked):
        for file, problem in _problems(git, step):
            where = places.setdefault(Finding("append-only", file, problem), [])
            where += [] if step.where in where else [step.where]
    behind = git.merge_base(since, "HEAD") != since
    hint = f"; HEAD does not come from {base}: merge it, or name the commit it comes from" if behind else ""
    return [found._replace(problem=f"{found.problem} ({', '.join(where)}{hint})") for found, where in places.items()]


def _usual_base(git: Git) -> str:
    for name in BASES:
        try:
            found = git.merge_base(git.commit(name), git.commit("HEAD"))
        except GitError:
            continue
        if found:
            return found
    raise GitError(f"there is neither {' nor '.join(BASES)} to compare with; give --base and a commit")


def _steps(git: Git, since: str, checked: Checked) -> Iterator[_Step]:
    old, head, index = git.tree(since, *LOOKED_AT), git.tree("HEAD", *LOOKED_AT), git.index(*LOOKED_AT)
    disk = git.files(*LOOKED_AT)
    checked["base files"] += sum(1 for path in old if _kept(path))
    checked["files now"] += sum(1 for path in disk if _kept(path))
    for commit, parents in git.commits(since):
        checked["commits"] += 1
        befores: list[str | None] = [*parents] or [None]
        for parent in befores:
            before, after = git.changes(parent, commit, *LOOKED_AT)
            # A merge brings many commits at once: a plan of one of them may well come before records of another.
            measured = _measured(after) if len(befores) == 1 else set()
            if parent and any(path.endswith(PLAN) for path in before):
                measured |= _measured(git.tree(parent, *LOOKED_AT))
            yield _Step(f"commit {commit[:12]}", before, after, measured)
    for where, now in (("HEAD", head), ("index", index), ("working tree", disk)):
        yield _Step(where, old, now, _measured(old))
    for where, now in (("index", index), ("working tree", disk)):
        yield _Step(where, head, now, _measured(head) | _measured(now))


def _measured(tree: Tree) -> set[str]:
    """The cycles that have a record or a ledger."""
    found = {path.split("/")[2] for path in tree if path.startswith(FROZEN[0]) and path.count("/") > 2}
    return found | {Path(path).stem for path in tree if path.startswith(GROWING)}


def _problems(git: Git, step: _Step) -> Iterator[tuple[str, str]]:
    before, after, measured = step.before, step.after, step.measured
    new = {entry.id: path for path, entry in after.items() if path not in before}
    for path, old in before.items():
        if not _kept(path) and not _plan_of(path, measured):
            continue
        now = after.get(path)
        if now == old or (now and now.mode == old.mode == MODULE and not now.id):
            continue  # which commit another repository stands at is not asked: it was named when it came
        if now is None:
            yield path, f"was removed: it is {new[old.id]} now" if old.id in new else "was removed"
        elif now.mode != old.mode:
            yield path, f"was {_KINDS.get(old.mode, old.mode)} and is {_KINDS.get(now.mode, now.mode)}"
        elif path.startswith(GROWING):
            if not _grew(git, old.id, path, now.id):
                yield path, "did not only grow by whole lines: a ledger keeps every byte that it had"
        elif _kept(path):
            yield path, "was changed"
        else:
            yield path, "was changed although attempts were made under this plan"
    for path, entry in after.items():
        if path not in before and entry.mode != FILE and (_kept(path) or _stands_for_folder(path)):
            yield path, f"is {_KINDS.get(entry.mode, entry.mode)}: only plain files have a place among results"


def _grew(git: Git, old: str, path: str, new: str) -> bool:
    before, after = git.content(old), _bytes(git, path, new)
    return after.startswith(before) and before[-1:] in (b"", b"\n") and after[-1:] in (b"", b"\n")


def _bytes(git: Git, path: str, name: str) -> bytes:
    try:
        return git.content(name)
    except GitError:
        return (git.root / path).read_bytes()  # on disk only


def _kept(path: str) -> bool:
    return path.startswith((*FROZEN, GROWING))


def _plan_of(path: str, cycles: set[str]) -> bool:
    return path.startswith(CYCLES) and path.endswith(PLAN) and path.split("/")[2] in cycles


def _stands_for_folder(path: str) -> bool:
    """Whether `path` itself is one of the folders that results lie in."""
    return path in ("results", *(name.rstrip("/") for name in (*FROZEN, GROWING)))
