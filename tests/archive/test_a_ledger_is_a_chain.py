"""One line a run, each with the digest of the line before: nothing in it can be changed unseen."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from archive.canonical import canonical_line, digest
from archive.errors import ArgusicError, DataError
from archive.ledger import Ledger, ledger_path, merkle_root
from archive.merkle import root

PLAN = "sha256:" + "1" * 64
NO_RECORDS = merkle_root({})
RUNS = [f"{number:032x}" for number in range(1, 6)]


def record(number: int) -> str:
    return f"sha256:{number:064x}"


def ledger(root: Path, count: int = 3, *, closed: bool = False) -> Path:
    made = Ledger.open(root, "first", PLAN)
    for number, run in enumerate(RUNS[:count]):
        made.append(run, record(number))
    if closed:
        made.close()
    return ledger_path(root, "first")


def broken(root: Path) -> str:
    with pytest.raises(ArgusicError) as caught:
        Ledger.read(root, "first")
    assert str(ledger_path(root, "first")) in str(caught.value)
    return str(caught.value)


def test_a_ledger_names_cycle_plan_and_runs_in_their_order(tmp_path: Path) -> None:
    ledger(tmp_path, closed=True)
    found = Ledger.read(tmp_path, "first")
    assert (found.plan, found.closed) == (PLAN, True)
    assert list(found.entries.items()) == [(RUNS[n], record(n)) for n in range(3)]
    assert [line.kind for line in found.lines] == ["opened", "record", "record", "record", "closed"]


def test_each_line_holds_the_digest_of_the_line_before(tmp_path: Path) -> None:
    lines = ledger(tmp_path, closed=True).read_bytes().splitlines(keepends=True)
    assert [json.loads(line)["n"] for line in lines] == [0, 1, 2, 3, 4]
    for before, line in pairwise(lines):
        assert json.loads(line)["prev"] == digest(before)
    assert json.loads(lines[-1])["records"] == 3


def test_the_same_run_again_is_left_alone(tmp_path: Path) -> None:
    path = ledger(tmp_path)
    before = path.read_bytes()
    Ledger.open(tmp_path, "first", PLAN).append(RUNS[0], record(0))
    assert path.read_bytes() == before


def test_the_same_run_with_another_digest_is_refused(tmp_path: Path) -> None:
    path = ledger(tmp_path)
    before = path.read_bytes()
    with pytest.raises(DataError, match="stands there with another digest"):
        Ledger.open(tmp_path, "first", PLAN).append(RUNS[0], record(9))
    assert path.read_bytes() == before


def test_after_the_close_nothing_is_added(tmp_path: Path) -> None:
    path = ledger(tmp_path, closed=True)
    before = path.read_bytes()
    found = Ledger.open(tmp_path, "first", PLAN)
    with pytest.raises(DataError, match="the cycle is closed"):
        found.append(RUNS[4], record(4))
    found.close()
    assert path.read_bytes() == before


def test_a_ledger_goes_on_where_another_process_left_it(tmp_path: Path) -> None:
    ledger(tmp_path, 2)
    ledger(tmp_path, 5, closed=True)
    assert list(Ledger.read(tmp_path, "first").entries) == RUNS


def test_any_changed_byte_breaks_a_closed_chain(tmp_path: Path) -> None:
    path = ledger(tmp_path, 2, closed=True)
    fine = path.read_bytes()
    for place in range(len(fine)):
        for flip in (0x01, 0x20):
            path.write_bytes(fine[:place] + bytes([fine[place] ^ flip]) + fine[place + 1 :])
            assert broken(tmp_path)


@pytest.mark.parametrize("line", range(4))
def test_a_removed_line_breaks_the_chain_at_its_place(tmp_path: Path, line: int) -> None:
    path = ledger(tmp_path, closed=True)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:line] + lines[line + 1 :]))
    assert f"first.jsonl:{line + 1}:" in broken(tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], "numbered 2"),
        (lambda lines: [*lines, lines[-1]], "numbered 4"),
        (lambda lines: [lines[0], *lines], "numbered 0"),
        (lambda lines: [], "is empty"),
        (lambda lines: [*lines[:-1], lines[-1][:-1]], "canonical form"),
        (lambda lines: [*lines, b"\n"], "Invalid JSON"),
        (lambda lines: [lines[0].replace(b'"cycle":"first"', b'"cycle":"other"'), *lines[1:]], "of cycle other"),
        (lambda lines: [lines[0][:-1] + b" \n", *lines[1:]], "canonical form"),
    ],
)
def test_whatever_was_done_to_it_is_said(
    tmp_path: Path, change: Callable[[list[bytes]], list[bytes]], said: str
) -> None:
    path = ledger(tmp_path, closed=True)
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))
    assert said in broken(tmp_path)


def forged(root: Path, *lines: dict[str, object]) -> None:
    """A ledger whose chain is right, whatever its lines say."""
    data, head = b"", ""
    for number, line in enumerate(lines):
        raw = canonical_line({"n": number} | ({"prev": head} if number else {}) | line)
        data, head = data + raw, digest(raw)
    path = ledger_path(root, "first")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


OPENED = {"kind": "opened", "cycle": "first", "plan": PLAN}


def test_a_run_cannot_stand_in_a_chain_twice(tmp_path: Path) -> None:
    entry = {"kind": "record", "run": RUNS[0], "record": record(0)}
    forged(tmp_path, OPENED, entry, entry | {"record": record(1)})
    assert f"first.jsonl:3: names run {RUNS[0]} a second time" in broken(tmp_path)


def test_a_count_that_is_wrong_is_refused(tmp_path: Path) -> None:
    forged(tmp_path, OPENED, {"kind": "closed", "records": 1, "root": NO_RECORDS})
    assert "counts 1 records; there are 0" in broken(tmp_path)


def test_nothing_follows_the_close_even_with_a_right_digest(tmp_path: Path) -> None:
    forged(
        tmp_path,
        OPENED,
        {"kind": "closed", "records": 0, "root": NO_RECORDS},
        {"kind": "record", "run": RUNS[0], "record": record(0)},
    )
    assert "after the line that closed" in broken(tmp_path)


def test_a_line_that_opens_stands_first_and_only_there(tmp_path: Path) -> None:
    forged(tmp_path, {"kind": "closed", "prev": PLAN, "records": 0, "root": NO_RECORDS})
    assert "first.jsonl:1: closed" in broken(tmp_path)


@pytest.mark.parametrize("field", ["note", "at"])
def test_an_unknown_field_is_refused(tmp_path: Path, field: str) -> None:
    forged(tmp_path, OPENED | {field: "x"})
    assert "unknown key" in broken(tmp_path)


def test_a_torn_last_line_is_repaired_by_opening_and_never_by_reading(tmp_path: Path) -> None:
    path = ledger(tmp_path)
    fine = path.read_bytes()
    for kept in (1, 40, 200):
        torn = fine + fine.splitlines(keepends=True)[-1][:kept]
        path.write_bytes(torn)
        broken(tmp_path)
        assert path.read_bytes() == torn, "reading changes nothing"
        assert list(Ledger.open(tmp_path, "first", PLAN).entries) == RUNS[:3]
        assert path.read_bytes() == fine


def test_a_torn_first_line_is_begun_again(tmp_path: Path) -> None:
    path = ledger(tmp_path, 0)
    fine = path.read_bytes()
    path.write_bytes(fine[:20])
    assert Ledger.open(tmp_path, "first", PLAN).entries == {}
    assert path.read_bytes() == fine


def test_opening_repairs_no_break_in_the_middle(tmp_path: Path) -> None:
    path = ledger(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    wrong = b"".join([lines[0], *lines[2:]])
    path.write_bytes(wrong)
    with pytest.raises(ArgusicError):
        Ledger.open(tmp_path, "first", PLAN)
    assert path.read_bytes() == wrong


def test_a_cycle_without_ledger_says_so(tmp_path: Path) -> None:
    assert "nothing of this cycle was run" in broken(tmp_path)


def test_the_same_results_make_the_same_bytes(tmp_path: Path) -> None:
    assert ledger(tmp_path / "a", closed=True).read_bytes() == ledger(tmp_path / "b", closed=True).read_bytes()


def test_a_closed_ledger_holds_one_digest_over_all_its_records(tmp_path: Path) -> None:
    last = json.loads(ledger(tmp_path, closed=True).read_bytes().splitlines()[-1])
    assert last["root"] == root([f"{RUNS[n]} {record(n)}".encode() for n in range(3)])


def test_another_digest_over_the_records_is_named(tmp_path: Path) -> None:
    forged(tmp_path, OPENED, {"kind": "closed", "records": 0, "root": record(1)})
    assert "holds another Merkle root than that of the records before it" in broken(tmp_path)
