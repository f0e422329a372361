"""docs/board.md (MEASUREMENT §8)."""

from __future__ import annotations

from pathlib import Path

from archive.ledger import Ledger
from archive.plan import Job
from bot.render import render
from tests.support.make import Change, failed, invalid, make_root, mocked, passed, silent, timed_out
from tests.support.markdown import links, seen, tables

ONE, TWO, THREE, FOUR = (f"pkg:pypi/{name}@1.0" for name in ("one", "two", "three", "four"))


def board(root: Path) -> str:
    return render(root)["docs/board.md"].decode()


def cells(root: Path, head: str) -> list[list[str]]:
    """Rows of the first table whose first head is `head`."""
    return next(table[1:] for table in tables(board(root)) if table[0][0] == head)


def play(job: Job) -> Change:
    """Agent A passes everything but TWO, which nobody passes; its THREE is unstable. Agent B finds two errors and fixes
    one. FOUR has no valid attempt."""
    if job.agent == "control-nop":
        return silent()
    if job.subject == TWO:
        return failed()
    if job.subject == FOUR:
        return invalid("infra:disk")
    if job.agent == "agent-a":
        return timed_out() if job.subject == THREE and job.attempt == 1 else passed()
    return passed(errors_encountered=2, errors_fixed=1)


def test_agents_are_ranked_by_the_middle_of_their_middles(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, TWO, THREE, FOUR, play=play, controls=["control-nop"], evidence=False)
    assert cells(tmp_path, "rank") == [
        # ONE counts alone: TWO is under review, THREE unstable, FOUR incomplete. 5 of 9 valid attempts passed.
        ["1", "Agent A", "100", "4", "1", "1", "1", "5 of 9 (55.6 %, 95 % interval 26.7 to 81.1)"],
        ["2", "Agent B", "90", "4", "0", "1", "1", "6 of 9 (66.7 %, 95 % interval 35.4 to 87.9)"],
    ]


def test_controls_stand_apart_and_are_never_ranked(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, TWO, play=play, controls=["control-nop"], evidence=False)
    assert cells(tmp_path, "control agent") == [
        ["Control Nop", "0", "2", "0", "1", "0", "0 of 6 (0.0 %, 95 % interval 0.0 to 39.0)"]
    ]
    assert "never ranked" in board(tmp_path)
    assert all("Control" not in row[1] for row in cells(tmp_path, "rank"))


def test_every_set_is_there_with_each_score_and_why_it_is_out(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, TWO, THREE, FOUR, play=play, controls=["control-nop"], evidence=False)
    rows = {(row[0], row[1]): row[2:] for row in cells(tmp_path, "project")}
    assert len(rows) == 4 * 3
    assert rows[ONE, "Agent A"] == ["100, 100, 100", "100", "0 %", "counts"]
    assert rows[TWO, "Agent A"] == ["80, 80, 80", "80", "0 %", "not in the score: under review"]
    assert rows[THREE, "Agent A"] == ["0, 100, 100", "100", "100 %", "not in the score: unstable"]
    none = ", ".join(["invalid"] * 12)
    assert rows[FOUR, "Agent A"] == [none, "none", "none", "not in the score: incomplete"]
    assert rows[ONE, "Control Nop"] == ["0, 0, 0", "0", "0 %", "control, never ranked"]


def test_an_agent_with_nothing_scorable_is_shown_without_a_score(tmp_path: Path) -> None:
    make_root(tmp_path, TWO, play=play, evidence=False)
    rows = cells(tmp_path, "rank")
    assert [row[:3] for row in rows] == [["none", "Agent A", "none"], ["none", "Agent B", "none"]]


def test_equal_scores_share_a_rank(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, play=lambda job: mocked(), agents=["agent-a", "agent-b"], evidence=False)
    assert [row[:3] for row in cells(tmp_path, "rank")] == [["1", "Agent A", "92"], ["1", "Agent B", "92"]]


def test_each_score_links_to_its_attempt(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, evidence=False)
    pages = {path: data.decode() for path, data in render(tmp_path).items()}
    targets = [target for target in links(pages["docs/board.md"]) if target.startswith("verdicts.md#")]
    assert len(targets) == 2 * (1 + 3)
    assert all(f'<a id="{target.split("#")[1]}"></a>' in pages["docs/verdicts.md"] for target in targets)


def test_cycles_are_newest_first_and_demonstrations_apart(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, id="old", title="The old one", starts="2026-11-01", evidence=False)
    make_root(tmp_path, ONE, id="show", title="The show", starts="2026-12-05", demonstration=True, evidence=False)
    make_root(tmp_path, ONE, id="new", title="The new one", starts="2026-12-01", evidence=False)
    page = board(tmp_path)
    order = [page.index(f"# {title}\n") for title in ("The new one", "The old one", "Demonstrations", "The show")]
    assert order == sorted(order)
    assert "It is no part of the public board" in page


def test_ledger_and_machine_are_named(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, agents=["agent-a"], evidence=False)
    shown = seen(board(tmp_path))
    assert (
        f"3 records stand in the cycle's ledger. The digest of its last line is {Ledger.read(tmp_path, 'first').head}"
        in shown
    )
    assert "bubblewrap, Debian GNU/Linux 12, x86_64" in shown
    assert "memory watched at 4 GiB" in shown
