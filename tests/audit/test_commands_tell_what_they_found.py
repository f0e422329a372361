"""The commands: one line a finding, exit 1 where there is one, what was looked at where there is none; or JSON."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from archive import atomic
from archive.errors import ArgusicError, DataError
from audit import commands
from audit.finding import Finding, explained, printable
from bot.render import render
from tests.audit.making import checkout, commit, git, made, path_of

ARGUMENTS = {
    "complete": [],
    "append-only": [],
    "rules": [],
    "pages": [],
    "verify": ["first"],
}


def invoke(root: Path, *words: str) -> tuple[int, str]:
    app = typer.Typer()

    @app.callback()
    def main(ctx: typer.Context) -> None:
        ctx.obj = root

    app.command("complete")(commands.audit_complete)
    app.command("append-only")(commands.audit_append_only)
    app.command("rules")(commands.audit_rules)
    app.command("pages")(commands.audit_pages)
    app.command("verify")(commands.verify)
    done = CliRunner().invoke(app, words)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = checkout(tmp_path_factory.mktemp("whole"), agents=["agent-a"])
    for name, data in render(root).items():
        atomic.write(root / name, data)
    git(root, "init", "-q")
    commit(root)
    return root


@pytest.fixture
def root(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "root", symlinks=True)
    return tmp_path / "root"


@pytest.mark.parametrize("command", ARGUMENTS)
def test_where_all_is_right_one_line_says_what_was_checked(root: Path, command: str) -> None:
    code, output = invoke(root, command, *ARGUMENTS[command])
    assert code == 0
    assert output.splitlines()[-1].startswith("nothing found; checked: ")
    assert any(character.isdigit() for character in output.splitlines()[-1])


@pytest.mark.parametrize("command", ARGUMENTS)
def test_a_finding_is_one_line_with_check_file_and_problem_and_exit_1(root: Path, command: str) -> None:
    path = root / "docs/methodology.md"
    path.write_text(path.read_text().replace("| `budgets.standard` | 90 |", "| `budgets.standard` | 45 |"))
    path_of(root, made(root)[0].run).write_bytes(b"{}\n")
    code, output = invoke(root, command, *ARGUMENTS[command])
    assert code == 1
    lines = output.splitlines()
    assert any(line.split(": ")[1] in (name_of_first(root), "docs/methodology.md") for line in lines[:-1])
    found = [
        line for line in lines if line.startswith(("complete: ", "append-only: ", "rules: ", "pages: ", "verify: "))
    ]
    told = f"{len(found)} findings" if len(found) > 1 else "1 finding"
    assert lines[-1].startswith(f"{told} in ")


def name_of_first(root: Path) -> str:
    """The record that a test emptied."""
    (path,) = (path for path in root.glob("results/records/*/*/*.json") if path.stat().st_size < 9)
    return path.relative_to(root).as_posix()


@pytest.mark.parametrize("command", ARGUMENTS)
def test_a_program_reads_the_same_as_json(root: Path, command: str) -> None:
    code, output = invoke(root, command, *ARGUMENTS[command], "--json")
    told = json.loads(output)
    assert (code, told["findings"]) == (0, [])
    assert told["checked"]
    path_of(root, made(root)[0].run).write_bytes(b"{}\n")
    code, output = invoke(root, command, *ARGUMENTS[command], "--json")
    told = json.loads(output)
    assert code == 1
    assert set(told["findings"][0]) == {"check", "file", "problem"}
    assert name_of_first(root) in {one["file"] for one in told["findings"]}


def test_a_cycle_under_way_needs_open(tmp_path: Path) -> None:
    root = checkout(tmp_path, agents=["agent-a"], close=False, records_until=1)
    code, output = invoke(root, "complete")
    assert (code, "is not made yet" in output) == (1, True)
    assert invoke(root, "complete", "--open")[0] == 0
    assert invoke(root, "complete", "first", "--open")[0] == 0


def test_a_base_can_be_named(root: Path) -> None:
    assert invoke(root, "append-only", "--base", "HEAD")[0] == 0
    with pytest.raises(ArgusicError, match="no commit 'nowhere'"):
        invoke(root, "append-only", "--base", "nowhere")


def test_verifying_a_run_tells_each_file_with_its_digest(root: Path) -> None:
    record = made(root)[0]
    code, output = invoke(root, "verify", record.run[:12])
    assert code == 0
    for item in record.evidence:
        assert f"{item.role}: {item.bytes} bytes, {item.digest}" in output
    assert invoke(root, "verify", record.run, "--from", str(root / ".argusic/evidence"))[0] == 0


def test_a_users_mistake_is_left_to_the_one_place_that_prints_them(root: Path) -> None:
    with pytest.raises(DataError, match="neither a run nor a cycle"):
        invoke(root, "verify", "nothing")


def test_what_others_wrote_cannot_move_the_cursor_or_break_a_line() -> None:
    hostile = Finding("complete", "a\nb\x1b[2J.json", "tab\t, bell\x07, bidi\u202e, stray \udcff, fine: đ실✓")
    assert str(hostile) == r"complete: a\nb\x1b[2J.json: tab\t, bell\x07, bidi\u202e, stray \udcff, fine: đ실✓"
    assert printable("plain words, 100 %") == "plain words, 100 %"


def test_a_readers_error_is_told_with_its_place(tmp_path: Path) -> None:
    error = DataError(tmp_path / "pools/x.toml", "budgets.standard", "must be more", 7)
    assert explained("rules", tmp_path, error) == [Finding("rules", "pools/x.toml:7", "budgets.standard: must be more")]
    assert explained("rules", tmp_path, ArgusicError("no disk")) == [Finding("rules", ".", "no disk")]
