"""docs/verdicts.md (MEASUREMENT §9, §10, §15)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from archive import records
from archive.plan import Job
from bot.render import render
from tests.support.make import Change, failed, invalid, make_root, mocked, passed, silent, timed_out
from tests.support.markdown import links, seen, tables

ONE, TWO = "pkg:pypi/one@1.0", "pkg:npm/two@2.0.0"
HEAD = ["attempt", "agent", "made for", "validity", "outcome", "score", "minutes used", "claims", "notes", "recording"]


def verdicts(root: Path) -> str:
    return render(root)["docs/verdicts.md"].decode()


def attempts(root: Path) -> list[list[str]]:
    return [row for table in tables(verdicts(root)) if table[0][0] == "attempt" for row in table[1:]]


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
    runs = {record.attempt: record.run for record in records.each(tmp_path)}
    shown = seen(page)
    assert "Verdict: could not verify." in shown
    assert "Argusic could not verify that this project runs." in shown
    assert "broken" not in shown
    stopped = [line for line in page.splitlines() if line.startswith("* Attempt") and "of the recording" in line]
    assert [seen(line) for line in stopped] == [
        "Attempt 1 of Agent A: fail: did not install. The agent ended by itself, at 0:12:34 of the recording "
        f"(record, argusic play {runs[1][:8]}).",
        "Attempt 2 of Agent A: time-out. The time budget was used up, at 1:30:00 of the recording "
        f"(record, argusic play {runs[2][:8]}).",
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


def test_a_verdict_is_the_standard_agents_alone(tmp_path: Path) -> None:
    play = {"agent-a": failed(), "agent-b": passed()}
    make_root(tmp_path, ONE, play=lambda job: play[job.agent], standard_agent="agent-a", evidence=False)
    assert "Verdict: could not verify." in seen(verdicts(tmp_path))


def test_attempts_for_the_board_count_for_the_verdict_too(tmp_path: Path) -> None:
    make_root(tmp_path, ONE, play=lambda job: passed(), agents=["agent-a"], evidence=False)
    assert "Verdict: runs, by attempt 1 of Agent A." in seen(verdicts(tmp_path))


def test_an_attempt_is_one_row_in_words(tmp_path: Path) -> None:
    # The first attempt is invalid, so the third is its rerun; that fails, so the second is made.
    made(tmp_path, invalid("infra:network"), passed(), timed_out())
    first, second, third = attempts(tmp_path)
    why = "invalid: the subject could not be fetched over the network"
    assert first[:9] == ["1", "Agent A", "verdict", why, "none", "none", "12.6 of 90", "none", "none"]
    claims = "command seen in the session; it decodes; replayed with the same result"
    assert second[:9] == ["2", "Agent A", "verdict", "valid", "full pass", "100", "12.6 of 90", claims, "none"]
    assert third[:8] == ["3", "Agent A", "verdict", "valid", "time-out", "0", "90.0 of 90", "nothing claimed"]
    run = next(record for record in records.each(tmp_path) if record.attempt == 2)
    recording = run.file("recording")
    assert recording
    assert second[9:] == [recording.digest, "record", f"argusic play {run.run[:8]}"]


def test_a_withheld_attempt_has_no_recording_and_says_why(tmp_path: Path) -> None:
    made(tmp_path, invalid("evidence:not-proven-clean"), passed())
    first = attempts(tmp_path)[0]
    assert first[3] == "withheld: the evidence could not be proven free of credentials"
    assert (first[9], first[11]) == ("none", "none")


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
                "masked_values": masked,
            }
            for role, masked in (("recording", 2), ("log", 1))
        ],
    }
    made(tmp_path, change, evidence=False)
    assert attempts(tmp_path)[0][8] == (
        "the memory limit was reached; masked values in log and recording: 3; "
        "made with a key that is shared by attempts"
    )


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
