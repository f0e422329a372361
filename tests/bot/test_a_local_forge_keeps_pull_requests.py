"""The embedded forge: idempotent, never against a person, whole after any interruption (real git)."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest

from archive.errors import ArgusicError, MachineError
from bot.forge import BranchTaken, PullRequest
from bot.forge.git import EMAIL, Git
from bot.forge.local import LocalForge
from bot.forge.pulls import load
from tests.support.people import BRANCH, PERSON, git, proposal, state_of


def test_a_pull_request_is_a_branch_and_two_files(forge: LocalForge, origin: Path) -> None:
    assert forge.open_or_update(proposal()) == PullRequest(1, BRANCH, "open", "created")
    bare = forge.folder / "repo.git"
    assert git(bare, "rev-parse", "main") == git(origin, "rev-parse", "HEAD")
    assert git(bare, "diff", "--name-status", "main", BRANCH).split("\n") == ["A\tdocs/a.md", "A\tresults/r.json"]
    assert git(bare, "show", f"{BRANCH}:docs/a.md") == "one"
    assert git(bare, "log", "-1", "--format=%an|%ae|%cn|%ce|%aI|%cI", BRANCH) == (
        f"argusic bot|{EMAIL}|argusic bot|{EMAIL}|2026-12-02T00:00:00+00:00|2026-12-02T00:00:00+00:00"
    )
    git(bare, "fsck", "--strict")
    (pull,) = load(forge.folder / "pulls")
    assert (pull.number, pull.state, pull.head) == (1, "open", git(bare, "rev-parse", BRANCH))
    readable = (forge.folder / "pulls/1.md").read_text()
    assert readable.startswith("# Publish cycle first\n\nPull request 1, open: argusic/publish-first into main.\n")
    assert proposal().content in readable


def test_the_same_content_writes_nothing_at_all(forge: LocalForge) -> None:
    forge.open_or_update(proposal())
    before = state_of(forge.folder)
    time.sleep(0.01)
    assert forge.open_or_update(proposal()) == PullRequest(1, BRANCH, "open", "unchanged")
    assert LocalForge(forge.folder, forge.origin).open_or_update(proposal()).change == "unchanged"
    assert state_of(forge.folder) == before


def test_other_content_is_one_more_commit_on_the_same_branch(forge: LocalForge) -> None:
    forge.open_or_update(proposal())
    bare = forge.folder / "repo.git"
    first = git(bare, "rev-parse", BRANCH)
    assert forge.open_or_update(proposal("two")) == PullRequest(1, BRANCH, "open", "updated")
    assert git(bare, "rev-parse", f"{BRANCH}^") == first
    assert git(bare, "show", f"{BRANCH}:docs/a.md") == "two"
    assert len(load(forge.folder / "pulls")) == 1


def test_another_text_alone_is_an_update_too(forge: LocalForge) -> None:
    forge.open_or_update(proposal())
    assert forge.open_or_update(proposal(body="Other.\n")).change == "updated"
    assert "Other." in (forge.folder / "pulls/1.md").read_text()


def test_a_file_can_go(forge: LocalForge) -> None:
    forge.open_or_update(proposal(files={"README.md": None, "docs/a.md": b"one"}))
    names = git(forge.folder / "repo.git", "ls-tree", "-r", "--name-only", BRANCH).split("\n")
    assert names == ["docs/a.md", "pools/a.toml"]


def test_a_folder_that_is_generated_as_a_whole_has_nothing_else(forge: LocalForge, tmp_path: Path) -> None:
    forge.open_or_update(proposal(files={"docs/cycles/a.md": b"a", "docs/cycles/b.md": b"b", "docs/own.md": b"c"}))
    bare = forge.folder / "repo.git"
    git(bare, "update-ref", "refs/heads/main", git(bare, "rev-parse", BRANCH))
    forge.open_or_update(proposal(files={"docs/cycles/b.md": b"b"}))
    assert git(bare, "diff", "--name-status", "main", BRANCH) == "D\tdocs/cycles/a.md"


def test_equal_content_makes_equal_commits_anywhere(tmp_path: Path, origin: Path) -> None:
    heads = []
    for name in ("one", "two"):
        forge = LocalForge(tmp_path / name, origin)
        forge.open_or_update(proposal())
        heads.append(git(forge.folder / "repo.git", "rev-parse", BRANCH))
    assert heads[0] == heads[1]


def test_a_closed_pull_request_stays_closed(forge: LocalForge) -> None:
    forge.open_or_update(proposal())
    path = forge.folder / "pulls/1.json"
    path.write_text(path.read_text().replace('"state": "open"', '"state": "closed"'))
    before = state_of(forge.folder)
    assert forge.open_or_update(proposal()) == PullRequest(1, BRANCH, "closed", "unchanged")
    assert forge.open_or_update(proposal("two")) == PullRequest(1, BRANCH, "closed", "unchanged")
    assert state_of(forge.folder) == before


def test_a_deleted_branch_is_a_decision_too(forge: LocalForge) -> None:
    forge.open_or_update(proposal())
    git(forge.folder / "repo.git", "branch", "-D", BRANCH)
    assert forge.open_or_update(proposal("two")) == PullRequest(1, BRANCH, "closed", "unchanged")


def test_nothing_is_pushed_over_a_persons_commit(forge: LocalForge, tmp_path: Path) -> None:
    forge.open_or_update(proposal())
    bare = forge.folder / "repo.git"
    git(tmp_path, "clone", "-q", "-b", BRANCH, str(bare), "clone")
    (tmp_path / "clone/docs/a.md").write_text("corrected by hand\n")
    git(tmp_path / "clone", "commit", "-qam", "A correction")
    git(tmp_path / "clone", "push", "-q", "origin", BRANCH)
    theirs = git(bare, "rev-parse", BRANCH)
    with pytest.raises(BranchTaken) as caught:
        forge.open_or_update(proposal("two"))
    assert isinstance(caught.value, ArgusicError)
    assert (caught.value.branch, caught.value.commit, caught.value.author) == (BRANCH, theirs, "A Person")
    assert "by A Person and not by this program; merge it, or delete the branch" in str(caught.value)
    assert git(bare, "rev-parse", BRANCH) == theirs


def test_after_a_merge_new_content_is_a_new_pull_request(forge: LocalForge) -> None:
    forge.open_or_update(proposal())
    bare = forge.folder / "repo.git"
    git(bare, "update-ref", "refs/heads/main", git(bare, "rev-parse", BRANCH))
    assert forge.open_or_update(proposal()) == PullRequest(1, BRANCH, "merged", "unchanged")
    assert forge.open_or_update(proposal("two")) == PullRequest(2, BRANCH, "open", "created")
    assert git(bare, "diff", "--name-only", "main", BRANCH) == "docs/a.md"


def test_an_update_takes_in_what_main_has_got_since(forge: LocalForge, tmp_path: Path) -> None:
    forge.open_or_update(proposal())
    bare = forge.folder / "repo.git"
    git(tmp_path, "clone", "-q", "-b", "main", str(bare), "clone")
    (tmp_path / "clone/README.md").write_text("Read me again.\n")
    git(tmp_path / "clone", "commit", "-qam", "Docs")
    git(tmp_path / "clone", "push", "-q", "origin", "main")
    first = git(bare, "rev-parse", BRANCH)
    forge.open_or_update(proposal("two"))
    assert git(bare, "show", f"{BRANCH}:README.md") == "Read me again."
    assert git(bare, "log", "-1", "--format=%P", BRANCH).split() == [first, git(bare, "rev-parse", "main")]
    assert git(bare, "diff", "--name-only", "main", BRANCH).split() == ["docs/a.md", "results/r.json"]


def test_what_main_has_already_needs_no_pull_request(forge: LocalForge) -> None:
    assert forge.open_or_update(proposal(files={"README.md": b"Read me.\n"})) == PullRequest(
        0, BRANCH, "merged", "unchanged"
    )
    assert load(forge.folder / "pulls") == []


def test_each_purpose_has_its_own_number_and_branch(forge: LocalForge) -> None:
    forge.open_or_update(proposal())
    other = forge.open_or_update(proposal(branch="argusic/publish-second"))
    assert other == PullRequest(2, "argusic/publish-second", "open", "created")


def test_a_shallow_checkout_is_enough(tmp_path: Path, origin: Path) -> None:
    (origin / "README.md").write_text("Second.\n")
    git(origin, "commit", "-qam", "Second")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{origin}", "shallow")
    forge = LocalForge(tmp_path / "forge", tmp_path / "shallow")
    assert forge.open_or_update(proposal()).change == "created"
    assert forge.open_or_update(proposal("two")).change == "updated"
    assert git(forge.folder / "repo.git", "show", f"{BRANCH}:README.md") == "Second."


def test_a_folder_that_is_no_checkout_gives_its_pools(tmp_path: Path) -> None:
    origin = tmp_path / "plain"
    for name in ("pools/a.toml", "pools/cycles/c/plan.json", "private.key"):
        (origin / name).parent.mkdir(parents=True, exist_ok=True)
        (origin / name).write_text("x\n")
    forge = LocalForge(tmp_path / "forge", origin)
    forge.open_or_update(proposal())
    assert git(forge.folder / "repo.git", "ls-tree", "-r", "--name-only", "main") == "pools/a.toml"


def test_the_machines_and_the_persons_git_configuration_do_not_matter(
    tmp_path: Path, origin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "reference-transaction").write_text("#!/bin/sh\nexit 1\n")
    (hooks / "reference-transaction").chmod(0o755)
    config.write_text(f"[core]\n\thooksPath = {hooks}\n\tautocrlf = true\n[commit]\n\tgpgsign = true\n")
    for name, value in {
        "GIT_CONFIG_GLOBAL": str(config),
        "GIT_AUTHOR_DATE": "2001-01-01T00:00:00Z",
        "GIT_INDEX_FILE": str(tmp_path / "index"),
        "GIT_DIR": str(tmp_path / "nowhere"),
        "GIT_WORK_TREE": str(tmp_path),
        "LANG": "de_DE.UTF-8",
    }.items():
        monkeypatch.setenv(name, value)
    forge = LocalForge(tmp_path / "forge", origin)
    forge.open_or_update(proposal("a\r\nb\r\n"))
    assert Git(forge.folder / "repo.git")("cat-file", "-s", f"{BRANCH}:docs/a.md") == "6"
    assert not (tmp_path / "index").exists()


def test_names_and_bytes_of_every_kind_arrive_as_they_are(forge: LocalForge) -> None:
    files = {'docs/a "b"\\c.md': b"\x00\xff\r\n", "docs/\u00e9.md": b"", "docs/new\nline.md": b"data 5\nx"}
    forge.open_or_update(proposal(files=files))
    listed = Git(forge.folder / "repo.git")("ls-tree", "-r", "-z", "--name-only", BRANCH, "--", "docs/").split("\0")
    assert set(filter(None, listed)) == files.keys()
    for path, data in files.items():
        asked = ["git", "cat-file", "blob", f"{BRANCH}:{path}"]
        shown = subprocess.run(asked, cwd=forge.folder / "repo.git", env=PERSON, capture_output=True, check=True)
        assert shown.stdout == data


def test_a_file_that_cannot_be_read_leaves_the_branch_alone(forge: LocalForge, tmp_path: Path) -> None:
    forge.open_or_update(proposal())
    head = git(forge.folder / "repo.git", "rev-parse", BRANCH)
    with pytest.raises(OSError, match="No such file"):
        forge.open_or_update(proposal("two", files={"docs/a.md": tmp_path / "missing"}))
    assert git(forge.folder / "repo.git", "rev-parse", BRANCH) == head


def test_git_says_why_it_failed(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="git rev-parse failed"):
        Git(tmp_path / "nowhere")("rev-parse", "HEAD")
