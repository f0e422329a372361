"""Real repositories on a real git server, fetched in a real machine and laid into another one; no network is needed."""

from __future__ import annotations

import hashlib
import json
import random
import re
import socket
import subprocess

import pytest

from archive.errors import ArgusicError, MachineError
from archive.reasons import Reason
from archive.subject import Subject
from runner.machine import spec
from runner.sandbox.bubblewrap import Bubblewrap
from runner.sources import FetchFailed, source
from runner.sources import repository as repository_module
from runner.sources.prepare import prepare
from runner.watch import Halt
from tests.runner.conftest import shell
from tests.support.git_server import ENV, commit, git, raw, repository, served

pytestmark = pytest.mark.sandbox
README = b"# Tool\n\nA README of a test subject.\n"
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 123456789\n"


def subject(commit: str, name: str = "owner/tool") -> Subject:
    given = {"source_type": "repository", "tier": "standard", "licence": "MIT", "why": "a test"}
    return Subject(id=f"pkg:github/{name}@{commit}", **given)


@pytest.fixture
def sandbox():
    """The one whose machines reach the loopback interface of the tests."""
    made = Bubblewrap()
    try:
        made.start(spec(made, (), None)).destroy()
    except MachineError as error:
        pytest.skip(f"no bubblewrap here: {error}")
    return made


@pytest.fixture
def rule(tmp_path, monkeypatch):
    """Sets what the runner's git configuration says instead of addresses."""
    path = tmp_path / "gitconfig"
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")

    def one(base: str, prefix: str) -> None:
        with path.open("a") as file:
            file.write(f'[url "{base}"]\n\tinsteadOf = {prefix}\n')

    return one


@pytest.fixture
def forge(tmp_path):
    with served(tmp_path / "served") as server:
        yield server


@pytest.fixture
def tool(tmp_path, forge, rule):
    """A repository that the runner reaches as https://github.com/owner/tool."""
    rule(f"{forge.url}/", "https://github.com/")
    return repository(tmp_path / "served/owner/tool")


@pytest.fixture
def fetch(sandbox, tmp_path):
    def one(commit: str, name: str = "owner/tool"):
        return source("repository").fetch(subject(commit, name), sandbox, None, tmp_path / "subject")

    return one


@pytest.fixture
def laid(sandbox):
    """A machine into which a brief's subject was laid."""
    machines = []

    def one(brief):
        machine = sandbox.start(spec(sandbox, brief.files, None))
        machines.append(machine)
        prepare(machine, brief, Halt())
        return machine

    yield one
    for machine in machines:
        machine.destroy()


def refused(fetch, commit: str, **given) -> FetchFailed:
    with pytest.raises(FetchFailed) as caught:
        fetch(commit, **given)
    return caught.value


def test_only_the_pinned_commit_is_fetched_and_a_branch_that_moved_on_changes_nothing(tool, fetch, laid):
    commit(tool, {"old.txt": b"old"})
    pinned = commit(tool, {"README.md": README, "src/run.sh": b"#!/bin/sh\necho ran\n"})
    commit(tool, {"README.md": b"newer"})
    brief = fetch(pinned)
    assert (brief.ecosystem, brief.name, brief.version) == ("github", "owner/tool", pinned)
    assert (brief.readme, brief.incidents) == (README, ())
    machine = laid(brief)
    asked = "git rev-list --count --all HEAD; git rev-parse HEAD; git status --porcelain; git remote get-url origin"
    assert shell(machine, asked) == (0, f"1\n{pinned}\nhttps://github.com/owner/tool\n")
    assert shell(machine, "cat old.txt README.md; ls .git/hooks 2>/dev/null; id -u; stat -c %u .git/HEAD") == (
        0,
        "old" + README.decode() + "1000\n1000\n",
    )


def test_what_was_fetched_is_stated_by_a_digest_that_anybody_can_compute(tool, fetch, tmp_path):
    files = {"README": b"read me", ".gitattributes": b"* text eol=crlf\nlost export-ignore\n", "lost": b"a\nb\n"}
    pinned = commit(tool, files)
    (file,) = fetch(pinned).fetched
    (tool / ".git/info/attributes").write_text(
        "* -text -ident -filter -export-ignore -export-subst !eol !working-tree-encoding\n"
    )
    archive = subprocess.run(["git", "-C", tool, "archive", pinned], env=ENV, capture_output=True, check=True).stdout
    assert b"lost" in archive
    assert (file.name, file.bytes) == (f"tool-{pinned}.tar", len(archive))
    assert file.digest == f"sha256:{hashlib.sha256(archive).hexdigest()}"
    assert fetch(pinned).fetched == (file,)


def test_the_name_of_every_object_is_computed_anew_where_the_agent_works(tool, fetch, laid, tmp_path):
    brief = fetch(commit(tool, {"run.sh": b"echo good\n"}))
    other = repository(tmp_path / "other")
    commit(other, {"run.sh": b"echo evil\n"})
    objects = git(other, "rev-list", "--objects", "--all").encode()
    command = ["git", "-C", other, "pack-objects", "--stdout"]
    names = b"\n".join(line.split()[0] for line in objects.splitlines()) + b"\n"
    (tmp_path / "subject/0.pack").write_bytes(
        subprocess.run(command, input=names, capture_output=True, check=True).stdout
    )
    with pytest.raises(MachineError, match="could not be laid into the machine"):
        laid(brief)


def test_a_commit_that_vanished_is_said_to_be_unavailable(tool, fetch):
    commit(tool, {"README.md": README})
    error = refused(fetch, "f" * 40)
    assert error.reason is Reason.INFRA_SUBJECT_UNAVAILABLE
    assert "the pinned commit is not there any more" in str(error)


def test_an_empty_repository_has_no_pinned_commit(tool, fetch):
    assert "not there any more" in str(refused(fetch, "f" * 40))


@pytest.mark.parametrize("kind", ["tree", "blob", "tag"])
def test_a_pin_that_names_another_object_is_no_commit(tool, fetch, kind):
    commit(tool, {"README.md": README})
    git(tool, "tag", "--annotate", "--message=t", "v1")
    pinned = git(tool, "rev-parse", {"tree": "HEAD^{tree}", "blob": "HEAD:README.md", "tag": "v1"}[kind])
    error = refused(fetch, pinned)
    assert error.reason is Reason.INFRA_SUBJECT_UNAVAILABLE
    assert "names no commit" in str(error)


def test_a_renamed_repository_is_fetched_and_its_new_address_is_noted(tool, forge, fetch):
    pinned = commit(tool, {"README.md": README})
    forge.moved["/owner/old"] = "/owner/tool"
    brief = fetch(pinned, "owner/old")
    (incident,) = brief.incidents
    assert incident.kind == "subject-moved"
    assert incident.detail == f"https://github.com/owner/old answers at {forge.url}/owner/tool"
    assert brief.readme == README


@pytest.mark.parametrize(
    ("status", "reason", "words"),
    [
        (401, Reason.INFRA_SUBJECT_UNAVAILABLE, "asks for credentials"),
        (403, Reason.INFRA_SUBJECT_UNAVAILABLE, "asks for credentials"),
        (404, Reason.INFRA_SUBJECT_UNAVAILABLE, "no repository at its address"),
        (429, Reason.INFRA_NETWORK, "cannot be reached"),
        (503, Reason.INFRA_NETWORK, "cannot be reached"),
    ],
)
def test_what_a_server_answers_decides_whose_trouble_it_is(tool, forge, fetch, sandbox, status, reason, words):
    pinned = commit(tool, {"README.md": README})
    forge.answers["/owner/tool"] = status
    error = refused(fetch, pinned)
    assert error.reason is reason
    assert words in str(error)
    assert source("repository").reachable(subject(pinned), sandbox, None) is (reason is not Reason.INFRA_NETWORK)


def test_a_repository_that_never_was_is_missing(tool, fetch):
    assert "no repository at its address" in str(refused(fetch, "f" * 40, name="owner/none"))


def test_a_server_that_is_not_there_is_the_networks_trouble(rule, fetch, sandbox):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        rule(f"http://127.0.0.1:{closed.getsockname()[1]}/", "https://github.com/")
        error = refused(fetch, "f" * 40)
        assert error.reason is Reason.INFRA_NETWORK
        assert not source("repository").reachable(subject("f" * 40), sandbox, None)


def test_a_mirror_that_is_a_folder_of_the_runner_is_seen_read_only(tmp_path, rule, fetch, laid):
    rule(f"{tmp_path}/mirror/", "https://github.com/")
    tool = repository(tmp_path / "mirror/owner/tool")
    commit(tool, {"a": b"1"})
    pinned = commit(tool, {"README.md": README})
    commit(tool, {"a": b"2"})
    machine = laid(fetch(pinned))
    assert shell(machine, "git rev-list --count HEAD; cat a")[1] == "1\n1"


def test_a_submodule_is_fetched_at_the_commit_that_is_pinned_with_it(tool, tmp_path, fetch, laid, forge):
    lib = repository(tmp_path / "served/owner/lib")
    commit(lib, {"before": b""})
    inner = repository(tmp_path / "served/else/inner")
    deep = commit(inner, {"deep.txt": b"deep\n"})
    (lib / ".gitmodules").write_text(
        '[submodule "i"]\n\tpath = third/inner\n\turl = https://github.com/else/inner.git\n'
    )
    git(lib, "update-index", "--add", "--cacheinfo", f"160000,{deep},third/inner")
    (lib / "third/inner").mkdir(parents=True)
    pinned_lib = commit(lib, {"lib.txt": b"lib\n"})
    commit(lib, {"lib.txt": b"newer\n"})
    git(inner, "config", "core.bare", "false")
    (tmp_path / "served/else/inner.git").symlink_to(inner)
    (tool / ".gitmodules").write_text('[submodule "lib"]\n\tpath = lib\n\turl = ../lib\n')
    git(tool, "update-index", "--add", "--cacheinfo", f"160000,{pinned_lib},lib")
    (tool / "lib").mkdir()
    pinned = commit(tool, {"README.md": README})
    brief = fetch(pinned)
    assert brief.incidents == ()
    assert [file.name.rpartition("-")[0] for file in brief.fetched] == ["tool", "lib", "inner"]
    machine = laid(brief)
    assert shell(machine, "cat lib/lib.txt lib/third/inner/deep.txt; git status --porcelain") == (0, "lib\ndeep\n")
    said = shell(machine, "git submodule status --recursive; git -C lib rev-list --count HEAD")[1]
    assert [line.strip()[:40] for line in said.splitlines()] == [pinned_lib, deep, "1"]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://github.com/owner/none", "no repository at its address"),
        ("../gone", "no repository at its address"),
        ("git@example.org:owner/lib.git", "one needs an account (ssh)"),
        ("https://user:secret@example.org/lib", "a user name or password"),
        ("http://127.0.0.1:1/lib", "none of https"),
        ("/etc", "a folder of one computer"),
        ("ext::sh -c id", "none of a repository"),
        ("file:///etc", "a folder of one computer"),
        ("", "gives no address"),
    ],
)
def test_a_submodule_that_nobody_could_have_is_noted_and_left_empty(tool, fetch, laid, url, words):
    text = f'[submodule "lib"]\n\tpath = lib\n\turl = {url}\n' if url else ""
    (tool / ".gitmodules").write_text(text)
    git(tool, "update-index", "--add", "--cacheinfo", f"160000,{'a' * 40},lib")
    (tool / "lib").mkdir()
    pinned = commit(tool, {"README.md": README})
    brief = fetch(pinned)
    (incident,) = brief.incidents
    assert incident.kind == "submodule-missing"
    assert words in incident.detail
    assert "secret" not in incident.detail
    assert shell(laid(brief), "ls -A lib; cat README.md") == (0, README.decode())


def test_a_submodule_address_that_is_an_option_of_git_is_refused(tool, fetch):
    (tool / ".gitmodules").write_text('[submodule "lib"]\n\tpath = lib\n\turl = --upload-pack=id\n')
    assert "git refuses the objects" in str(refused(fetch, commit(tool, {"README.md": README})))


def test_a_network_that_fails_for_a_submodule_fails_the_fetch(tool, forge, fetch):
    (tool / ".gitmodules").write_text('[submodule "lib"]\n\tpath = lib\n\turl = ../lib\n')
    git(tool, "update-index", "--add", "--cacheinfo", f"160000,{'a' * 40},lib")
    (tool / "lib").mkdir()
    pinned = commit(tool, {})
    forge.answers["/owner/lib"] = 503
    error = refused(fetch, pinned)
    assert error.reason is Reason.INFRA_NETWORK
    assert "its submodule lib" in str(error)


def test_a_pointer_to_a_large_file_stays_a_pointer_and_is_noted(tool, fetch, laid):
    attributes = {".gitattributes": b"*.bin filter=lfs diff=lfs merge=lfs -text\n"}
    pointers = {f"{name}.bin": POINTER.format(name * 64).encode() for name in "ab"}
    brief = fetch(commit(tool, attributes | pointers | {"c.txt": b"x" * 200}))
    (incident,) = brief.incidents
    assert incident.kind == "large-files-elsewhere"
    assert incident.detail.startswith("2 files of the repository only point to 246913578 bytes in Git LFS")
    assert shell(laid(brief), "cat a.bin")[1] == POINTER.format("a" * 64)


def test_a_commit_over_the_ceiling_is_said_to_be_too_large(tool, fetch, monkeypatch):
    pinned = commit(tool, {"zeros": bytes(3 << 20), "README.md": README})
    monkeypatch.setattr(repository_module, "MOST_BYTES", 1 << 20)
    error = refused(fetch, pinned)
    assert error.reason is Reason.INFRA_SUBJECT_UNAVAILABLE
    assert "it is larger than" in str(error)
    assert "2 files" in str(error)


def test_a_pack_over_the_ceiling_ends_the_transfer(tool, fetch, monkeypatch):
    pinned = commit(tool, {"noise": random.Random(1).randbytes(3 << 20)})
    monkeypatch.setattr(repository_module, "MOST_BYTES", 1 << 20)
    assert "it is larger than" in str(refused(fetch, pinned))


def test_hostile_names_stay_names(tool, fetch, laid):
    blob = b"content\n"
    names = [b"\xff\xfe.txt", b"--help", b"-rf", b"A.txt", b"a.txt", b"new\nline", b"\x1b[31m"]
    entries = [("100644", "blob", name, blob) for name in names]
    entries.append(("120000", "blob", b"out", b"../../../etc/passwd"))
    entries.append(("120000", "blob", b"root", b"/home/agent"))
    pinned = raw(tool, sorted(entries, key=lambda entry: entry[2]))
    machine = laid(fetch(pinned))
    count = 'python3 -c \'import os; print(len(os.listdir(b".")) - 1, os.readlink("out"))\'; git status --porcelain'
    assert shell(machine, count) == (0, f"{len(entries)} ../../../etc/passwd\n")
    assert machine.read("/home/agent/report.json", 10) is None


@pytest.mark.parametrize(
    ("name", "mode"),
    [(b".git", "40000"), (b".GIT", "40000"), (b"..", "40000"), (b"a/b", "100644"), (b".git", "160000")],
    ids=["the repository's own folder", "the same in capitals", "the folder above", "a path", "a submodule"],
)
def test_a_tree_that_would_reach_out_of_its_folder_is_refused(tool, fetch, name, mode):
    inner = [("100644", "blob", b"config", b"[core]\n\tfsmonitor = touch /tmp/ran\n")]
    kind = {"40000": "tree", "100644": "blob", "160000": "commit"}[mode]
    content = b"x"
    if kind == "tree":
        other = raw(tool, inner)
        oid = git(tool, "rev-parse", f"{other}^{{tree}}")
        content = subprocess.run(["git", "-C", tool, "cat-file", "tree", oid], capture_output=True, check=True).stdout
    if kind == "commit":
        content = b"a" * 40
    error = refused(fetch, raw(tool, [(mode, kind, name, content)]))
    assert error.reason is Reason.INFRA_SUBJECT_UNAVAILABLE
    assert "git refuses the objects it is made of" in str(error)


def test_a_link_in_place_of_the_submodule_list_is_refused(tool, fetch):
    pinned = raw(tool, [("120000", "blob", b".gitmodules", b"/etc/passwd")])
    assert "git refuses the objects" in str(refused(fetch, pinned))


def test_hooks_of_the_repository_are_not_run(tool, fetch, laid):
    hook = b"#!/bin/sh\ntouch /home/agent/ran\n"
    commit(tool, {".githooks/post-checkout": hook, "README.md": README})
    (tool / ".githooks/post-checkout").chmod(0o755)
    machine = laid(fetch(commit(tool, {"x": b""})))
    assert shell(machine, "ls -A /home/agent")[1].split() == ["project"]


def test_a_readme_in_any_bytes_is_handed_on_as_it_is(tool, fetch):
    assert fetch(commit(tool, {"README": b"caf\xe9 \x00\xff"})).readme == b"caf\xe9 \x00\xff"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["readme.rst", "README.md", "docs/README.md"], "README.md"),
        (["ReadMe.TXT", ".github/README.md"], "ReadMe.TXT"),
        (["docs/readme.md", ".github/README"], ".github/README"),
        (["docs/README.adoc"], "docs/README.adoc"),
        (["README.zh.md", "READMEs.md", "src/README.md"], None),
    ],
)
def test_the_readme_is_the_one_that_a_reader_is_shown(tool, fetch, files, found):
    readme = fetch(commit(tool, {name: name.encode() for name in files})).readme
    assert readme == (found.encode() if found else None)


def test_a_readme_that_is_a_link_is_followed_inside_the_commit_only(tool, fetch):
    commit(tool, {"docs/index.md": README}, {"README.md": "docs/index.md"})
    assert fetch(git(tool, "rev-parse", "HEAD")).readme == README
    (tool / "README.md").unlink()
    assert fetch(commit(tool, {}, {"README.md": "/etc/passwd"})).readme is None


def test_nothing_of_the_runners_git_configuration_enters_a_machine(tool, tmp_path, forge, fetch, monkeypatch):
    with (tmp_path / "gitconfig").open("a") as file:
        file.write("[credential]\n\thelper = !echo password=secret\n[http]\n\textraHeader = X-Secret: 1\n")
    pinned = commit(tool, {"README.md": README})
    forge.answers["/owner/tool"] = 401
    assert "asks for credentials" in str(refused(fetch, pinned))
    assert all("secret" not in path for path in forge.asked)


@pytest.mark.parametrize(
    ("base", "words"),
    [
        ("https://user:secret@example.org/", "a user name or password"),
        ("git@example.org:", "one needs an account"),
        ("/nowhere/", "a folder that is not there"),
        ("ext::sh -c 'id' ", "none of a repository"),
    ],
)
def test_a_rule_of_the_runner_that_no_machine_can_use_is_the_runners_trouble(rule, fetch, base, words):
    rule(base, "https://github.com/")
    with pytest.raises(ArgusicError, match=re.escape("the runner's git configuration")) as caught:
        fetch("f" * 40)
    assert not isinstance(caught.value, FetchFailed)
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)


def test_the_checkout_file_names_only_public_addresses(tool, fetch, tmp_path, forge):
    pinned = commit(tool, {"README.md": README})
    fetch(pinned)
    (part,) = json.loads((tmp_path / "subject/checkout.json").read_bytes())
    assert part == {"pack": "0.pack", "path": "", "url": "https://github.com/owner/tool", "commit": pinned}
    assert {path.name for path in (tmp_path / "subject").iterdir()} == {"0.pack", "checkout.json"}
