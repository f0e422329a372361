"""verify RUN: every file of an attempt is there, unchanged, whole, and agrees with what the record says (§10)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from archive import places, pools
from archive.backends import Objects
from archive.canonical import canonical
from archive.errors import DataError
from archive.ledger import ledger_path
from archive.record import Record
from archive.report import MAX_BYTES
from audit.borrowed import Borrowed
from audit.evidence import evidence as evidence_of
from audit.finding import Checked, Finding
from audit.verify import verify
from tests.audit.making import (
    LOG,
    SESSION,
    checkout,
    evidence,
    flipped,
    ledger,
    log,
    made,
    name_of,
    path_of,
    rewrite,
    session,
    stored,
)
from tests.support.make import Change, certified, failed, invalid, make_record, mocked, passed, silent, timed_out

KINDS: dict[str, Callable[[], dict[str, Any]]] = {
    "passed": passed,
    "mocked": mocked,
    "failed": failed,
    "silent": silent,
    "timed out": timed_out,
    "invalid": invalid,
    "withheld": lambda: invalid("evidence:not-proven-clean"),
    "contradictory": lambda: (
        invalid("agent:report-contradictory")
        | {"ended_by": "agent", "report_state": "read", "report": {"errors_encountered": 1, "errors_fixed": 2}}
    ),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return checkout(tmp_path_factory.mktemp("whole"), agents=["agent-a"])


@pytest.fixture
def root(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "root")
    return tmp_path / "root"


def one(
    folder: Path, change: Change, make: Callable[[Path, Record], list[dict[str, Any]]] | None = None
) -> tuple[Path, str]:
    """A checkout whose first attempt is `change`, with the evidence that `make` stores; the attempt's run."""

    root = checkout(folder, agents=["agent-a"], play=lambda job: change if job.attempt == 1 else passed())
    run = next(record.run for record in made(root) if record.attempt == 1)
    if make:
        rewrite(root, lambda record: certified(root, make(root, record)) if record.run == run else {})
    return root, run


def only(findings: list[Finding]) -> Finding:
    assert len(findings) == 1, [str(one) for one in findings]
    return findings[0]


def store_file(root: Path, role: str, record: Record | None = None) -> Path:
    item = (record or made(root)[0]).file(role)  # type: ignore[arg-type]
    assert item is not None
    path = places.store(root).path(item.digest)
    assert path is not None
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_of_each_kind_verifies(tmp_path: Path, kind: str) -> None:
    root, run = one(tmp_path, KINDS[kind]())
    assert verify(root, run) == []


def test_what_was_checked_is_told_with_counts_and_digests(root: Path) -> None:
    checked, confirmed = Checked(), list[str]()
    record = made(root)[0]
    assert verify(root, record.run, checked=checked, confirmed=confirmed) == []
    assert (checked["records"], checked["evidence files"], checked["ledger lines"]) == (1, 5, 5)
    assert checked["evidence bytes"] == sum(item.bytes for item in record.evidence)
    for item in record.evidence:
        assert f"{item.role}: {item.bytes} bytes, {item.digest}" in confirmed
    assert "outcome: pass_full" in confirmed


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(b"other")])
def test_only_what_has_no_finding_is_told_as_confirmed(root: Path, damage: Callable[[Path], Any]) -> None:
    record, confirmed = made(root)[0], list[str]()
    damage(store_file(root, "terminal"))
    assert verify(root, record.run, confirmed=confirmed) != []
    told = [line.split(":")[0] for line in confirmed]
    assert "terminal" not in told
    assert "outcome" not in told
    assert {"timing", "recording", "log", "report"} <= set(told)


def test_a_changed_record_is_not_told_as_confirmed(root: Path) -> None:
    record, confirmed = made(root)[0], list[str]()
    path = path_of(root, record.run)
    path.write_bytes(path.read_bytes().replace(b'"agent_exit": 0', b'"agent_exit": 1'))
    assert verify(root, record.run, confirmed=confirmed) != []
    assert [line for line in confirmed if line.startswith(("record:", "outcome:"))] == []


def test_without_a_ledger_no_record_is_told_as_confirmed(root: Path) -> None:
    record, confirmed = made(root)[0], list[str]()
    ledger_path(root, "first").unlink()
    assert verify(root, record.run, confirmed=confirmed) != []
    assert not any(line.startswith("record:") for line in confirmed)


@pytest.mark.parametrize("role", ["terminal", "timing", "recording", "log", "report"])
def test_any_changed_byte_of_evidence_is_noticed_and_its_file_named(root: Path, role: str) -> None:
    run = made(root)[0].run
    path = store_file(root, role)
    fine = path.read_bytes()
    for place in range(0, len(fine), max(1, len(fine) // 60)):
        path.write_bytes(flipped(fine, place))
        found = only(verify(root, run))
        assert found.file == path.relative_to(root).as_posix()
        assert f"is not the {role} of run {run} any more" in found.problem


@pytest.mark.parametrize("role", ["video", "screenshot"])
def test_pictures_are_evidence_like_any_other(tmp_path: Path, role: str) -> None:
    pictures = {"video": b"a film", "screenshot": b"a picture"}
    root, run = one(tmp_path, passed(), lambda root, record: evidence(root, record, **pictures))
    assert verify(root, run) == []
    path = store_file(root, role, next(record for record in made(root) if record.run == run))
    path.write_bytes(flipped(path.read_bytes(), 3))
    assert f"is not the {role} of run {run} any more" in only(verify(root, run)).problem
    path.unlink()
    assert f"its {role} (" in only(verify(root, run)).problem


@pytest.mark.parametrize("role", ["terminal", "timing", "recording", "log", "report"])
@pytest.mark.parametrize("change", [lambda d: d + b"\n", lambda d: d[:-1], lambda d: b"", lambda d: d[1:] + d[:1]])
def test_evidence_that_grew_shrank_or_was_emptied_is_noticed(
    root: Path, role: str, change: Callable[[bytes], bytes]
) -> None:
    path = store_file(root, role)
    path.write_bytes(change(path.read_bytes()))
    assert only(verify(root, made(root)[0].run)).file == path.relative_to(root).as_posix()


@pytest.mark.parametrize("role", ["terminal", "timing", "recording", "log", "report"])
def test_each_single_byte_of_evidence_counts(root: Path, role: str) -> None:
    record, path = made(root)[0], store_file(root, role)
    fine, store = path.read_bytes(), Borrowed(Objects("own", places.store(root)))
    for place in range(len(fine)):
        path.write_bytes(flipped(fine, place))
        assert [found for found, _ in evidence_of(record, store, Checked())] == [path]


def test_evidence_that_is_gone_is_named_with_its_digest(root: Path) -> None:
    record = made(root)[0]
    store_file(root, "log").unlink()
    found = only(verify(root, record.run))
    item = record.file("log")
    assert item is not None
    assert found.file == name_of(root, record.run)
    assert found.problem == f"run {record.run}: its log ({item.digest}) is not in the store"


def test_any_changed_byte_of_the_record_is_noticed_and_its_file_named(root: Path) -> None:
    run = made(root)[0].run
    path = path_of(root, run)
    fine = path.read_bytes()
    for place in range(0, len(fine), 23):
        path.write_bytes(flipped(fine, place))
        assert name_of(root, run) in {found.file for found in verify(root, run)}


def test_any_changed_byte_of_the_ledger_is_noticed_and_its_file_named(root: Path) -> None:
    run, path = made(root)[0].run, ledger_path(root, "first")
    fine = path.read_bytes()
    for place in range(0, len(fine), 13):
        path.write_bytes(flipped(fine, place))
        assert {found.file.split(":")[0] for found in verify(root, run)} == {"results/ledgers/first.jsonl"}


def test_any_changed_byte_of_the_plan_is_noticed_and_its_file_named(root: Path) -> None:
    run, path = made(root)[0].run, pools.plan_path(root, "first")
    fine = path.read_bytes()
    for place in range(0, len(fine), 101):
        path.write_bytes(flipped(fine, place))
        assert only(verify(root, run)).file == "pools/cycles/first/plan.json"


def test_a_deleted_record_is_found_by_its_line_in_the_ledger(root: Path) -> None:
    run = made(root)[0].run
    path_of(root, run).unlink()
    assert only(verify(root, run[:10])).problem == f"run {run} is in the ledger, but its record is missing"


def test_evidence_elsewhere_is_verified_there(root: Path, tmp_path: Path) -> None:
    run, kept = made(root)[0].run, places.store(root).folder
    kept.rename(tmp_path / "elsewhere")
    assert verify(root, run, str(tmp_path / "elsewhere")) == []
    with pytest.raises(DataError, match="give --from"):
        verify(root, run)
    path = next(path for path in (tmp_path / "elsewhere").rglob("*") if path.is_file())
    path.write_bytes(b"")
    assert str(path) in {
        found.file for record in made(root) for found in verify(root, record.run, str(tmp_path / "elsewhere"))
    }


@pytest.mark.parametrize("target", ["", "abc", "0" * 32, "secnod", "*", "../first", "ABCDEF"])
def test_what_is_neither_run_nor_cycle_is_a_users_mistake(root: Path, target: str) -> None:
    with pytest.raises(DataError, match="is neither a run nor a cycle; the cycles are: first"):
        verify(root, target)


def test_the_beginning_of_several_runs_is_not_guessed_between(root: Path) -> None:
    run = made(root)[0].run
    twin = path_of(root, run[:-1] + ("0" if run[-1] != "0" else "1"))
    shutil.copy(path_of(root, run), twin)
    with pytest.raises(DataError, match="2 runs begin with"):
        verify(root, run[:31])
    assert verify(root, run) == []


@pytest.mark.parametrize("missing", ["terminal", "timing", "recording", "log"])
def test_a_valid_attempt_without_complete_log_and_recording_is_named(tmp_path: Path, missing: str) -> None:
    def make(root: Path, record: Record) -> list[dict[str, Any]]:
        return [entry for entry in evidence(root, record) if entry["role"] != missing]

    root, run = one(tmp_path, passed(), make)
    assert f"is valid without its {missing}" in only(verify(root, run)).problem


def test_an_invalid_attempt_may_lack_files_and_may_have_torn_ones(tmp_path: Path) -> None:
    def make(root: Path, record: Record) -> list[dict[str, Any]]:
        return [stored(root, "log", log(LOG[:3])[:-5]), stored(root, "terminal", b"half a line")]

    root, run = one(tmp_path, invalid("infra:runner-lost"), make)
    assert verify(root, run) == []
    path = store_file(root, "log", next(record for record in made(root) if record.run == run))
    path.write_bytes(b"")
    assert only(verify(root, run)).file == path.relative_to(root).as_posix()


OTHER = session([(1, b"another session\r\n")])


@pytest.mark.parametrize(
    ("instead", "said"),
    [
        ({"terminal": OTHER["terminal"]}, "more bytes than the terminal gave"),
        ({"timing": OTHER["timing"]}, "another time"),
        ({"recording": OTHER["recording"]}, "another time"),
        ({"log": log(LOG[:-1])}, "it goes from 'planned' to 'destroyed'".replace("destroyed", LOG[-2])),
        ({"log": log(LOG[1:])}, "it goes from 'machine' to 'prove'"),
        ({"log": b""}, "it goes empty"),
        ({"log": b"{}\n"}, "line 1 is no"),
        ({"log": log(LOG)[:-1]}, "is cut off"),
        ({"log": log(LOG).replace(b'"at_ms": 0', b'"at_ms": true')}, "line 1 is no"),
        ({"log": log(LOG).replace(b'"at_ms": 10', b'"at_ms": -1')}, "line 2 is no"),
        ({"log": b"[" * 100_000 + b"\n"}, "line 1 is no JSON"),
    ],
)
def test_files_that_do_not_belong_together_are_named(tmp_path: Path, instead: dict[str, bytes], said: str) -> None:
    root, run = one(tmp_path, passed(), lambda root, record: evidence(root, record, **instead))
    found = only(verify(root, run))
    assert found.file.startswith(".argusic/evidence/sha256/")
    assert said in found.problem


def test_the_longest_file_is_read_in_constant_memory(tmp_path: Path) -> None:
    import tracemalloc

    reads = [(number * 1000, b"x" * 60_000) for number in range(300)]
    root, run = one(tmp_path, passed(), lambda root, record: evidence(root, record, **session(reads)))
    verify(root, run)
    tracemalloc.start()
    assert verify(root, run) == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6_000_000, "18 MB of terminal and as much of recording are not held at once"


def report_bytes(**changes: Any) -> bytes:
    report = make_record(**passed()).report
    assert report is not None
    return canonical(report.model_dump(mode="json") | changes)


@pytest.mark.parametrize(
    ("change", "report", "said"),
    [
        (passed(), report_bytes(installed=False), "is another report than the record of run"),
        (passed(), report_bytes(final_state="It ran better."), "is another report"),
        (passed(), b"{}", "cannot be read"),
        (passed(), report_bytes()[:-9], "cannot be read"),
        (passed(), b" " * MAX_BYTES + report_bytes(), "cannot be read"),
        (passed(), None, "holds a report, but no report is among its evidence"),
        (silent(), report_bytes(), "says that there was no report, but one is among its evidence"),
        (silent() | {"report_state": "refused"}, report_bytes(), "can be read, but the record of run"),
    ],
)
def test_a_report_that_is_not_the_records_is_named(
    tmp_path: Path, change: Change, report: bytes | None, said: str
) -> None:
    def make(root: Path, record: Record) -> list[dict[str, Any]]:
        entries = [entry for entry in evidence(root, record) if entry["role"] != "report"]
        return entries + ([stored(root, "report", report)] if report is not None else [])

    root, run = one(tmp_path, change, make)
    assert said in only(verify(root, run)).problem


@pytest.mark.parametrize("wrong", [b"", b"no json", b'{"schema_version": 1}'])
def test_a_refused_report_is_kept_and_verifies(tmp_path: Path, wrong: bytes) -> None:
    change = silent() | {"report_state": "refused"}
    root, run = one(tmp_path, change, lambda root, record: [*evidence(root, record), stored(root, "report", wrong)])
    assert verify(root, run) == []


def test_the_agents_own_spelling_of_its_report_is_the_same_report(tmp_path: Path) -> None:
    loose = json.dumps(json.loads(report_bytes()), indent=7).encode() + b"\n\n"
    root, run = one(tmp_path, passed(), lambda root, record: evidence(root, record, report=loose))
    assert verify(root, run) == []


def test_two_files_of_one_role_are_named(tmp_path: Path) -> None:
    root, run = one(tmp_path, passed(), lambda root, r: [*evidence(root, r), stored(root, "log", log(LOG, "other"))])
    assert only(verify(root, run)).problem == f"run {run}: lists two files as log"


@pytest.mark.parametrize(
    ("play", "changes", "said"),
    [
        (
            failed,
            {"outcome": "pass_full"},
            "outcome is pass_full; from its report, and its end by the agent, follows fail",
        ),
        (
            failed,
            {"outcome": "pass_mock"},
            "outcome is pass_mock; from its report, and its end by the agent, follows fail",
        ),
        (
            mocked,
            {"outcome": "pass_full"},
            "outcome is pass_full; from its report, and its end by the agent, follows pass_mock",
        ),
        (passed, {"outcome": "fail"}, "outcome is fail; from its report, and its end by the agent, follows pass_full"),
        (
            passed,
            {"outcome": "timeout"},
            "outcome is timeout; from its report, and its end by the agent, follows pass_full",
        ),
        (passed, {"ended_by": "budget"}, "end by the budget, follows timeout"),
        (passed, {"ended_by": "harness"}, "is valid, but it was ended by the harness"),
        (silent, {"outcome": "timeout"}, "end by the agent, follows fail"),
        (timed_out, {"outcome": "fail"}, "end by the budget, follows timeout"),
        (timed_out, {"ended_by": "agent"}, "end by the agent, follows fail"),
        (passed, {"ended_by": "memory-limit"}, "end by the memory-limit, follows fail"),
        (passed, {"ended_by": "output-ceiling"}, "end by the output-ceiling, follows fail"),
        (
            lambda: invalid("infra:disk"),
            {"reason": "agent:report-contradictory"},
            "does not claim more fixes than errors",
        ),
    ],
)
def test_an_outcome_that_does_not_follow_is_named(
    tmp_path: Path, play: Callable[[], Change], changes: dict[str, Any], said: str
) -> None:
    root, run = one(tmp_path, play())
    rewrite(root, lambda record: changes if record.run == run else {})
    problems = [found for found in verify(root, run) if said in found.problem]
    assert only(problems).file == name_of(root, run)


def test_a_valid_attempt_with_a_contradictory_report_is_named(tmp_path: Path) -> None:
    root, run = one(tmp_path, passed(errors_encountered=1, errors_fixed=2))
    assert "is valid, but" in only(verify(root, run)).problem


def test_an_attempt_that_another_limit_ended_is_judged_by_what_it_left(tmp_path: Path) -> None:
    root, run = one(tmp_path, silent() | {"ended_by": "memory-limit"})
    assert verify(root, run) == []


def test_the_log_of_another_run_has_another_digest(root: Path) -> None:
    digests = {item.digest for record in made(root) for item in record.evidence if item.role == "log"}
    assert len(digests) == len(ledger(root).entries)
    assert SESSION
