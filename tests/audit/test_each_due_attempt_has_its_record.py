"""audit complete: what was due is recomputed from the records; missing, surplus and re-rolled runs are each named."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archive import atomic, pools, records
from archive.canonical import canonical, digest
from archive.errors import DataError
from archive.ledger import Ledger, ledger_path
from archive.plan import Plan, run_id
from audit.complete import complete
from audit.finding import Checked, Finding
from audit.kept import kept
from tests.audit.making import flipped, ledger, made, merged, name_of, path_of, rewrite
from tests.support.make import declare, failed, invalid, make_record, make_root, mocked, passed, timed_out

TWO = ("pkg:pypi/one@1.0", "pkg:pypi/two@1.0")


def root_of(folder: Path, *, close: bool = True, **options: Any) -> Path:
    made_root = make_root(folder, *TWO, evidence=False, **options)
    if close:
        ledger(made_root).close()
    return made_root


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two agents on two projects, three attempts each, closed."""
    return root_of(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def root(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "root")
    return tmp_path / "root"


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """One agent on one project, three attempts: small enough to change each byte of it."""
    root = make_root(tmp_path / "small", TWO[0], agents=["agent-a"], evidence=False)
    ledger(root).close()
    return root


def only(findings: list[Finding]) -> Finding:
    assert len(findings) == 1, [str(one) for one in findings]
    return findings[0]


def test_a_whole_cycle_has_nothing_to_find_and_says_what_was_looked_at(root: Path) -> None:
    checked = Checked()
    assert complete(root, checked=checked) == []
    assert checked == {"cycles": 1, "records": 12, "ledger lines": 14, "planned jobs": 48, "due jobs": 12}


@pytest.mark.parametrize(
    "play",
    [
        passed,
        mocked,
        failed,
        timed_out,
        lambda: invalid("agent:report-contradictory"),
        lambda: invalid("evidence:not-proven-clean"),
    ],
)
def test_whatever_came_of_the_attempts_a_cycle_played_to_its_end_is_complete(
    tmp_path: Path, play: Callable[[], dict[str, Any]]
) -> None:
    root = root_of(tmp_path, play=lambda job: play(), purposes=["board", "verdict"])
    assert complete(root) == []


@given(seed=st.integers(0, 10**6), purposes=st.sampled_from([["board"], ["verdict"], ["board", "verdict"]]))
@settings(max_examples=15, deadline=None)
def test_a_cycle_with_any_results_is_complete_and_without_any_one_record_it_is_not(
    seed: int, purposes: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    chance = random.Random(seed)
    kinds = [passed, failed, timed_out, invalid, lambda: invalid("agent:report-contradictory")]
    root = root_of(tmp_path_factory.mktemp("any"), play=lambda job: chance.choice(kinds)(), purposes=purposes)
    assert complete(root) == []
    gone = chance.choice(list(ledger(root).entries))
    path_of(root, gone).unlink()
    assert gone in " ".join(str(one) for one in complete(root))


def test_a_deleted_run_is_named_with_its_file(root: Path) -> None:
    for run in ledger(root).entries:
        data = path_of(root, run).read_bytes()
        path_of(root, run).unlink()
        found = only(complete(root))
        assert (found.file, found.problem) == (
            name_of(root, run),
            f"run {run} is in the ledger, but its record is missing",
        )
        atomic.write(path_of(root, run), data)


def test_a_run_deleted_from_the_ledger_too_is_named(root: Path) -> None:
    gone = made(root)[5]
    rewrite(root, lambda record: None if record.run == gone.run else {})
    found = only(complete(root))
    assert found.file == name_of(root, gone.run)
    assert found.problem.startswith(
        f"run {gone.run} is missing: attempt {gone.attempt} of {gone.agent} on {gone.subject}"
    )
    assert gone.job in found.problem


def test_a_run_that_was_made_again_is_named(root: Path) -> None:
    run = made(root)[4]
    path_of(root, run.run).write_bytes(canonical(merged(run, {"times": {"agent_ms": 1}})))
    found = only(complete(root))
    assert found.file == name_of(root, run.run)
    assert f"run {run.run} was changed or made again" in found.problem
    assert ledger(root).entries[run.run] in found.problem


def test_any_changed_byte_of_a_record_is_noticed_and_its_file_named(small: Path) -> None:
    run = made(small)[0].run
    path, name = path_of(small, run), name_of(small, run)
    fine = path.read_bytes()
    for place in range(0, len(fine), 3):
        path.write_bytes(flipped(fine, place))
        assert {found.file for found in kept(small, "first").findings} == {name}, fine[place - 20 : place + 1]
        if place % 93 == 0:
            assert {found.file for found in complete(small)} == {name}


@pytest.mark.parametrize("end", [b"\n", b" ", b"\0"])
def test_white_space_after_a_record_is_a_change(root: Path, end: bytes) -> None:
    path = path_of(root, made(root)[0].run)
    path.write_bytes(path.read_bytes() + end)
    assert "was changed or made again" in complete(root)[0].problem


@pytest.mark.parametrize("closed", [True, False])
def test_any_changed_byte_of_a_ledger_is_noticed_and_its_file_named(small: Path, closed: bool) -> None:
    path = ledger_path(small, "first")
    if not closed:
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    fine = path.read_bytes()
    last = fine.rindex(b"\n", 0, -1)
    for place in range(0, len(fine), 9):
        path.write_bytes(flipped(fine, place))
        found = {one.file.split(":")[0] for one in complete(small)}
        # Nothing follows the last line of an open ledger: what it names differs from the record instead.
        assert found == {"results/ledgers/first.jsonl"} or (found and not closed and place > last)


def test_a_record_beside_the_ledger_is_named(root: Path) -> None:
    plan = pools.read_json(Plan, pools.plan_path(root, "first"))
    extra = next(job for job in plan.jobs if job.rerun == 1)
    record = make_record(extra, edition="1.5")
    records.save(root, record)
    found = only(complete(root))
    assert found.file == name_of(root, record.run)
    assert "is not in the ledger: the record was added beside it" in found.problem


def added(root: Path, job: Any, **changes: Any) -> str:
    """A record that a forger put into records and ledger; the run."""
    pins = pools.read_json(Plan, pools.plan_path(root, "first")).pins
    agent = job.agent if job else changes["agent"]
    facts = {"agent_digest": pins.agents[agent], "environment": {"harness": pins.harness.model_dump()}}
    record = make_record(job, **facts | changes)
    records.save(root, record)
    ledger(root).append(record.run, digest(canonical(record)))
    return record.run


def test_a_rerun_that_was_not_due_is_surplus_even_with_a_ledger_line(tmp_path: Path) -> None:
    root = root_of(tmp_path, close=False)
    plan = pools.read_json(Plan, pools.plan_path(root, "first"))
    job = next(job for job in plan.jobs if job.rerun == 1 and job.agent == "agent-b")
    run = added(root, job)
    found = only(complete(root))
    assert found.file == name_of(root, run)
    assert f"run {run} is surplus: attempt {job.attempt} of agent-b" in found.problem
    assert job.id in found.problem


def test_an_attempt_that_the_plan_does_not_know_is_surplus(tmp_path: Path) -> None:
    root = root_of(tmp_path, close=False)
    run = added(root, None, agent="agent-a", subject=TWO[0], attempt=99)
    assert only(complete(root)).problem == f"run {run} is surplus: no job of the plan stands for it"


def test_a_second_attempt_after_a_pass_is_surplus_for_a_verdict(tmp_path: Path) -> None:
    root = root_of(tmp_path, close=False, purposes=["verdict"])
    plan = pools.read_json(Plan, pools.plan_path(root, "first"))
    run = added(root, next(job for job in plan.jobs if job.slot == 2 and job.rerun == 0))
    assert f"run {run} is surplus" in only(complete(root)).problem


def test_a_run_that_stands_in_the_ledger_twice_is_named(tmp_path: Path) -> None:
    root = root_of(tmp_path, close=False)
    open_ledger = ledger(root)
    run = next(iter(open_ledger.entries))
    del open_ledger.entries[run]
    open_ledger.append(run, "sha256:" + "0" * 64)
    assert f"names run {run} a second time" in str(complete(root)[0])


def test_attempts_not_made_yet_are_findings_until_they_are_taken_for_granted(tmp_path: Path) -> None:
    root = root_of(tmp_path, close=False, records_until=5)
    found = complete(root)
    assert len(found) == 7
    assert all("is not made yet: attempt" in one.problem for one in found)
    assert {one.file for one in found}.isdisjoint({name_of(root, run) for run in ledger(root).entries})
    assert complete(root, unfinished=True) == []


def test_in_a_closed_cycle_nothing_is_taken_for_granted(tmp_path: Path) -> None:
    root = root_of(tmp_path, records_until=5)
    found = complete(root, unfinished=True)
    assert len(found) == 7
    assert all("is missing" in one.problem for one in found)


def test_a_rerun_that_was_left_out_is_named(tmp_path: Path) -> None:
    def play(job: Any) -> dict[str, Any]:
        return invalid() if (job.slot, job.rerun) == (1, 0) else passed()

    root = root_of(tmp_path, play=play)
    assert complete(root) == []
    gone = next(record for record in made(root) if record.attempt == 4)
    rewrite(root, lambda record: None if record.run == gone.run else {})
    found = only(complete(root))
    assert (found.file, "is missing" in found.problem) == (name_of(root, gone.run), True)


def test_a_failure_turned_into_an_invalid_attempt_leaves_its_rerun_missing(tmp_path: Path) -> None:
    root = root_of(tmp_path, play=lambda job: failed())
    wanted = made(root)[3]
    wish = {key: value for key, value in invalid().items() if key != "evidence"}
    rewrite(root, lambda record: wish if record.run == wanted.run else {})
    rerun = run_id("first", next(j.id for j in _jobs(root) if j.of == wanted.job and j.rerun == 1))
    assert only(complete(root)).file == name_of(root, rerun)


def _jobs(root: Path) -> Any:
    return pools.read_json(Plan, pools.plan_path(root, "first")).jobs


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"agent": "agent-b"}, "agent is agent-b; the plan says agent-a"),
        ({"subject": TWO[1]}, f"subject is {TWO[1]}; the plan says {TWO[0]}"),
        ({"source_type": "mcp-server"}, "source_type is mcp-server; the plan says package"),
        ({"purpose": "verdict"}, "purpose is verdict; the plan says board"),
        ({"attempt": 7}, "attempt is 7; the plan says 1"),
        ({"tier": "heavy"}, "tier is heavy; the plan says standard"),
        ({"budget_minutes": 180}, "budget_minutes is 180; the plan says 90"),
        ({"edition": "1.4"}, "edition is 1.4; the plan says 1.5"),
        ({"agent_digest": "sha256:" + "9" * 64}, "agent_digest is sha256:9999"),
        (
            {"environment": {"harness": {"commit": None, "digest": "sha256:" + "9" * 64}}},
            "harness.digest is sha256:9999",
        ),
        ({"environment": {"sandbox": "docker"}}, "made in docker; the cycle accepts bubblewrap"),
        ({"times": {"started_at": "2026-08-31T23:59:59Z"}}, "made on 2026-08-31; the cycle starts on 2026-09-01"),
    ],
)
def test_a_record_that_contradicts_its_job_is_named(root: Path, changes: dict[str, Any], said: str) -> None:
    forged = next(
        record for record in made(root) if (record.agent, record.subject, record.attempt) == ("agent-a", TWO[0], 1)
    )
    rewrite(root, lambda record: changes if record.run == forged.run else {})
    found = complete(root)
    assert {one.file for one in found} == {name_of(root, forged.run)}
    assert said in found[0].problem
    assert forged.run in found[0].problem


def test_another_commit_with_the_same_files_is_the_same_harness(root: Path) -> None:
    commit = {"environment": {"harness": {"commit": "f" * 40}}}
    rewrite(root, lambda record: commit)
    assert complete(root) == []


def test_a_demonstration_may_be_given_on_any_day(tmp_path: Path) -> None:
    root = root_of(tmp_path, demonstration=True, starts="2099-01-01")
    assert complete(root) == []


@pytest.mark.parametrize(
    "file",
    [
        "pools/cycles/first/cycle.toml",
        "pools/cycles/first/public.toml",
        "pools/editions/1.5.toml",
        "pools/agents/agent-a.toml",
        "pools/sources/package.toml",
    ],
)
def test_a_pinned_file_that_changed_is_named(root: Path, file: str) -> None:
    with (root / file).open("a") as opened:
        opened.write("# an innocent remark\n")
    found = only(complete(root))
    assert found.file == file
    assert "is not the file that the plan pins" in found.problem


def test_what_the_plan_does_not_pin_may_change(root: Path) -> None:
    for file in ("pools/editions/1.4.toml", "pools/sources/repository.toml"):
        with (root / file).open("a") as opened:
            opened.write("# a remark\n")
    assert complete(root) == []


def replan(root: Path, change: Callable[[dict[str, Any]], None], *, reopen: bool = True) -> None:
    """Writes a changed plan, and (a forger's work) a ledger that was opened with it."""
    path = pools.plan_path(root, "first")
    data = json.loads(path.read_bytes())
    change(data)
    path.write_bytes(canonical(data))
    if reopen:
        before = ledger(root)
        ledger_path(root, "first").unlink()
        anew = Ledger.open(root, "first", digest(path.read_bytes()))
        for run, record in before.entries.items():
            anew.append(run, record)
        anew.close()


def test_a_plan_changed_after_the_cycle_was_opened_is_named(root: Path) -> None:
    replan(root, lambda data: data["pins"]["harness"].update(commit="0" * 40), reopen=False)
    found = only(complete(root))
    assert found.file == "pools/cycles/first/plan.json"
    assert "is not the plan that the cycle was opened with" in found.problem


def test_any_changed_byte_of_the_plan_is_noticed_and_its_file_named(root: Path) -> None:
    path = pools.plan_path(root, "first")
    fine = path.read_bytes()
    for place in [*range(0, 600, 7), *range(600, len(fine), 997)]:
        path.write_bytes(flipped(fine, place))
        assert "pools/cycles/first/plan.json" in {found.file for found in complete(root)}


def drop_job(data: dict[str, Any]) -> None:
    del data["jobs"][-1]


def double_job(data: dict[str, Any]) -> None:
    data["jobs"].append(data["jobs"][0])


def drop_subject(data: dict[str, Any]) -> None:
    data["jobs"] = [job for job in data["jobs"] if (job["agent"], job["subject"]) != ("agent-b", TWO[1])]


def strange_agent(data: dict[str, Any]) -> None:
    data["jobs"].append(data["jobs"][0] | {"agent": "agent-c", "id": "0" * 24})


def longer_budget(data: dict[str, Any]) -> None:
    data["jobs"][0]["budget_minutes"] = 180


def heavier_tier(data: dict[str, Any]) -> None:
    data["jobs"][0]["tier"] = "heavy"


def other_id(data: dict[str, Any]) -> None:
    data["jobs"][-1]["id"] = "0" * 24


def always(data: dict[str, Any]) -> None:
    data["jobs"][-1] |= {"condition": "always", "of": None}


def other_condition(data: dict[str, Any]) -> None:
    data["jobs"][-1]["of"] = data["jobs"][0]["id"]


def numbered_twice(data: dict[str, Any]) -> None:
    data["jobs"][-1]["attempt"] = 1


def swapped(data: dict[str, Any]) -> None:
    """A rerun that carries the number, and with it the id, of another slot's first attempt."""
    mine = [job for job in data["jobs"] if (job["agent"], job["subject"]) == ("agent-a", TWO[0])]
    first, rerun = mine[1], mine[3]
    for key in ("attempt", "id"):
        first[key], rerun[key] = rerun[key], first[key]


def unpinned(data: dict[str, Any]) -> None:
    del data["pins"]["agents"]["agent-a"]


def pinned_too_much(data: dict[str, Any]) -> None:
    data["pins"]["sources"]["repository"] = "sha256:" + "0" * 64


def other_cycle(data: dict[str, Any]) -> None:
    data["cycle"] = "second"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (drop_job, "needs 3 slots with a first attempt and 3 reruns each, once"),
        (double_job, "needs 3 slots with a first attempt and 3 reruns each, once"),
        (drop_subject, f"board, agent-b on {TWO[1]}: no job, although pool and agents ask for them"),
        (strange_agent, "1 jobs that neither pool nor agents ask for"),
        (
            longer_budget,
            "says package, tier standard, 180 minutes; pool and edition say package, tier standard, 90 minutes",
        ),
        (heavier_tier, "says package, tier heavy, 90 minutes"),
        (other_id, "the id is not the hash of what it stands for"),
        (always, "is to be made always"),
        (other_condition, "the rules make it after-invalid"),
        (numbered_twice, "attempts are not numbered from 1 to 12, each once"),
        (swapped, "which it follows"),
        (unpinned, "does not pin pools/agents/agent-a.toml"),
        (pinned_too_much, "pins source repository, which takes no part in the cycle"),
        (other_cycle, "is the plan of cycle second"),
    ],
)
def test_a_plan_that_does_not_follow_from_pool_and_edition_is_named(
    root: Path, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    replan(root, change)
    found = [one for one in complete(root) if one.file == "pools/cycles/first/plan.json"]
    assert any(said in one.problem for one in found), [str(one) for one in found]


def test_a_plan_for_verdicts_follows_from_the_standard_agent_alone(tmp_path: Path) -> None:
    root = root_of(tmp_path, purposes=["verdict"], play=lambda job: failed())
    assert complete(root) == []
    assert {record.agent for record in made(root)} == {"agent-a"}
    replan(root, lambda data: data["jobs"][2].update(condition="always", of=None))
    assert "the rules make it after-failure" in complete(root)[0].problem


def test_a_file_that_is_no_record_is_named(root: Path) -> None:
    run = made(root)[0].run
    folder = path_of(root, run).parent
    strange = [
        folder / "note.txt",
        folder / f"{run}.json.bak",
        folder.parent / f"{run}.json",
        folder / f".{run}.json.0.part",
    ]
    for path in strange:
        path.write_bytes(b"{}")
    (folder.parent / "zz").mkdir()
    shutil.copy(path_of(root, run), folder.parent / "zz" / f"{run}.json")
    found = complete(root)
    assert {one.problem for one in found} == {"is not the place of a record"}
    assert len(found) == 5


def test_a_symbolic_link_in_place_of_a_record_is_named(root: Path, tmp_path: Path) -> None:
    run = made(root)[0].run
    path_of(root, run).rename(tmp_path / "elsewhere.json")
    path_of(root, run).symlink_to(tmp_path / "elsewhere.json")
    assert "a symbolic link has no place among records" in {one.problem for one in complete(root)}


def test_an_unreadable_record_is_named_and_nothing_is_said_that_follows_from_it(tmp_path: Path) -> None:
    root = root_of(tmp_path, play=lambda job: invalid() if job.rerun == 0 else passed())
    first = made(root)[0]
    path_of(root, first.run).write_bytes(b"{}")
    assert {one.file for one in complete(root)} == {name_of(root, first.run)}


def test_records_without_a_ledger_are_one_finding(root: Path) -> None:
    ledger_path(root, "first").unlink()
    found = only(complete(root))
    assert (found.file, found.problem) == ("results/ledgers/first.jsonl", "is missing, and there are 12 records")


def test_results_without_a_plan_are_a_finding(root: Path) -> None:
    pools.plan_path(root, "first").unlink()
    found = only(complete(root))
    assert (found.file, found.problem) == ("pools/cycles/first/plan.json", "is missing, and attempts were made")


def test_a_cycle_that_is_not_planned_yet_has_nothing_to_find(tmp_path: Path) -> None:
    declare(tmp_path)
    assert complete(tmp_path) == complete(tmp_path, "first") == []


def test_a_planned_cycle_of_which_nothing_was_run_is_not_made_yet(tmp_path: Path) -> None:
    root = make_root(tmp_path, evidence=False, records_until=0)
    ledger_path(root, "first").unlink()
    assert len(complete(root)) == 6
    assert complete(root, unfinished=True) == []


def test_results_of_no_cycle_are_named(root: Path) -> None:
    shutil.copytree(root / "results/records/first", root / "results/records/second")
    shutil.copy(ledger_path(root, "first"), root / "results/ledgers/third.jsonl")
    (root / "results/ledgers/notes.txt").write_text("")
    found = complete(root)
    assert [one.file for one in found] == [
        "results/records/second",
        "results/ledgers/notes.txt",
        "results/ledgers/third.jsonl",
    ]
    assert {one.problem for one in found} == {"belongs to no cycle of pools/cycles"}


def test_each_cycle_is_looked_at_alone_or_with_all_others(root: Path) -> None:
    make_root(root, *TWO, id="second", evidence=False)
    ledger(root, "second").close()
    assert complete(root) == []
    path_of(root, next(iter(ledger(root, "second").entries)), "second").unlink()
    assert complete(root, "first") == []
    assert len(complete(root, "second")) == len(complete(root)) == 1


def test_a_cycle_that_does_not_exist_is_a_users_mistake(root: Path) -> None:
    with pytest.raises(DataError, match="there are: first"):
        complete(root, "secnod")


def test_a_pool_that_cannot_be_read_is_named_with_its_line(root: Path) -> None:
    path = root / "pools/cycles/first/public.toml"
    path.write_text(path.read_text().replace("@1.0", "@latest", 1))
    assert any(one.file.startswith("pools/cycles/first/public.toml:") for one in complete(root))
