"""verify CYCLE: after any one byte of evidence, record, ledger, plan, pool or page is changed, it fails and names the
file (ARCHITECTURE, invariants 3 and 7)."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import pytest

from archive import atomic, pools
from archive.plan import Job
from audit.finding import Checked
from audit.pages import MARKER, pages
from audit.verify import verify
from bot.render import render
from tests.audit.making import checkout, flipped, ledger, made, name_of, path_of, rewrite
from tests.support.make import failed, invalid, make_root, mocked, passed, timed_out


def play(job: Job) -> dict[str, Any]:
    """Something of everything."""
    if job.agent == "control-nop":
        return failed(installed=False, launched=False)
    kinds = [passed(), mocked(), failed(), timed_out(), invalid(), passed(errors_encountered=2, errors_fixed=1)]
    return kinds[(job.attempt + len(job.subject)) % len(kinds)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = checkout(
        tmp_path_factory.mktemp("whole"), "pkg:pypi/one@1.0", "pkg:pypi/second@1.0", controls=["control-nop"], play=play
    )
    for name, data in render(root).items():
        atomic.write(root / name, data)
    return root


@pytest.fixture
def root(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "root")
    return tmp_path / "root"


def files_found(root: Path) -> set[str]:
    return {found.file.rsplit(":", 1)[0] if found.file[-1].isdigit() else found.file for found in verify(root, "first")}


def test_a_whole_cycle_verifies_and_tells_what_it_came_to(root: Path) -> None:
    checked, confirmed = Checked(), list[str]()
    assert verify(root, "first", checked=checked, confirmed=confirmed) == []
    records = made(root)
    assert checked["records"] == checked["derived outcomes"] == len(records)
    assert checked["evidence files"] == sum(len(record.evidence) for record in records)
    assert confirmed[0] == f"ledger: closed, head {ledger(root).head}"
    assert any(line.startswith("board: agent-a: ") for line in confirmed)
    assert "board: control-nop: 20 (control), 0 of 6 valid attempts passed" in confirmed
    assert "verdict: pkg:pypi/one@1.0: runs" in confirmed


def test_a_cycle_with_a_finding_confirms_neither_board_nor_verdicts(root: Path) -> None:
    confirmed = list[str]()
    path_of(root, made(root)[0].run).unlink()
    assert verify(root, "first", confirmed=confirmed) != []
    assert confirmed == []


@pytest.mark.parametrize(
    "pattern",
    [
        "results/records/*/*/*.json",
        "results/ledgers/*.jsonl",
        ".argusic/evidence/sha256/*/*",
        "docs/**/*.md",
        "pools/cycles/first/*",
        "pools/editions/1.5.toml",
        "pools/agents/*.toml",
        "pools/sources/package.toml",
    ],
)
def test_one_changed_byte_anywhere_is_noticed_and_its_file_named(root: Path, pattern: str) -> None:
    chance = random.Random(pattern)
    files = sorted(root.glob(pattern))
    assert files
    for _ in range(8):
        path = chance.choice(files)
        fine = path.read_bytes()
        path.write_bytes(flipped(fine, chance.randrange(len(fine))))
        assert path.relative_to(root).as_posix() in files_found(root)
        path.write_bytes(fine)
    assert verify(root, "first") == []


@pytest.mark.parametrize("pattern", ["results/records/*/*/*.json", "results/ledgers/*.jsonl", "docs/*.md"])
def test_one_space_more_is_noticed_and_its_file_named(root: Path, pattern: str) -> None:
    path = sorted(root.glob(pattern))[0]
    for data in (path.read_bytes() + b"\n", path.read_bytes() + b" ", b" " + path.read_bytes()):
        fine = path.read_bytes()
        path.write_bytes(data)
        assert path.relative_to(root).as_posix() in files_found(root)
        path.write_bytes(fine)


def test_a_missing_file_of_each_kind_is_named(root: Path) -> None:
    for pattern in ("results/records/*/*/*.json", "docs/*.md"):
        path = sorted(root.glob(pattern))[-1]
        fine = path.read_bytes()
        path.unlink()
        assert path.relative_to(root).as_posix() in files_found(root)
        path.write_bytes(fine)


def test_results_forged_with_a_right_chain_still_differ_from_their_evidence(root: Path) -> None:
    forged = next(record for record in made(root) if record.outcome == "fail")
    wish = {"outcome": "pass_full", "report": passed_report(root)}
    rewrite(root, lambda record: wish if record.run == forged.run else {})
    for name, data in render(root).items():
        atomic.write(root / name, data)
    found = verify(root, "first")
    assert any("is another report than the record" in one.problem and forged.run in one.problem for one in found)


def passed_report(root: Path) -> Any:
    record = next(record for record in made(root) if record.outcome == "pass_full")
    assert record.report is not None
    return record.report.model_dump(mode="json")


def test_an_outcome_forged_with_a_right_chain_is_named_with_its_file(root: Path) -> None:
    forged = next(record for record in made(root) if record.outcome == "fail")
    rewrite(root, lambda record: {"outcome": "pass_full"} if record.run == forged.run else {})
    found = verify(root, "first")
    assert any(one.file == name_of(root, forged.run) and "follows fail" in one.problem for one in found)


def test_a_cycle_that_is_not_there_yet_is_no_reason_to_fail_another(root: Path) -> None:
    make_root(root, "pkg:pypi/one@1.0", id="second", agents=["agent-a"], evidence=False, records_until=1)
    for name, data in render(root).items():
        atomic.write(root / name, data)
    assert verify(root, "first") == []
    assert verify(root, "second") != []


def test_pages_rendered_again_have_the_same_bytes(root: Path) -> None:
    checked = Checked()
    assert pages(root, checked=checked) == []
    assert checked["pages"] == len(render(root))


def test_every_page_begins_with_the_words_that_left_over_pages_are_known_by(root: Path) -> None:
    assert {data[: len(MARKER)] for data in render(root).values()} == {MARKER}


def test_any_changed_byte_of_a_page_is_noticed_with_its_line(root: Path) -> None:
    path = root / "docs/board.md"
    fine = path.read_bytes()
    for place in range(0, len(fine), 29):
        path.write_bytes(flipped(fine, place))
        (found,) = pages(root)
        line = fine[:place].count(b"\n") + 1
        assert found.file == "docs/board.md"
        # A changed line break joins two lines or makes two of one, so the line before may be named.
        assert found.problem.startswith(f"line {line} is "), (found.problem, fine[place : place + 1])


def test_a_number_changed_by_hand_is_shown_beside_the_right_one(root: Path) -> None:
    path = root / "docs/board.md"
    text = path.read_text()
    line = next(line for line in text.splitlines() if line.startswith("| never ranked |") or "Control Nop" in line)
    path.write_text(text.replace(line, line.replace("20", "99", 1), 1))
    (found,) = pages(root)
    assert "99" in found.problem.split("; the results make it ")[0]
    assert "20" in found.problem.split("; the results make it ")[1]


def test_a_page_cut_short_and_one_that_goes_on_are_named(root: Path) -> None:
    path = root / "docs/sources.md"
    fine = path.read_bytes()
    path.write_bytes(b"".join(fine.splitlines(keepends=True)[:-1]))
    (found,) = pages(root)
    assert "is not there; the results make it" in found.problem
    path.write_bytes(fine + b"more\n")
    (found,) = pages(root)
    assert found.problem.endswith("the results make it not there")


def test_a_page_that_no_results_make_is_left_over(root: Path) -> None:
    (root / "docs/cycles/old").mkdir(parents=True)
    (root / "docs/cycles/old/board.md").write_bytes(MARKER + b"\n\n# An old board\n")
    (root / "docs/written-by-a-person.md").write_text("# Hello\n")
    (found,) = pages(root)
    assert found.file == "docs/cycles/old/board.md"
    assert "is left over" in found.problem


def test_results_that_cannot_be_rendered_are_findings_and_no_crash(root: Path) -> None:
    run = made(root)[0].run
    path_of(root, run).write_bytes(b"{}")
    assert {found.file for found in pages(root)} == {name_of(root, run)}


def test_pages_do_not_depend_on_where_the_checkout_lies(root: Path, whole: Path) -> None:
    assert render(root) == render(whole)
    assert pools.cycle_ids(root) == ["first"]
