"""audit append-only: in a real repository, no record is changed or removed and a ledger keeps every byte it had."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from archive import pools
from archive.ledger import ledger_path
from audit.append_only import append_only
from audit.finding import Checked, Finding
from audit.git import GitError
from tests.audit.making import commit, git, ledger, name_of, path_of
from tests.support.make import make_root

REVIEW = "results/reviews/first/one.json"
LEDGER = "results/ledgers/first.jsonl"
PLAN = "pools/cycles/first/plan.json"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository whose main branch has two records, a ledger and a review; HEAD is a branch from it."""
    made_root = make_root(tmp_path / "root", agents=["agent-a"], evidence=False, records_until=2)
    (made_root / REVIEW).parent.mkdir(parents=True)
    (made_root / REVIEW).write_text("{}\n")
    git(made_root, "init", "-q")
    commit(made_root, "measured")
    git(made_root, "checkout", "-q", "-b", "cycle")
    return made_root


def go_on(root: Path) -> None:
    """The rest of the cycle, as a runner appends it."""
    make_root(root, agents=["agent-a"], evidence=False)


def record(root: Path) -> Path:
    return path_of(root, next(iter(ledger(root).entries)))


def only(findings: list[Finding]) -> Finding:
    assert len(findings) == 1, [str(one) for one in findings]
    return findings[0]


def test_without_a_change_nothing_is_found(root: Path) -> None:
    checked = Checked()
    assert append_only(root, checked=checked) == append_only(root, "main") == []
    assert checked == {"base files": 4, "files now": 4}


def test_new_records_and_new_lines_are_what_a_pull_request_is_for(root: Path) -> None:
    before = ledger_path(root, "first").read_bytes()
    go_on(root)
    assert len(ledger(root).entries) == 3
    assert ledger_path(root, "first").read_bytes().startswith(before)
    assert append_only(root) == [], "on disk only"
    git(root, "add", "-A")
    assert append_only(root) == [], "in the index"
    commit(root)
    ledger(root).close()
    commit(root)
    assert append_only(root) == append_only(root, "main") == [], "in commits"


def overwrite(root: Path) -> str:
    record(root).write_bytes(record(root).read_bytes().replace(b"agent_exit", b"agent_exit "))
    return "was changed"


def empty(root: Path) -> str:
    record(root).write_bytes(b"")
    return "was changed"


def remove(root: Path) -> str:
    record(root).unlink()
    return "was removed"


def rename(root: Path) -> str:
    record(root).rename(record(root).with_name("other.json"))
    return "was removed: it is results/records/first/"


def executable(root: Path) -> str:
    record(root).chmod(0o755)
    return "was a file and is an executable file"


def linked(root: Path) -> str:
    path = record(root)
    (root / "elsewhere.json").write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(root / "elsewhere.json")
    return "was a file and is a symbolic link"


def folder_in_place(root: Path) -> str:
    path = record(root)
    path.unlink()
    path.mkdir()
    (path / "inside").write_text("x")
    return "was removed"


WAYS = [overwrite, empty, remove, rename, executable, linked, folder_in_place]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("where", ["working tree", "index", "HEAD"])
def test_a_record_that_does_not_stay_is_named_wherever_the_change_lies(
    root: Path, way: Callable[[Path], str], where: str
) -> None:
    name = record(root).relative_to(root).as_posix()
    said = way(root)
    if where != "working tree":
        git(root, "add", "-A")
    if where == "HEAD":
        commit(root)
    for found in (only(append_only(root)), only(append_only(root, "main"))):
        assert (found.check, found.file) == ("append-only", name)
        assert said in found.problem
        assert where in found.problem


def test_a_change_in_the_index_counts_although_the_file_is_as_it_was(root: Path) -> None:
    data = record(root).read_bytes()
    overwrite(root)
    git(root, "add", "-A")
    record(root).write_bytes(data)
    assert only(append_only(root)).problem == "was changed (index)"


def test_what_was_changed_and_changed_back_was_changed(root: Path) -> None:
    data = record(root).read_bytes()
    overwrite(root)
    wrong = commit(root)
    record(root).write_bytes(data)
    back = commit(root)
    found = only(append_only(root))
    assert found.problem == f"was changed (commit {wrong[:12]}, commit {back[:12]})"


def test_a_record_that_was_made_again_between_two_commits_is_named(root: Path) -> None:
    go_on(root)
    commit(root)
    run = list(ledger(root).entries)[2]
    path_of(root, run).write_bytes(path_of(root, run).read_bytes().replace(b"754000", b"754001"))
    commit(root)
    found = only(append_only(root))
    assert found.file == name_of(root, run), "although the base did not have it yet"
    assert "was changed (commit " in found.problem


def test_a_record_made_again_before_it_is_committed_is_named(root: Path) -> None:
    go_on(root)
    commit(root)
    run = list(ledger(root).entries)[2]
    path_of(root, run).unlink()
    assert only(append_only(root)).problem == "was removed (working tree)"


def test_a_change_hidden_in_a_merge_is_named(root: Path) -> None:
    git(root, "checkout", "-q", "main")
    (root / "README.md").write_text("other work\n")
    commit(root, "other work")
    git(root, "checkout", "-q", "cycle")
    (root / "mine.md").write_text("mine\n")
    commit(root, "mine")
    git(root, "merge", "-q", "--no-commit", "main")
    remove(root)
    merge = commit(root, "merge")
    for base in (None, "main", "HEAD~1"):
        found = only(append_only(root, base))
        assert found.problem.startswith("was removed")
        assert merge[:12] in found.problem


def test_merging_a_main_branch_that_went_on_is_fine(root: Path) -> None:
    go_on(root)
    commit(root)
    git(root, "checkout", "-q", "main")
    make_root(root, id="second", agents=["agent-a"], evidence=False)
    commit(root, "another cycle")
    git(root, "checkout", "-q", "cycle")
    git(root, "merge", "-q", "--no-edit", "main")
    assert append_only(root) == append_only(root, "main") == []


def test_a_branch_that_main_left_behind_is_compared_with_where_it_left(root: Path) -> None:
    git(root, "checkout", "-q", "main")
    go_on(root)
    commit(root, "main goes on")
    git(root, "checkout", "-q", "cycle")
    assert append_only(root) == []
    found = append_only(root, "main")
    assert found, "a base that is named is compared with as it is"
    assert all("HEAD does not come from main: merge it" in one.problem for one in found)


def test_history_rewritten_without_a_record_is_noticed_by_the_old_head(root: Path) -> None:
    go_on(root)
    old = commit(root)
    git(root, "reset", "-q", "--hard", "main")
    assert append_only(root) == []
    assert {one.file for one in append_only(root, old)} >= {LEDGER}
    assert len(append_only(root, old)) == 2


def test_a_review_never_changes_and_a_new_one_may_come(root: Path) -> None:
    (root / "results/reviews/first/two.json").write_text("{}\n")
    (root / "results/corrections").mkdir()
    (root / "results/corrections/one.json").write_text("{}\n")
    assert append_only(root) == []
    commit(root)
    git(root, "branch", "-f", "main")
    (root / REVIEW).write_text("{ }\n")
    (root / "results/corrections/one.json").unlink()
    assert {one.file for one in append_only(root)} == {REVIEW, "results/corrections/one.json"}


@pytest.mark.parametrize(
    "change",
    [
        lambda d: b"",
        lambda d: d[:-1],
        lambda d: d[: d.rindex(b"\n", 0, -1) + 1],
        lambda d: d.replace(b'"n":1', b'"n":9'),
        lambda d: b"\n" + d,
        lambda d: d + b'{"half a line"',
        lambda d: d.replace(b"\n", b"\r\n"),
        lambda d: d[1:] + d[:1],
    ],
)
@pytest.mark.parametrize("committed", [False, True])
def test_a_ledger_that_did_not_only_grow_by_whole_lines_is_named(
    root: Path, change: Callable[[bytes], bytes], committed: bool
) -> None:
    path = ledger_path(root, "first")
    path.write_bytes(change(path.read_bytes()))
    if committed:
        commit(root)
    found = only(append_only(root))
    assert found.file == LEDGER
    assert "did not only grow by whole lines" in found.problem


def test_any_changed_byte_of_a_ledger_is_noticed(root: Path) -> None:
    path = ledger_path(root, "first")
    fine = path.read_bytes()
    for place in range(0, len(fine), 41):
        path.write_bytes(fine[:place] + bytes([fine[place] ^ 1]) + fine[place + 1 :] + b"{}\n")
        assert only(append_only(root)).file == LEDGER


def test_a_removed_ledger_is_named(root: Path) -> None:
    ledger_path(root, "first").unlink()
    assert only(append_only(root)).problem == "was removed (working tree)"


def test_the_plan_of_a_measured_cycle_never_changes(root: Path) -> None:
    path = pools.plan_path(root, "first")
    path.write_bytes(path.read_bytes() + b" ")
    assert only(append_only(root)).problem == "was changed although attempts were made under this plan (working tree)"
    commit(root)
    assert only(append_only(root)).file == PLAN
    path.unlink()
    commit(root)
    assert any("was removed" in one.problem for one in append_only(root))


def test_a_cycle_of_which_nothing_was_run_may_be_planned_anew(root: Path) -> None:
    make_root(root, id="second", agents=["agent-a"], evidence=False, records_until=0)
    ledger_path(root, "second").unlink()
    commit(root)
    git(root, "branch", "-f", "main")
    path = pools.plan_path(root, "second")
    path.write_bytes(path.read_bytes() + b" ")
    assert append_only(root) == []
    commit(root, "planned anew")
    path.write_bytes(path.read_bytes()[:-1])
    commit(root, "planned anew again")
    make_root(root, id="second", agents=["agent-a"], evidence=False)
    commit(root, "measured")
    assert append_only(root) == [], "each step in its order"


def test_a_plan_changed_in_the_commit_that_brings_its_records_is_named(root: Path) -> None:
    make_root(root, id="second", agents=["agent-a"], evidence=False, records_until=0)
    ledger_path(root, "second").unlink()
    path = pools.plan_path(root, "second")
    fine = path.read_bytes()
    path.write_bytes(fine + b" ")
    commit(root)
    git(root, "branch", "-f", "main")
    path.write_bytes(fine)
    make_root(root, id="second", agents=["agent-a"], evidence=False)
    assert only(append_only(root)).file == "pools/cycles/second/plan.json"
    commit(root)
    assert only(append_only(root)).file == "pools/cycles/second/plan.json"


@pytest.mark.parametrize(
    "name",
    [
        b"sp ace.json",
        b"tab\tand\nline.json",
        b'quote".json',
        b"back\\slash.json",
        b"\xff\xfe.json",
        "실행됨.json".encode(),
        b"-rf",
        b"*.json",
        b":(top)x.json",
        b"\x1b[31mred.json",
    ],
)
def test_odd_file_names_are_followed_like_others(root: Path, name: bytes) -> None:
    path = root / "results/records/first/zz" / os.fsdecode(name)
    path.parent.mkdir()
    path.write_bytes(b"{}")
    commit(root)
    git(root, "branch", "-f", "main")
    assert append_only(root) == []
    path.write_bytes(b"{ }")
    found = only(append_only(root))
    assert os.fsencode(found.file) == b"results/records/first/zz/" + name
    assert str(found).isprintable()
    path.unlink()
    assert only(append_only(root)).problem == "was removed (working tree)"


def test_a_symbolic_link_or_a_pipe_has_no_place_among_results(root: Path) -> None:
    folder = root / "results/records/first"
    (folder / "link.json").symlink_to("/etc/hostname")
    (folder / "folder").symlink_to("/etc")
    os.mkfifo(folder / "pipe.json")
    assert {one.problem for one in append_only(root)} == {
        "is a symbolic link: only plain files have a place among results (working tree)",
        "is no file at all: only plain files have a place among results (working tree)",
    }
    assert len(append_only(root)) == 3


@pytest.mark.parametrize("folder", ["results", "results/records", "results/records/first"])
def test_a_link_in_place_of_a_folder_does_not_hide_what_was_there(root: Path, tmp_path: Path, folder: str) -> None:
    (root / folder).rename(tmp_path / "elsewhere")
    (root / folder).symlink_to(tmp_path / "elsewhere")
    found = append_only(root)
    assert {name_of(root, run) for run in ledger(root).entries} <= {one.file for one in found}
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "linked")
    found = append_only(root)
    assert (folder, True) in {(one.file, "is a symbolic link" in one.problem) for one in found}


def test_another_repository_in_place_of_records_is_named(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    (other / "file").write_text("x")
    commit(other)
    git(
        root,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        "--force",
        str(other),
        "results/records/first/aa",
    )
    found = only(append_only(root))
    assert found.file == "results/records/first/aa"
    assert "is another repository: only plain files" in found.problem
    commit(root)
    assert "HEAD" in only(append_only(root)).problem


def test_attributes_that_change_bytes_on_checkout_are_seen_through(root: Path) -> None:
    (root / ".gitattributes").write_text("results/** text eol=crlf\n")
    commit(root)
    path = record(root)
    path.unlink()
    git(root, "checkout", "--", ".")
    assert b"\r\n" in path.read_bytes()
    assert only(append_only(root)).problem == "was changed (working tree)"


def test_flags_that_hide_a_change_from_git_do_not_hide_it(root: Path) -> None:
    path = record(root)
    git(root, "update-index", "--assume-unchanged", str(path.relative_to(root)))
    overwrite(root)
    assert git(root, "status", "--porcelain") == ""
    assert only(append_only(root)).problem == "was changed (working tree)"


def test_a_replaced_object_does_not_stand_for_the_real_one(root: Path) -> None:
    overwrite(root)
    commit(root)
    git(root, "replace", "HEAD", "main")
    assert only(append_only(root, "main")).file == record(root).relative_to(root).as_posix()


def test_a_checkout_inside_of_a_larger_repository_is_looked_at_alone(tmp_path: Path) -> None:
    inner = make_root(tmp_path / "project/data", agents=["agent-a"], evidence=False)
    (tmp_path / "results/records/x/aa").mkdir(parents=True)
    (tmp_path / "results/records/x/aa/a.json").write_text("{}")
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    (tmp_path / "results/records/x/aa/a.json").unlink()
    assert append_only(inner, "HEAD") == []
    remove(inner)
    assert only(append_only(inner, "HEAD")).problem == "was removed (working tree)"
    commit(tmp_path)
    assert only(append_only(inner, "HEAD~1")).file.startswith("results/records/first/")


def test_the_environment_of_a_hook_does_not_lead_elsewhere(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
    assert append_only(root) == []


def test_a_repository_with_longer_ids_is_read_the_same(tmp_path: Path) -> None:
    root = make_root(tmp_path, agents=["agent-a"], evidence=False)
    git(root, "init", "-q", "--object-format=sha256")
    commit(root)
    assert append_only(root) == []
    overwrite(root)
    assert only(append_only(root)).problem == "was changed (working tree)"


def test_what_cannot_be_compared_is_a_users_mistake_with_a_way_out(root: Path, tmp_path: Path) -> None:
    with pytest.raises(GitError, match="no commit 'nowhere'"):
        append_only(root, "nowhere")
    with pytest.raises(GitError, match="no commit '--all'"):
        append_only(root, "--all")
    git(root, "branch", "-q", "-D", "main")
    with pytest.raises(GitError, match="give --base"):
        append_only(root)
    (tmp_path / "bare").mkdir()
    with pytest.raises(GitError, match="not a git repository"):
        append_only(tmp_path / "bare")


def test_a_repository_without_a_commit_has_nothing_to_compare_with(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with pytest.raises(GitError, match="give --base"):
        append_only(tmp_path)


def test_origin_main_comes_before_a_local_main(root: Path) -> None:
    git(root, "update-ref", "refs/remotes/origin/main", "main")
    git(root, "checkout", "-q", "main")
    overwrite(root)
    commit(root, "pushed by nobody yet")
    assert only(append_only(root)).problem.startswith("was changed")
