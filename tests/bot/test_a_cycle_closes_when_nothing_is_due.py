"""Closing and publishing a cycle (MEASUREMENT §2, invariants 1 and 3)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from archive import pools, records
from archive.canonical import canonical
from archive.errors import ArgusicError, DataError, DataErrors, Unfinished
from archive.ledger import Ledger, ledger_path
from archive.plan import Job
from bot import render_summary
from bot.forge.local import LocalForge
from bot.publish import publish
from bot.render import render
from tests.support.make import Change, declare, failed, invalid, make_record, make_root, passed, silent

ONE, TWO = "pkg:pypi/one@1.0", "pkg:npm/two@2.0.0"
GIT = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}


def forge_of(root: Path) -> LocalForge:
    return LocalForge(root / ".argusic/forge", root)


def git(where: Path, *arguments: str) -> str:
    asked = ["git", "-c", "user.name=P", "-c", "user.email=p@example.org", *arguments]
    return subprocess.run(asked, cwd=where, env=GIT, capture_output=True, text=True, check=True).stdout


def text_of(root: Path) -> str:
    return (root / ".argusic/forge/pulls/1.md").read_text()


def test_a_cycle_does_not_close_while_attempts_are_due(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, TWO, records_until=7, evidence=False)
    with pytest.raises(
        Unfinished, match=r"5 due attempts have no record; the first is attempt 2 of agent-b on pkg:npm"
    ):
        publish(tmp_path, "first", forge_of(tmp_path))
    assert not Ledger.read(tmp_path, "first").closed
    assert not (tmp_path / "docs").exists()
    assert not (tmp_path / ".argusic/forge").exists()


def test_a_rerun_that_is_due_keeps_it_open(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, agents=["agent-a"], play=lambda job: invalid(), records_until=3, evidence=False)
    with pytest.raises(Unfinished, match="3 due attempts have no record; the first is attempt 4"):
        publish(tmp_path, "first", forge_of(tmp_path))


def test_closing_ends_the_ledger_writes_the_pages_and_opens_a_pull_request(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, TWO, evidence=False)
    done = publish(tmp_path, "first", forge_of(tmp_path))
    assert Ledger.read(tmp_path, "first").closed
    assert {path.relative_to(tmp_path).as_posix() for path in (tmp_path / "docs").rglob("*.md")} == render(
        tmp_path
    ).keys()
    assert (done.pull_request.number, done.pull_request.state, done.pull_request.change) == (1, "open", "created")
    assert done.result.chain
    assert (done.result.chain.records, done.result.chain.closed) == (12, True)


def test_the_branch_has_results_pages_and_plan_and_renders_to_itself(tmp_path: Path) -> None:
    make_root(tmp_path / "root", ONE, evidence=False)
    publish(tmp_path / "root", "first", forge_of(tmp_path / "root"))
    git(tmp_path, "clone", "-q", "-b", "argusic/publish-first", str(tmp_path / "root/.argusic/forge/repo.git"), "clone")
    published = tmp_path / "clone"
    assert {path: (published / path).read_bytes() for path in render(published)} == render(published)
    for name in ("pools/cycles/first/plan.json", "results/ledgers/first.jsonl"):
        assert (published / name).read_bytes() == (tmp_path / "root" / name).read_bytes()
    assert len(records.paths(published)) == 6
    assert not (published / ".argusic").exists()


def test_closing_again_changes_nothing(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, evidence=False)
    publish(tmp_path, "first", forge_of(tmp_path))
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.rglob("*") if path.is_file()}
    done = publish(tmp_path, "first", forge_of(tmp_path))
    assert (done.pull_request.change, done.pages) == ("unchanged", [])
    assert before == {
        path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.rglob("*") if path.is_file()
    }


def test_a_persons_working_tree_and_index_are_not_touched(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, evidence=False)
    (tmp_path / ".gitignore").write_text("/.argusic/\n/docs/\n")
    git(tmp_path, "init", "-q", "-b", "work")
    git(tmp_path, "add", ".gitignore", "pools")
    git(tmp_path, "commit", "-q", "-m", "Pools")
    (tmp_path / "notes.txt").write_text("staged\n")
    git(tmp_path, "add", "notes.txt")
    (tmp_path / "notes.txt").write_text("changed after\n")
    folder = tmp_path / ".git"
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    status = git(tmp_path, "--no-optional-locks", "status", "--porcelain")
    publish(tmp_path, "first", forge_of(tmp_path))
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert git(tmp_path, "--no-optional-locks", "status", "--porcelain") == status
    bare = tmp_path / ".argusic/forge/repo.git"
    assert git(bare, "rev-parse", "main") == git(tmp_path, "rev-parse", "HEAD")
    names = git(bare, "diff", "--name-only", "main", "argusic/publish-first").split()
    assert {name.split("/")[0] for name in names} == {"docs", "results"}


def test_a_second_cycle_is_published_on_top_with_a_pull_request_of_its_own(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, evidence=False)
    publish(tmp_path, "first", forge_of(tmp_path))
    bare = tmp_path / ".argusic/forge/repo.git"
    git(bare, "update-ref", "refs/heads/main", "refs/heads/argusic/publish-first")
    make_root(tmp_path, ONE, TWO, id="second", starts="2027-01-01", play=lambda job: failed(), evidence=False)
    done = publish(tmp_path, "second", forge_of(tmp_path))
    assert (done.pull_request.number, done.pull_request.branch) == (2, "argusic/publish-second")
    text = (tmp_path / ".argusic/forge/pulls/2.md").read_text()
    assert "## The board, compared with First cycle" in text
    assert "* Agent A: no board score, before: rank 1, board score 100" in text
    assert f"* `{ONE}`: could not verify, before: runs" in text


def test_a_page_that_is_gone_goes_from_the_branch_too(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, evidence=False)
    old = b'<!-- Generated by "argusic pages build"; do not edit. -->\n\nOld.\n'
    for name in ("docs/cycles/first/sets-9.md", "docs/own.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(old if "sets" in name else b"A person wrote this.\n")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "docs", "pools")
    git(tmp_path, "commit", "-q", "-m", "Old pages")
    publish(tmp_path, "first", forge_of(tmp_path))
    names = git(tmp_path / ".argusic/forge/repo.git", "ls-tree", "-r", "--name-only", "argusic/publish-first").split()
    assert "docs/own.md" in names
    assert "docs/cycles/first/sets-9.md" not in names
    assert not (tmp_path / "docs/cycles/first/sets-9.md").exists()


def play(job: Job) -> Change:
    """Every kind of thing that the approving person has to see."""
    if job.agent == "agent-b" and job.subject == ONE and job.attempt == 1:
        return invalid("evidence:not-proven-clean")
    if job.subject == TWO:
        return failed()
    if job.agent == "agent-a" and job.attempt == 1:
        return silent()
    return passed() | {"claims": {"seen": "no"}} if job.attempt == 2 else passed()


def test_the_text_says_what_the_approving_person_needs(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, TWO, play=play, evidence=False)
    publish(tmp_path, "first", forge_of(tmp_path))
    parts = dict(part.split("\n\n", 1) for part in text_of(tmp_path).split("\n## ")[1:])
    lines = {title: [line for line in text.splitlines() if line.startswith("* ")] for title, text in parts.items()}
    assert lines["The board"] == ["* Agent B: rank 1, board score 100", "* Agent A: no board score"]
    assert lines["Verdicts"] == [f"* `{ONE}`: runs", f"* `{TWO}`: could not verify"]
    assert lines["Withheld attempts"] == [f"* `{ONE}`: attempt 1 of Agent B"]
    assert lines["Unstable sets"] == [f"* `{ONE}`: Agent A, spread 100 %"]
    assert lines["Projects under review"] == [f"* `{TWO}`"]
    claims = "command not seen in the session; it decodes; replayed with the same result"
    assert lines["Passes whose claims need a look"] == [
        f"* `{ONE}`: attempt 2 of {agent}: {claims}" for agent in ("Agent A", "Agent B")
    ]
    assert "Invalid attempts" not in parts
    assert "Incomplete sets" not in parts
    assert "\n\nNothing invalid or incomplete.\n" in text_of(tmp_path)


def test_where_there_is_no_exception_one_line_says_so(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, evidence=False)
    publish(tmp_path, "first", forge_of(tmp_path))
    titles = [line for line in text_of(tmp_path).splitlines() if line.startswith("## ")]
    assert titles == ["## The board", "## Verdicts"]
    assert "\nNothing withheld, invalid, unstable, under review or incomplete.\n" in text_of(tmp_path)


def test_an_incomplete_set_says_how_many_valid_attempts_it_has(tmp_path: Path) -> None:
    def play(job: Job) -> Change:
        return passed() if (job.subject, job.slot) == (TWO, 1) else invalid()

    make_root(tmp_path, ONE, TWO, agents=["agent-a"], play=play, evidence=False)
    publish(tmp_path, "first", forge_of(tmp_path))
    assert f"* `{ONE}`: Agent A, no valid attempts\n" in text_of(tmp_path)
    assert f"* `{TWO}`: Agent A, one valid attempt\n" in text_of(tmp_path)


def test_a_file_named_docs_and_a_folder_named_plan_are_told_before_anything_changes(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, agents=["agent-a"], evidence=False)
    (tmp_path / "docs").write_text("no folder\n")
    with pytest.raises(DataError, match="docs: is no folder; pages are written into a folder of this name"):
        publish(tmp_path, "first", forge_of(tmp_path))
    assert not Ledger.read(tmp_path, "first").closed
    path = pools.plan_path(tmp_path, "first")
    path.unlink()
    path.mkdir()
    with pytest.raises(DataError, match=r"plan\.json: is a folder; a plan is a file"):
        publish(tmp_path, "first", forge_of(tmp_path))


def test_a_long_text_is_cut_and_the_rest_is_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render_summary, "BODY_CHARACTERS", 1_500)
    make_root(tmp_path, *(f"pkg:pypi/project-{number}@1.0" for number in range(40)), agents=["agent-a"], evidence=False)
    publish(tmp_path, "first", forge_of(tmp_path))
    assert len(text_of(tmp_path)) < 1_800
    assert "* and 20 more, on `docs/cycles/first/summary.md`" in text_of(tmp_path)
    assert (tmp_path / "docs/cycles/first/summary.md").read_text().count("pkg:pypi/project-") == 40


def spoil_pool(root: Path) -> None:
    path = root / "pools/cycles/first/public.toml"
    path.write_text(path.read_text() + "# later\n")


def spoil_record(root: Path) -> None:
    path = records.paths(root)[0]
    path.write_bytes(path.read_bytes().replace(b'"runner": "test"', b'"runner": "best"'))


def lose_record(root: Path) -> None:
    # One whose slot has another attempt, so that nothing is due because of it.
    path = next(p for p in records.paths(root) if records.read(p).attempt == 1)
    path.unlink()


def add_record(root: Path) -> None:
    records.save(root, make_record(agent="agent-a", attempt=99))


def lose_line(root: Path) -> None:
    path = ledger_path(root, "first")
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))


def lose_ledger(root: Path) -> None:
    ledger_path(root, "first").unlink()


def other_plan(root: Path) -> None:
    path = pools.plan_path(root, "first")
    plan = pools.plan(root, "first")
    assert plan
    path.write_bytes(canonical(plan.model_copy(update={"jobs": plan.jobs[::-1]})))


@pytest.mark.parametrize(
    ("spoil", "error", "message"),
    [
        (spoil_pool, DataErrors, r"public.toml: is not what the plan pinned when the cycle began"),
        (spoil_record, DataErrors, r"is not the record that stands in the ledger"),
        (lose_record, ArgusicError, r"due attempt has no record"),
        (add_record, DataErrors, r"job: is not in the plan"),
        (lose_line, DataErrors, r"first.jsonl: has no line for run"),
        (lose_ledger, DataError, r"no such ledger"),
        (other_plan, DataError, r"opened with another plan"),
    ],
)
def test_a_cycle_whose_files_do_not_agree_stays_open(
    tmp_path: Path, spoil: Callable[[Path], None], error: type[ArgusicError], message: str
) -> None:
    make_root(tmp_path, ONE, agents=["agent-a"], evidence=False)
    spoil(tmp_path)
    with pytest.raises(error, match=message):
        publish(tmp_path, "first", forge_of(tmp_path))
    assert not (tmp_path / ".argusic/forge").exists()
    assert not ledger_path(tmp_path, "first").exists() or b'"closed"' not in ledger_path(tmp_path, "first").read_bytes()


def test_a_cycle_without_a_plan_says_how_to_make_one(tmp_path: Path) -> None:
    declare(tmp_path)
    with pytest.raises(DataError, match=r"cycle first has no plan; run: argusic cycle plan first"):
        publish(tmp_path, "first", forge_of(tmp_path))


def test_a_cycle_that_does_not_exist_names_those_that_do(tmp_path: Path) -> None:
    declare(tmp_path)
    with pytest.raises(DataError, match=r"there is no cycle 'other'; there are: first"):
        publish(tmp_path, "other", forge_of(tmp_path))


def test_a_closing_that_was_cut_off_behind_the_ledger_goes_on(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, evidence=False)
    Ledger.read(tmp_path, "first").close()
    assert publish(tmp_path, "first", forge_of(tmp_path)).pull_request.change == "created"
    assert (tmp_path / "docs/board.md").is_file()
