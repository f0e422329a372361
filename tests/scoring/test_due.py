import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive import pools
from archive.plan import Job, job_id
from archive.reasons import MAX_RERUNS, Outcome, Reason, Validity, reruns
from scoring.due import Result, result_of
from scoring.due import due as due_under

CONTRADICTORY, DEADLINE, DISK = "agent:report-contradictory", "infra:demo-deadline", "infra:disk"

EDITION = pools.editions(Path(__file__).parents[2])["1.5"]


def due(jobs, results):
    return due_under(jobs, results, EDITION)


def slot_jobs(subject, slot, purpose="board", agent="a", condition="always", reruns=4):
    """All jobs that a plan holds for one slot: the first one and every possible rerun."""
    made = []
    for rerun in range(reruns + 1):
        attempt = (slot - 1) * (reruns + 1) + rerun + 1
        made.append(
            Job(
                id=job_id("one", purpose, agent, subject, attempt),
                purpose=purpose,
                agent=agent,
                subject=subject,
                source_type="package",
                tier="standard",
                budget_minutes=90,
                slot=slot,
                rerun=rerun,
                attempt=attempt,
                condition="after-invalid" if rerun else condition,
                of=None if rerun == 0 and condition == "always" else "0" * 24,
            )
        )
    return made


def result(word):
    if word in list(Outcome):
        return Result(Validity.VALID, None, Outcome(word))
    validity = Validity.WITHHELD if word == "evidence:not-proven-clean" else Validity.INVALID
    return Result(validity, Reason(word), None)


def placed(jobs, *words):
    return {job.id: result(word) for job, word in zip(jobs, words, strict=False)}


def numbers(jobs, results):
    return [(job.slot, job.rerun) for job in due(jobs, results)]


def test_before_anything_ran_the_first_job_of_every_slot_is_due():
    jobs = [*slot_jobs("p", 1), *slot_jobs("p", 2), *slot_jobs("q", 1)]
    assert [(job.subject, job.slot, job.rerun) for job in due(jobs, {})] == [("p", 1, 0), ("p", 2, 0), ("q", 1, 0)]


@pytest.mark.parametrize("outcome", list(Outcome))
def test_a_valid_attempt_of_any_outcome_is_never_run_again(outcome):
    jobs = slot_jobs("p", 1)
    assert numbers(jobs, placed(jobs, outcome)) == [(1, 0)]


@pytest.mark.parametrize("reason", list(Reason))
def test_an_invalid_attempt_is_run_again_as_often_as_its_reason_says(reason):
    jobs = slot_jobs("p", 1, reruns=MAX_RERUNS + 1)
    allowed = reruns(reason, EDITION)
    for made in range(1, MAX_RERUNS + 2):
        expected = min(made, allowed) + 1
        assert numbers(jobs, placed(jobs, *[reason] * made)) == [(1, rerun) for rerun in range(expected)]


def test_a_contradictory_report_is_run_again_once_and_no_more():
    jobs = slot_jobs("p", 1)
    assert numbers(jobs, placed(jobs, CONTRADICTORY)) == [(1, 0), (1, 1)]
    assert numbers(jobs, placed(jobs, CONTRADICTORY, CONTRADICTORY)) == [(1, 0), (1, 1)]


def test_a_contradictory_report_after_another_reason_still_has_its_one_rerun():
    jobs = slot_jobs("p", 1)
    assert numbers(jobs, placed(jobs, DISK, CONTRADICTORY)) == [(1, 0), (1, 1), (1, 2)]
    assert numbers(jobs, placed(jobs, CONTRADICTORY, DISK, CONTRADICTORY)) == [(1, 0), (1, 1), (1, 2)]


def test_the_deadline_of_the_demonstration_leaves_work_for_a_later_run():
    jobs = slot_jobs("p", 1)
    assert numbers(jobs, placed(jobs, DEADLINE)) == [(1, 0), (1, 1)]
    assert numbers(jobs, placed(jobs, DEADLINE, "pass_full")) == [(1, 0), (1, 1)]


def test_a_rerun_ends_with_the_slots_first_valid_attempt():
    jobs = slot_jobs("p", 1)
    assert numbers(jobs, placed(jobs, DISK, "fail")) == [(1, 0), (1, 1)]


def retry_jobs():
    return [
        *slot_jobs("p", 1, "verdict"),
        *slot_jobs("p", 2, "verdict", condition="after-failure"),
    ]


@pytest.mark.parametrize(
    ("words", "retried"),
    [
        ([], False),
        (["pass_full"], False),
        (["pass_mock"], False),
        (["fail"], True),
        (["timeout"], True),
        ([DISK], False),
        ([DISK, "fail"], True),
        ([DISK, "pass_full"], False),
        ([CONTRADICTORY, CONTRADICTORY], False),
    ],
)
def test_a_retry_is_due_only_after_a_valid_failure(words, retried):
    jobs = retry_jobs()
    found = numbers(jobs, placed(jobs, *words))
    assert ((2, 0) in found) == retried


def test_an_invalid_retry_is_run_again_like_any_other():
    jobs = retry_jobs()
    first, second = jobs[:5], jobs[5:]
    results = {**placed(first, "fail"), **placed(second, DISK)}
    assert numbers(jobs, results) == [(1, 0), (2, 0), (2, 1)]


def test_a_failure_elsewhere_makes_no_retry_due():
    jobs = [
        *retry_jobs(),
        *slot_jobs("q", 1, "verdict"),
        *slot_jobs("p", 1, "board"),
        *slot_jobs("p", 1, "verdict", "b"),
    ]
    others = [job for job in jobs if (job.subject, job.purpose, job.agent) != ("p", "verdict", "a")]
    results = {job.id: result("fail") for job in others if job.rerun == 0}
    assert not any(job.condition == "after-failure" for job in due(jobs, results))


def test_a_result_that_no_job_asked_for_decides_nothing():
    jobs = slot_jobs("p", 1)
    later = {jobs[2].id: result(DISK), "f" * 24: result("fail")}
    assert numbers(jobs, later) == [(1, 0)]


words = st.sampled_from([*Outcome, *Reason])


@given(st.lists(words, max_size=5), st.lists(words, max_size=5), st.randoms())
def test_what_is_due_does_not_depend_on_any_order(first, second, random):
    jobs = retry_jobs()
    results = {**placed(jobs[:5], *first), **placed(jobs[5:], *second)}
    expected = {job.id for job in due(jobs, results)}
    shuffled, pairs = list(jobs), list(results.items())
    random.shuffle(shuffled)
    random.shuffle(pairs)
    found = due(shuffled, dict(pairs))
    assert {job.id for job in found} == expected
    assert found == [job for job in shuffled if job.id in expected]


@given(st.lists(words, max_size=5))
def test_doing_what_is_due_comes_to_an_end_and_takes_nothing_back(plan):
    jobs, results, answers = retry_jobs(), {}, itertools.chain(plan, itertools.repeat(CONTRADICTORY))
    before: set[str] = set()
    for _ in range(len(jobs) + 1):
        now = due(jobs, results)
        assert before <= {job.id for job in now}
        before = {job.id for job in now}
        open_jobs = [job for job in now if job.id not in results]
        if not open_jobs:
            break
        results[open_jobs[0].id] = result(next(answers))
    assert before == results.keys()


def test_the_deciding_part_of_a_record_is_its_validity_reason_and_outcome():
    class Like:
        validity, reason, outcome, agent_exit = Validity.INVALID, Reason.INFRA_DISK, None, 0

    assert result_of(Like()) == Result(Validity.INVALID, Reason.INFRA_DISK, None)
