"""Real programs, started as their adapters say, talk to the scripted model, and what they left is read.

They are installed by `python -m tests.model_server.install`; one that is not installed is skipped by its name.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from archive.reasons import Limit, Reason
from runner.agents.reading import Condition
from tests.model_server import Mode, ModelServer, Script, install, running
from tests.model_server.asking import PATHS
from tests.model_server.running import Left

pytestmark = pytest.mark.soak
KEY = "-".join(("sk", "test", "1"))
SCRIPT = Script(("echo one > one.txt && cat one.txt", "echo two; exit 3"), "All done. I ran two commands.")
SECONDS = 180
PATIENT = {
    "claude": {"CLAUDE_CODE_MAX_RETRIES": "2"},
    "mini-swe-agent": {"MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "2"},
}
"""Their own retries go on for minutes: only these two variables differ from how they are started for an attempt."""
INTERFACE = {"codex": "responses", "pi": "chat", "claude": "messages", "gemini": "google", "mini-swe-agent": "chat"}
WHOLE = {
    # Uncached input, cache read, cache written, output, reasoning, answers: of the first answer, of all three.
    "codex": ((600, 400, None, 50, 20, 1), (1800, 2200, None, 190, 80, 3)),
    "pi": ((600, 400, None, 50, 20, 1), (1800, 2200, None, 190, 80, 3)),
    "claude": ((500, 400, 100, 50, None, 1), (1300, 2200, 500, 190, None, 3)),
    "gemini": ((600, 400, None, 50, 20, None), (1800, 2200, None, 190, 80, None)),
    "mini-swe-agent": ((600, 400, None, 50, 20, 1), (1800, 2200, None, 190, 80, 3)),
}
GOOGLE = {"google": "/v1beta/models/mock-1:streamGenerateContent"}
UNKNOWN = (None,) * 5
ENDS = {
    "codex": "turn.completed",
    "pi": "stop",
    "claude": "completed",
    "gemini": "success",
    "mini-swe-agent": "Submitted",
}
EXITS = {"claude": (None, 3), "gemini": (None, None)}
"""Of the two commands, as far as they are told."""
REFUSALS: list[tuple[Mode, Condition]] = [
    ("401", Reason.KEY_REFUSED),
    ("402", Reason.KEY_UNFUNDED),
    ("403-key-limit", Limit.KEY_CAP),
    ("budget-422", Limit.KEY_CAP),
]

REFUSED = [(name, mode, condition) for name in install.NAMES for mode, condition in REFUSALS]


@pytest.fixture
def place() -> Iterator[Path]:
    with running.folder() as made:
        yield made


def run(name: str, mode: Mode, place: Path, key: str = KEY) -> Left:
    """What `name` left after its talk with a model in `mode`; it asked for nothing but its own interface."""
    start = install.installed(name)
    if start is None:
        pytest.skip(f"{name} is not installed: python -m tests.model_server.install {name}")
    with ModelServer(SCRIPT, key=KEY) as server:
        left = running.run(name, start, server.at(mode), key, place, seconds=SECONDS, more=PATIENT.get(name))
        asked = {(one.method, one.path.partition("?")[0]) for one in server.requests}
        assert asked == {("POST", f"/m/{mode}{(PATHS | GOOGLE)[INTERFACE[name]]}")}
        assert {one.key_ok for one in server.requests} == {key == KEY}
        assert name == "gemini" or {one.body["model"] for one in server.requests} == {"mock-1"}
    return left


def sums(left: Left) -> tuple[int | None, ...]:
    one = left.reading.usage
    return (
        *(one.input_uncached_tokens, one.cache_read_tokens, one.cache_write_tokens),
        *(one.output_tokens, one.reasoning_tokens, one.calls),
    )


@pytest.mark.parametrize("name", install.NAMES)
def test_an_agent_that_comes_to_its_end_is_read_whole(name: str, place: Path) -> None:
    left = run(name, "ok", place)
    reading = left.reading
    assert (reading.complete, reading.condition, reading.terminal) == (True, None, ENDS[name])
    first, second = reading.commands or ()
    assert (first.command, second.command) == SCRIPT.commands
    assert (first.exit, second.exit) == EXITS.get(name, (0, 3))
    assert (first.returned or "").strip() == "one"
    assert "two" in (second.returned or "")
    assert (left.work / "one.txt").read_text() == "one\n"
    assert sums(left) == WHOLE[name][1]
    assert reading.usage.complete
    assert left.output.exit == 0


@pytest.mark.parametrize(("name", "mode", "condition"), REFUSED, ids=[f"{row[0]}-{row[1]}" for row in REFUSED])
def test_an_agent_that_is_refused_from_the_beginning_used_nothing(
    name: str, mode: Mode, condition: Condition, place: Path
) -> None:
    left = run(name, mode, place)
    reading = left.reading
    assert (reading.complete, reading.condition) == (isinstance(condition, Limit), condition)
    assert not reading.commands
    assert sums(left)[:5] == UNKNOWN
    assert not reading.usage.complete
    # pi ends with 0 whatever happened, gemini with the status of HTTP in as many bits as there are.
    status = int(mode.removeprefix("budget-")[:3])
    assert left.output.exit == {"pi": 0, "gemini": status % 256}.get(name, 1)


@pytest.mark.parametrize("name", install.NAMES)
def test_a_wrong_key_is_a_refused_key(name: str, place: Path) -> None:
    assert run(name, "ok", place, f"{KEY}x").reading.condition is Reason.KEY_REFUSED


@pytest.mark.parametrize("name", install.NAMES)
def test_an_agent_whose_money_ends_in_the_middle_has_what_it_did_and_used(name: str, place: Path) -> None:
    left = run(name, "402-after-one", place)
    reading = left.reading
    assert (reading.complete, reading.condition) == (False, Reason.KEY_UNFUNDED)
    assert [one.command for one in reading.commands or ()] == list(SCRIPT.commands[:1])
    assert sums(left) == WHOLE[name][0]


@pytest.mark.parametrize("name", install.NAMES)
def test_a_claim_without_a_command_shows_no_command(name: str, place: Path) -> None:
    left = run(name, "no-tool", place)
    reading = left.reading
    assert (reading.complete, reading.condition, reading.commands) == (True, None, ())
    if name == "mini-swe-agent":
        # It asks three times for a command.
        assert (reading.terminal, sums(left)) == ("RepeatedFormatError", (1800, 1200, None, 150, 60, 3))
    else:
        assert (reading.terminal, sums(left)) == (ENDS[name], WHOLE[name][0])


def test_a_stream_of_googles_that_fails_is_a_cut_one(place: Path) -> None:
    """gemini passes over the error in it, and says that the reason to finish is missing."""
    left = run("gemini", "error-in-stream", place)
    assert (left.reading.complete, left.reading.condition) == (False, Reason.PROVIDER_STREAM_CUT)


def test_who_asks_again_without_a_stream_gets_over_a_cut_one(place: Path) -> None:
    """What the cut answers used is not known, and said not to be."""
    left = run("claude", "cut", place)
    assert (left.reading.complete, left.reading.condition) == (True, None)
    assert [one.command for one in left.reading.commands or ()] == list(SCRIPT.commands)
    assert not left.reading.usage.complete


@pytest.mark.parametrize("name", install.NAMES)
def test_a_provider_that_tells_no_usage_makes_it_unknown(name: str, place: Path) -> None:
    left = run(name, "no-usage", place)
    assert left.reading.complete
    assert len(left.reading.commands or ()) == 2
    assert sums(left)[:5] == UNKNOWN
    assert not left.reading.usage.complete
