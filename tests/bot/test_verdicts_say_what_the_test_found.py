"""docs/verdicts.md (MEASUREMENT §9, §10, §15)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from archive import records
from archive.plan import Job
from archive.record import Record, Role
from bot.render import render
from tests.support.make import Change, failed, invalid, make_record, make_root, mocked, passed, silent, timed_out
from tests.support.markdown import links, seen, tables

ONE, TWO = "pkg:pypi/one@1.0", "pkg:npm/two@2.0.0"
HEAD = ["attempt", "agent", "result", "score", "minutes used", "recording", "record", "play"]


def verdicts(root: Path) -> str:
    return render(root)["docs/verdicts.md"].decode()


def attempts(root: Path) -> list[list[str]]:
    return [row for table in tables(verdicts(root)) if table[0][0] == "attempt" for row in table[1:]]


def short(record: Record, role: Role) -> str:
    """The beginning of a digest as pages show it."""
    found = record.file(role)
    assert found
    return found.digest.removeprefix("sha256:")[:12]


def lines(root: Path, begin: str) -> list[str]:
    """List items below the paragraph that begins so, as a reader sees them."""
    part = verdicts(root).split(f"\n{begin}", 1)[1].split("\n\n", 2)[1]
    return [seen(line) for line in part.splitlines()]


def made(tmp_path: Path, *changes: Change, **settings: Any) -> Path:
    """A cycle that asks for verdicts; `changes` by number of the attempt."""
    return make_root(
        tmp_path,
        ONE,
        play=lambda job: changes[min(job.attempt, len(changes)) - 1],
        agents=["agent-a"],
        purposes=["verdict"],
        **settings,
    )


def test_a_full_pass_runs(tmp_path: Path) -> None:
    assert "Verdict: runs, by attempt 1 of Agent A." in seen(verdicts(made(tmp_path, passed())))


def test_a_pass_with_mocks_runs_with_mocks(tmp_path: Path) -> None:
    assert "Verdict: runs with mocks, by attempt 2 of Agent A." in seen(verdicts(made(tmp_path, failed(), mocked())))


def test_two_failures_are_could_not_verify_and_each_links_to_where_it_stopped(tmp_path: Path) -> None:
    page = verdicts(made(tmp_path, failed(installed=False, launched=False), timed_out()))
    made_here = {record.attempt: record for record in records.each(tmp_path)}
    runs = {number: record.run for number, record in made_here.items()}
    log, recording = ({n: short(one, role) for n, one in made_here.items()} for role in ("log", "recording"))
    shown = seen(page)
    assert "Verdict: could not verify." in shown
    assert "Argusic could not verify that this project runs." in shown
    assert "broken" not in shown
    stopped = [line for line in page.splitlines() if line.startswith("* Attempt") and "of the recording" in line]
    assert [seen(line) for line in stopped] == [
        "Attempt 1 of Agent A: fail: did not install. The agent ended by itself, at 0:12:34 of the recording "
        f"(record, log {log[1]}, recording {recording[1]}, argusic play {runs[1][:8]}).",
        "Attempt 2 of Agent A: time-out. The time budget was used up, at 1:30:00 of the recording "
        f"(record, log {log[2]}, recording {recording[2]}, argusic play {runs[2][:8]}).",
    ]
    for number, line in enumerate(stopped, 1):
        assert links(line) == [f"../results/records/first/{runs[number][:2]}/{runs[number]}.json"]


def test_one_failure_is_not_yet_verified(tmp_path: Path) -> None:
    assert "Verdict: not yet verified." in seen(verdicts(made(tmp_path, failed(), passed(), records_until=1)))


def test_an_edition_without_verdicts_shows_attempts_alone(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, edition="0.3", play=lambda job: passed() | {"budget_minutes": 45}, evidence=False)
    page = verdicts(tmp_path)
    assert "Edition 0.3 had no verdict" in page
    assert "Verdict:" not in page
    assert len(attempts(tmp_path)) == 6


def test_a_pass_of_another_agent_on_the_board_verifies_the_project(tmp_path: Path) -> None:
    play = {"agent-a": failed(), "agent-b": passed()}
    make_root(tmp_path, ONE, play=lambda job: play[job.agent], standard_agent="agent-a", evidence=False)
    assert "Verdict: runs, by attempt 1 of Agent B." in seen(verdicts(tmp_path))


def test_a_failure_of_another_agent_on_the_board_is_no_part_of_could_not_verify(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, play=lambda job: failed(), standard_agent="agent-a", evidence=False)
    assert len(lines(tmp_path, "Argusic could not verify")) == 3
    assert all("of Agent A" in line for line in lines(tmp_path, "Argusic could not verify"))


def test_a_stronger_agents_failure_made_for_the_verdict_is_named_among_where_it_stopped(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, purposes=["verdict"], play=lambda job: failed(), evidence=False)
    stronger = make_record(agent="agent-b", purpose="verdict", subject=ONE, **failed())
    records.save(tmp_path, stronger)
    stopped = lines(tmp_path, "Argusic could not verify")
    assert [line.split(":")[0] for line in stopped] == [
        *(f"Attempt {number} of Agent A" for number in (1, 2)),
        "Attempt 1 of Agent B",
    ]
    assert f"log {short(stronger, 'log')}" in stopped[2]


def test_a_cycle_with_two_purposes_names_them_and_one_with_a_single_one_does_not(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, purposes=["board", "verdict"], agents=["agent-a"], evidence=False)
    assert {row[2] for row in attempts(tmp_path)} == {"board", "verdict"}
    assert "Verdict: runs, by attempt 1 of Agent A for the board." in seen(verdicts(tmp_path))
    assert any(line.startswith("Attempt 1 of Agent A for the verdict: ") for line in lines(tmp_path, "Claims of"))
    make_root(tmp_path / "one", ONE, agents=["agent-a"], evidence=False)
    assert "for the board:" not in seen(verdicts(tmp_path / "one"))


def test_a_project_under_review_says_so(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, TWO, play=lambda job: failed() if job.subject == ONE else passed(), evidence=False)
    sections = seen(verdicts(tmp_path)).split(TWO)
    assert "This project is under review" in sections[0]
    assert "under review" not in sections[1]


def test_a_limit_other_than_time_is_named_as_what_ended_the_attempt(tmp_path: Path) -> None:
    cut = failed() | {"report_state": "not-reached", "report": None}
    made(tmp_path, cut | {"ended_by": "memory-limit"}, cut | {"ended_by": "output-ceiling"}, evidence=False)
    assert [row[2:4] for row in attempts(tmp_path)] == [
        ["fail: ended by the memory limit", "0"],
        ["fail: ended by the output ceiling", "0"],
    ]
    assert "no readable report" not in verdicts(tmp_path)


def test_how_an_agent_says_it_verified_is_shown_as_a_claim_shortened_and_as_text(tmp_path: Path) -> None:
    how = {"command": "python -c '<b>' " + "x" * 400, "returned": "line one\nline two " + "y" * 400}
    made(tmp_path, failed(install_seconds=None), passed(verified_how=how, install_seconds=150))
    first, second = lines(tmp_path, "Claims of the agents")
    assert first == 'Attempt 1 of Agent A: the agent says "not verified".'
    assert second.startswith("Attempt 2 of Agent A: verified by python -c '<b>' xxx")
    assert "\u2026, which returned line one line two yyy" in second
    assert len(second) < 800
    seen_by_us = "(command seen in the session; it decodes; replayed with the same result)"
    assert second.endswith(f"\u2026 {seen_by_us}; installed in 2.5 minutes.")


def test_a_reader_is_told_how_to_dispute(tmp_path: Path) -> None:
    made(tmp_path, passed(), evidence=False)
    assert "methodology.md#disputes" in links(verdicts(tmp_path))
    assert '<a id="disputes"></a>' in render(tmp_path)["docs/methodology.md"].decode()


def test_attempts_for_the_board_count_for_the_verdict_too(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, play=lambda job: passed(), agents=["agent-a"], evidence=False)
    assert "Verdict: runs, by attempt 1 of Agent A." in seen(verdicts(tmp_path))


def test_an_attempt_is_one_row_in_words(tmp_path: Path) -> None:
    # The first attempt is invalid, so the third is its rerun; that fails, so the second is made.
    made(tmp_path, invalid("infra:network"), passed(), timed_out())
    first, second, third = attempts(tmp_path)
    why = "invalid: the subject could not be fetched over the network"
    assert next(table for table in tables(verdicts(tmp_path)) if table[0][0] == "attempt")[0] == HEAD
    assert first[:5] == ["1", "Agent A", why, "none", "12.6 of 90"]
    assert second[:5] == ["2", "Agent A", "full pass", "100", "12.6 of 90"]
    assert third[:5] == ["3", "Agent A", "time-out", "0", "90.0 of 90"]
    run = next(record for record in records.each(tmp_path) if record.attempt == 2)
    assert second[5:] == [short(run, "recording"), "record", f"argusic play {run.run[:8]}"]


def test_a_withheld_attempt_has_no_recording_and_says_why(tmp_path: Path) -> None:
    made(tmp_path, invalid("evidence:not-proven-clean"), passed())
    first = attempts(tmp_path)[0]
    assert first[2] == "withheld: the evidence could not be proven free of credentials"
    assert (first[5], first[7]) == ("none", "none")


def test_masking_shared_keys_and_incidents_are_noted(tmp_path: Path) -> None:
    change = passed() | {
        "incidents": [{"kind": "memory-limit", "detail": "x"}, {"kind": "memory-limit", "detail": "y"}],
        "key": {"kind": "shared"},
        "evidence": [
            {
                "role": role,
                "media_type": "text/plain",
                "bytes": 1,
                "digest": "sha256:" + "1" * 64,
                "arrived": "hmac-sha256:" + "2" * 64,
                "stage1": "hmac-sha256:" + "3" * 64,
                "manifests": [],
                "masked": masked,
            }
            for role, masked in (("terminal", {"credential": 2}), ("recording", {"credential": 2}), ("log", {"key": 1}))
        ],
    }
    made(tmp_path, change, evidence=False)
    assert lines(tmp_path, "Notes:") == [
        "Attempt 1 of Agent A: the memory limit was reached; masked: a credential of the attempt 2 ×, "
        "the body of a generated key 1 ×; made with a key that is shared by attempts."
    ]


def test_closing_sentences_are_quoted_with_their_dashes_as_commas(tmp_path: Path) -> None:
    made(tmp_path, passed(final_state="It ran \u2014 and printed 12 lines."))
    shown = seen(verdicts(tmp_path))
    assert "What the test found" in shown
    assert "Attempt 1 of Agent A: It ran, and printed 12 lines." in shown
    assert next(records.each(tmp_path)).report.final_state == "It ran \u2014 and printed 12 lines."  # type: ignore[union-attr]


def test_a_model_that_passes_proves_its_snippet_and_not_a_product(tmp_path: Path) -> None:
    model = {"id": "pkg:huggingface/o/m@" + "0" * 40, "source_type": "hf-model", "tier": "gpu"}
    make_root(tmp_path, model, agents=["agent-a"], evidence=False)
    assert "the documented snippet produced output" in seen(verdicts(tmp_path))
    make_root(tmp_path / "other", ONE, agents=["agent-a"], evidence=False)
    assert "snippet" not in seen(verdicts(tmp_path / "other"))


def test_verdicts_are_counted_and_untested_projects_of_the_pool_too(tmp_path: Path) -> None:
    def play(job: Job) -> Change:
        return passed() if job.subject == ONE else silent()

    make_root(tmp_path, ONE, TWO, "pkg:pypi/three@1.0", play=play, agents=["agent-a"], records_until=5, evidence=False)
    counted = next(table for table in tables(verdicts(tmp_path)) if table[0] == ["verdict", "projects"])
    numbers = {row[0]: row[1] for row in counted[1:]}
    # Two rounds without THREE's second attempt: TWO failed twice, THREE once.
    assert numbers == {"runs": "1", "runs with mocks": "0", "could not verify": "1", "not yet verified": "1"}
    make_root(tmp_path / "two", ONE, TWO, play=play, agents=["agent-a"], records_until=1, evidence=False)
    assert "Projects of the pool without a recorded attempt so far: 1." in seen(verdicts(tmp_path / "two"))
