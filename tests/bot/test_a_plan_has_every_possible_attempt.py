"""The plan: complete, in one order, and never changed once something was measured (MEASUREMENT §2)."""

from __future__ import annotations

import time
from collections import defaultdict
from pathlib import Path

import pytest

from archive import pools
from archive.canonical import canonical, digest
from archive.errors import DataError
from archive.plan import Job, job_id
from archive.reasons import MAX_RERUNS
from bot.plan import make_plan, write_plan
from tests.support.make import declare, failed, make_root

TWO = ("pkg:pypi/one@1.0", "pkg:npm/two@2.0.0")


def chains(jobs: tuple[Job, ...]) -> dict[tuple[str, str, str], list[Job]]:
    found = defaultdict(list)
    for job in jobs:
        found[job.purpose, job.agent, job.subject].append(job)
    return found


def test_a_board_has_three_slots_for_each_agent_and_subject_each_with_all_reruns(tmp_path: Path) -> None:
    cycle = declare(tmp_path, *TWO, agents=["a", "b"], controls=["c"])
    found = chains(make_plan(tmp_path, cycle).jobs)
    assert len(found) == 3 * 2
    for (purpose, _, _), jobs in found.items():
        assert purpose == "board"
        assert {(job.slot, job.rerun) for job in jobs} == {(s, r) for s in (1, 2, 3) for r in range(MAX_RERUNS + 1)}
        assert sorted(job.attempt for job in jobs) == list(range(1, 3 * (MAX_RERUNS + 1) + 1))
        assert all(job.attempt == job.slot + 3 * job.rerun for job in jobs)


def test_a_verdict_is_the_standard_agents_and_its_second_attempt_comes_after_a_failure(tmp_path: Path) -> None:
    cycle = declare(tmp_path, *TWO, agents=["a", "b"], purposes=["verdict"], standard_agent="b")
    found = chains(make_plan(tmp_path, cycle).jobs)
    assert {agent for _, agent, _ in found} == {"b"}
    for jobs in found.values():
        by = {(job.slot, job.rerun): job for job in jobs}
        assert (by[1, 0].condition, by[1, 0].of) == ("always", None)
        assert (by[2, 0].condition, by[2, 0].of) == ("after-failure", by[1, 0].id)
        assert (by[2, 1].condition, by[2, 1].of) == ("after-invalid", by[2, 0].id)
        assert (by[1, 2].condition, by[1, 2].of) == ("after-invalid", by[1, 1].id)


def test_ids_are_the_hash_of_what_a_job_stands_for(tmp_path: Path) -> None:
    cycle = declare(tmp_path, *TWO, purposes=["board", "verdict"])
    jobs = make_plan(tmp_path, cycle).jobs
    assert len({job.id for job in jobs}) == len(jobs)
    assert all(job.id == job_id(cycle, job.purpose, job.agent, job.subject, job.attempt) for job in jobs)


def test_first_attempts_of_everybody_come_before_anybodys_second(tmp_path: Path) -> None:
    cycle = declare(tmp_path, *TWO, agents=["a", "b"])
    order = [(job.rerun, job.slot) for job in make_plan(tmp_path, cycle).jobs]
    assert order == sorted(order)
    first = [(job.subject, job.agent) for job in make_plan(tmp_path, cycle).jobs[:4]]
    assert first == [(TWO[0], "a"), (TWO[0], "b"), (TWO[1], "a"), (TWO[1], "b")]


def test_budgets_are_the_editions(tmp_path: Path) -> None:
    lines = [{"id": "pkg:pypi/one@1.0", "tier": "standard"}, {"id": "pkg:pypi/two@1.0", "tier": "heavy"}]
    jobs = make_plan(tmp_path, declare(tmp_path, *lines, edition="1.3")).jobs
    assert {(job.tier, job.budget_minutes) for job in jobs} == {("standard", 90), ("heavy", 120)}


def test_a_tier_that_the_edition_does_not_have_names_the_subject(tmp_path: Path) -> None:
    cycle = declare(tmp_path, {"id": "pkg:pypi/big@1.0", "tier": "heavy"}, edition="1.1")
    with pytest.raises(DataError, match=r"public.toml:4: subject.0.tier: pkg:pypi/big@1.0: edition 1.1 has no budget"):
        make_plan(tmp_path, cycle)


def test_a_verdict_under_an_edition_without_one_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"edition 0\.3 has no verdict"):
        make_plan(tmp_path, declare(tmp_path, edition="0.3", purposes=["verdict"]))


def test_missing_instructions_name_the_agent(tmp_path: Path) -> None:
    cycle = declare(tmp_path)
    agent = tmp_path / "pools/agents/agent-a.toml"
    agent.write_text(agent.read_text().replace("instructions = 1", "instructions = 99"))
    with pytest.raises(
        DataError, match=r"agent-a.toml: instructions: there are no standard instructions of version 99"
    ):
        make_plan(tmp_path, cycle)


def test_everything_that_decides_is_pinned(tmp_path: Path) -> None:
    cycle = declare(tmp_path, *TWO, agents=["a"], controls=["c"])
    pins = make_plan(tmp_path, cycle).pins
    folder = tmp_path / "pools/cycles" / cycle
    assert pins.cycle == digest((folder / "cycle.toml").read_bytes())
    assert pins.pool == digest((folder / "public.toml").read_bytes())
    assert pins.edition == digest((tmp_path / "pools/editions/1.5.toml").read_bytes())
    assert pins.agents == {name: digest((tmp_path / f"pools/agents/{name}.toml").read_bytes()) for name in ("a", "c")}
    assert pins.sources.keys() == {"package"}
    assert pins.instructions.keys() == {"1"}


def test_what_is_written_is_canonical_and_reads_back(tmp_path: Path) -> None:
    cycle = declare(tmp_path, *TWO, purposes=["board", "verdict"], id="two.purposes")
    plan, state = write_plan(tmp_path, cycle)
    assert state == "written"
    assert pools.plan_path(tmp_path, cycle).read_bytes() == canonical(plan)
    assert pools.plan(tmp_path, cycle) == plan == make_plan(tmp_path, cycle)


def test_planning_again_writes_nothing(tmp_path: Path) -> None:
    cycle = declare(tmp_path)
    write_plan(tmp_path, cycle)
    path = pools.plan_path(tmp_path, cycle)
    before = path.stat()
    assert write_plan(tmp_path, cycle)[1] == "unchanged"
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


def test_a_new_commit_of_the_same_program_is_the_same_plan(tmp_path: Path) -> None:
    """Committing a plan makes a new commit."""
    cycle = declare(tmp_path)
    plan, _ = write_plan(tmp_path, cycle)
    older = plan.pins.harness.model_copy(update={"commit": "1" * 40})
    path = pools.plan_path(tmp_path, cycle)
    path.write_bytes(canonical(plan.model_copy(update={"pins": plan.pins.model_copy(update={"harness": older})})))
    kept, state = write_plan(tmp_path, cycle)
    assert (state, kept.pins.harness.commit) == ("unchanged", "1" * 40)


def test_a_plan_of_another_form_is_not_the_same(tmp_path: Path) -> None:
    cycle = declare(tmp_path)
    write_plan(tmp_path, cycle)
    path = pools.plan_path(tmp_path, cycle)
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(DataError, match="would now differ in the form of the file"):
        write_plan(tmp_path, cycle)


def test_another_plan_is_written_only_when_asked_for(tmp_path: Path) -> None:
    write_plan(tmp_path, declare(tmp_path))
    cycle = declare(tmp_path, *TWO)
    with pytest.raises(DataError, match=r"pins.pool, jobs \(12 before, 24 now\); --again"):
        write_plan(tmp_path, cycle)
    assert write_plan(tmp_path, cycle, again=True)[1] == "rewritten"


def test_a_plan_stays_once_there_is_a_record(tmp_path: Path) -> None:
    make_root(tmp_path, play=lambda job: failed(), records_until=1, evidence=False)
    path = pools.plan_path(tmp_path, "first")
    before = path.read_bytes()
    cycle = declare(tmp_path, agents=["agent-a", "agent-b"], title="Renamed")
    with pytest.raises(DataError, match=r"attempts were made under this plan.*pins.cycle"):
        write_plan(tmp_path, cycle, again=True)
    assert path.read_bytes() == before


def test_three_thousand_seven_hundred_subjects_are_planned_in_seconds(tmp_path: Path) -> None:
    cycle = declare(tmp_path, *(f"pkg:pypi/project-{number}@1.0" for number in range(3700)), agents=["a", "b"])
    began = time.process_time()
    plan, _ = write_plan(tmp_path, cycle)
    # Two seconds on a quiet machine; with every job an object of its own, more than a minute.
    assert time.process_time() - began < 20
    assert len(plan.jobs) == 3700 * 2 * 3 * (MAX_RERUNS + 1)
