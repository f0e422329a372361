"""results/records: canonical, sharded, never changed; a bad one is named and the others still come."""

from __future__ import annotations

from pathlib import Path

import pytest

from archive import records
from archive.canonical import canonical
from archive.errors import DataError, DataErrors
from archive.record import Record
from tests.support.make import failed, invalid, make_record


def saved(root: Path, count: int = 3) -> list[Record]:
    found = [make_record(attempt=number) for number in range(1, count + 1)]
    for record in found:
        records.save(root, record)
    return found


def test_a_record_lies_in_the_shard_of_its_run(tmp_path: Path) -> None:
    record = make_record()
    path = records.save(tmp_path, record)
    assert path == tmp_path / "results/records/first" / record.run[:2] / f"{record.run}.json"
    assert path.read_bytes() == canonical(record)


def test_what_is_saved_is_read_back_equal(tmp_path: Path) -> None:
    for record in (make_record(), make_record(attempt=2, **failed()), make_record(attempt=3, **invalid())):
        assert records.read(records.save(tmp_path, record)) == record


def test_saving_the_same_record_again_changes_nothing(tmp_path: Path) -> None:
    record = make_record()
    path = records.save(tmp_path, record)
    before = path.stat().st_mtime_ns
    assert records.save(tmp_path, record) == path
    assert path.stat().st_mtime_ns == before


def test_a_changed_record_is_refused_and_the_first_one_stays(tmp_path: Path) -> None:
    record = make_record()
    path = records.save(tmp_path, record)
    with pytest.raises(DataError, match="records are never changed"):
        records.save(tmp_path, make_record(agent_exit=7))
    assert records.read(path) == record


def test_a_bad_record_is_named_and_the_others_load(tmp_path: Path) -> None:
    first, second, third = saved(tmp_path)
    bad = records.record_path(tmp_path, "first", second.run)
    bad.write_bytes(bad.read_bytes().replace(b'"agent_exit": 0', b'"agent_exit": "0"'))
    problems: list[DataError] = []
    found = list(records.each(tmp_path, problems=problems))
    assert {record.run for record in found} == {first.run, third.run}
    assert [(problem.file, problem.field) for problem in problems] == [(bad, "agent_exit")]


def test_without_a_list_of_problems_a_bad_record_raises(tmp_path: Path) -> None:
    (record,) = saved(tmp_path, 1)
    path = records.record_path(tmp_path, "first", record.run)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataErrors, match=path.name):
        list(records.each(tmp_path))


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('"schema_version": 1', '"schema_version": 2', "schema_version"),
        ('"outcome": "pass_full"', '"outcome": "pass"', "outcome"),
        ('"outcome": "pass_full"', '"outcome": null', ""),
        ('"validity": "valid"', '"validity": "invalid"', ""),
        ('"report_state": "read"', '"report_state": "missing"', ""),
        ('"budget_minutes": 90', '"budget_minutes": 0', "budget_minutes"),
        ('"budget_minutes": 90', '"budget_minutes": true', "budget_minutes"),
        ('"spent_micro_usd": null', '"spent_micro_usd": 0.5', "key.spent_micro_usd"),
        ('"spent_micro_usd": null', '"spent_usd": null', "key.spent_micro_usd"),
        ('"agent_ms": 754000', '"agent_ms": -1', "times.agent_ms"),
        ('"started_at": "2026-12-02T10:00:00Z"', '"started_at": "2026-12-02 10:00"', "times.started_at"),
    ],
)
def test_a_wrong_fact_is_named_with_file_and_field(tmp_path: Path, old: str, new: str, field: str) -> None:
    path = records.save(tmp_path, make_record())
    text = path.read_text()
    assert text.count(old) >= 1
    path.write_text(new.join(text.rsplit(old, 1)))
    with pytest.raises(DataErrors) as caught:
        records.read(path)
    assert caught.value.errors[0].file == path
    assert caught.value.errors[0].field == field


def test_a_record_in_the_wrong_place_is_refused(tmp_path: Path) -> None:
    path = records.save(tmp_path, make_record())
    run = path.stem
    for wrong in (
        tmp_path / "results/records/first/zz" / path.name,
        tmp_path / "results/records/second" / run[:2] / path.name,
        path.with_name("ab" + run[2:] + ".json"),
    ):
        wrong.parent.mkdir(parents=True, exist_ok=True)
        wrong.write_bytes(path.read_bytes())
        with pytest.raises(DataErrors, match="does not belong in this file"):
            records.read(wrong)


def test_a_run_id_that_is_not_the_hash_of_its_job_is_refused(tmp_path: Path) -> None:
    path = records.save(tmp_path, make_record(run="ab" + "0" * 30))
    with pytest.raises(DataErrors, match="not the hash of cycle and job"):
        records.read(path)


def test_a_run_is_found_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    first, *_ = saved(tmp_path)
    assert records.find(tmp_path, first.run) == first
    assert records.find(tmp_path, first.run[:8]) == first
    for nothing in ("", "abc", first.run[:3], "0" * 32, "../../x", f"{first.run[:2]}*"):
        with pytest.raises(DataError, match="no record of run"):
            records.find(tmp_path, nothing)


def test_two_runs_with_the_same_beginning_are_not_guessed_between(tmp_path: Path) -> None:
    folder = tmp_path / "results/records/first/ab"
    folder.mkdir(parents=True)
    for name in ("abcd1", "abcd2"):
        (folder / f"{name}.json").write_text("{}")
    with pytest.raises(DataError, match="begins 2 run ids"):
        records.find(tmp_path, "abcd")


def test_without_results_there_are_no_records(tmp_path: Path) -> None:
    assert records.paths(tmp_path) == []
    assert list(records.each(tmp_path, "first")) == []


def test_a_half_written_file_is_no_record(tmp_path: Path) -> None:
    (record,) = saved(tmp_path, 1)
    folder = records.record_path(tmp_path, "first", record.run).parent
    (folder / f".{record.run}.json.0123456789ab.part").write_bytes(b"{")
    assert [found.run for found in records.each(tmp_path)] == [record.run]


def test_records_come_in_the_order_of_their_run(tmp_path: Path) -> None:
    runs = sorted(record.run for record in saved(tmp_path, 20))
    assert [record.run for record in records.each(tmp_path, "first")] == runs


def test_the_day_of_an_attempt_is_the_day_it_began() -> None:
    assert make_record(times={"started_at": "2026-12-02T23:59:59Z"}).day == "2026-12-02"
