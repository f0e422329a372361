"""Real programs of agents, installed from their packages, go through whole attempts against a scripted model."""

from __future__ import annotations

from pathlib import Path

import pytest

from archive.record import Record
from runner.sandbox.bubblewrap import Bubblewrap
from tests.model_server import ModelServer, Script
from tests.soak.real_agents import WORKS, attempt

HARNESSES = ("codex", "pi", "claude", "mini-swe-agent")
pytestmark = pytest.mark.soak


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, programs: Path):
    def run(harness: str, mode: str = "ok") -> tuple[Record, ModelServer]:
        with ModelServer(Script(WORKS), mode) as server:
            return attempt(tmp_path, Bubblewrap(), monkeypatch, programs, harness, server), server

    return run


@pytest.mark.parametrize("harness", HARNESSES)
def test_an_agent_works_to_its_own_end(make, harness):
    record, server = make(harness)
    assert (record.validity, record.reason_detail, record.outcome) == ("valid", None, "pass_full")
    assert record.claims is not None
    assert (record.claims.seen, record.claims.replay) == ("yes", "same")
    calls = len(WORKS) + 1
    usage = record.usage
    assert (usage.complete, usage.calls) == (True, calls)
    assert usage.output_tokens == 50 + 70 * (calls - 1)
    # What is written to a cache is told by one interface alone, and is no uncached input there.
    written = {"claude": (100, 200)}.get(harness, (0, 0))
    assert usage.input_uncached_tokens == 600 - written[0] + (600 - written[1]) * (calls - 1)
    assert usage.cache_write_tokens == (sum(written) + written[1] * (calls - 2) or None)
    assert usage.cache_read_tokens == 400 + 900 * (calls - 1)
    assert record.program is not None
    assert record.program.digest.startswith("sha256:")
    assert {"stdout", "stderr", "session", "recording", "terminal"} <= {item.role for item in record.evidence}
    assert len(server.requests) == usage.calls


@pytest.mark.parametrize(
    ("harness", "mode", "reason"),
    [
        ("codex", "401", "key:refused"),
        ("codex", "429", "provider:rate-limited"),
        ("codex", "402-after-one", "key:unfunded"),
        ("pi", "402", "key:unfunded"),
        ("pi", "402-after-one", "key:unfunded"),
        ("codex", "cut", "provider:stream-cut"),
        ("pi", "cut-connection", "provider:stream-cut"),
        ("claude", "402", "key:unfunded"),
    ],
)
def test_a_refusal_of_the_provider_makes_the_attempt_invalid(make, harness, mode, reason):
    record, _ = make(harness, mode)
    assert (record.validity, record.reason, record.outcome) == ("invalid", reason, None)


@pytest.mark.parametrize("harness", HARNESSES[:3])
def test_an_agent_that_claims_everything_and_does_nothing_fails(make, harness):
    record, _ = make(harness, "no-tool")
    assert (record.validity, record.reason_detail, record.outcome) == ("valid", None, "fail")
    assert record.report_state == "missing"
