"""An agent's file with a [command] table: any program, without code, read strictly."""

from __future__ import annotations

from pathlib import Path

import pytest

from archive import pools
from archive.errors import ArgusicError, DataErrors
from archive.reasons import Limit, Reason
from archive.usage import UsageReading
from runner.agents import program_of
from runner.agents.program import Package, Setting
from runner.agents.reading import Output

AGENT = """id = "own"
name = "Argusic Agent Z"
control = false
harness = "command"
harness_version = "1.2.3"
instructions = 1
about = "A program of somebody's own."

[command]
argv = ["own-agent", "--model", "{model}", "--yes", "{prompt}"]
package = { registry = "npm", name = "@maker/own-agent", version = "1.2.3" }
key_variable = "OWN_KEY"
environment = { OWN_URL = "{endpoint}/v1", OWN_STATE = "{home}/state" }
session_files = ["state/*.jsonl"]

[command.files]
".own/config.json" = '{"model": "{model}", "telemetry": false}'

[[command.trouble]]
stderr_begins = "fatal: 429"
condition = "provider:rate-limited"

[[command.trouble]]
stderr_begins = "fatal: budget"
condition = "key:cap-reached"
"""


def agent(tmp_path: Path, text: str = AGENT):  # type: ignore[no-untyped-def]
    folder = tmp_path / "pools/agents"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "own.toml").write_text(text)
    return pools.agents(tmp_path)["own"]


def test_a_program_is_started_as_its_file_says(tmp_path: Path) -> None:
    program = program_of(agent(tmp_path))
    made = program.start(Setting("/home/agent", "https://models.example", "m-1", "Do {home} it"))
    assert made.argv == ("own-agent", "--model", "m-1", "--yes", "Do {home} it")
    assert made.environment["OWN_URL"] == "https://models.example/v1"
    assert made.environment["OWN_STATE"] == "/home/agent/state"
    assert made.environment["HOME"] == "/home/agent"
    assert made.files == {"/home/agent/.own/config.json": '{"model": "m-1", "telemetry": false}'}
    assert program.package == Package("npm", "@maker/own-agent", "1.2.3", "")
    assert (program.key_variable, program.session_files) == ("OWN_KEY", ("state/*.jsonl",))


def test_what_it_used_and_ran_is_unknown_and_its_end_is_its_own(tmp_path: Path) -> None:
    for exit_status in (0, 1, 127):
        reading = program_of(agent(tmp_path)).read(Output(b"done", b"", (), exit_status))
        assert (reading.complete, reading.condition) == (True, None)
        assert (reading.usage, reading.commands, reading.terminal) == (UsageReading.unknown(), None, None)


@pytest.mark.parametrize("exit_status", [None, 137, -9])
def test_where_it_was_stopped_it_has_no_end_of_its_own(tmp_path: Path, exit_status: int | None) -> None:
    reading = program_of(agent(tmp_path)).read(Output(b"working", exit=exit_status))
    assert (reading.complete, reading.condition) == (False, None)


def test_its_last_words_tell_of_its_providers_trouble(tmp_path: Path) -> None:
    read = program_of(agent(tmp_path)).read
    cut = read(Output(stderr=b"warning\nfatal: 429 slow down\n\n", exit=1))
    assert (cut.complete, cut.condition) == (False, Reason.PROVIDER_RATE_LIMITED)
    spent = read(Output(stderr=b"fatal: budget\r\n", exit=0))
    assert (spent.complete, spent.condition) == (True, Limit.KEY_CAP)


def test_trouble_that_was_got_over_or_is_printed_elsewhere_is_none(tmp_path: Path) -> None:
    read = program_of(agent(tmp_path)).read
    assert read(Output(stderr=b"fatal: 429 slow down\ntrying again\n", exit=0)).condition is None
    assert read(Output(stdout=b"fatal: 429 slow down\n", exit=0)).condition is None
    assert read(Output(stderr=b"the project says fatal: 429\n", exit=0)).condition is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('harness = "command"', 'harness = "codex"', r'belongs to harness "command", and to no other'),
        ('"--yes", "{prompt}"', '"--yes"', r"write \{prompt\} where it belongs"),
        (
            '"--model", "{model}"',
            '"--model", "{modle}"',
            r"\{modle\}: nothing to fill in; one of \{endpoint\}, \{home\}",
        ),
        *(
            ('version = "1.2.3" }', f'version = "{version}" }}', rf"must be one exact version, .* not '{shown}")
            for version, shown in (("^1.2.3", r"\^1"), ("latest", "latest"), ("1.2", "1.2"), ("1.x", "1.x"), ("", ""))
        ),
        ('registry = "npm"', 'registry = "brew"', r"command\.package\.registry: .*'npm' or 'pypi'"),
        ('key_variable = "OWN_KEY"', 'key_variable = "OWN KEY"', "command.key_variable"),
        ("OWN_STATE =", "OWN_KEY =", "OWN_KEY is set by the harness"),
        ("OWN_STATE =", "HOME =", "HOME is set by the harness"),
        ('".own/config.json"', '"../config.json"', r"'\.\./config\.json': must be a path below the home"),
        ('"state/*.jsonl"', '"/etc/*"', r"'/etc/\*': must be a path below the home"),
        ('"provider:rate-limited"', '"infra:disk"', "must be a condition of a key, a model or a provider"),
        ('"provider:rate-limited"', '"provider:slow"', r"command\.trouble\.0\.condition"),
        ('stderr_begins = "fatal: 429"', 'stderr_begins = ""', "stderr_begins"),
        ("session_files =", "sessions =", r"own\.toml:\d+: command\.sessions: unknown key"),
        ('["own-agent", "--model", "{model}", "--yes", "{prompt}"]', "[]", "command.argv"),
        ('["own-agent", "--model", "{model}", "--yes", "{prompt}"]', '"own-agent {prompt}"', "command.argv"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert AGENT.count(old) >= 1
    with pytest.raises(DataErrors, match=said):
        agent(tmp_path, AGENT.replace(old, new, 1))


@pytest.mark.parametrize("version", ["1.2.3-beta.1", "0.0.1790712063"])
def test_an_exact_version_may_have_a_name_behind_it(tmp_path: Path, version: str) -> None:
    package = program_of(agent(tmp_path, AGENT.replace('version = "1.2.3"', f'version = "{version}"'))).package
    assert package is not None
    assert package.version == version


def test_the_harness_command_needs_its_table(tmp_path: Path) -> None:
    with pytest.raises(DataErrors, match=r'belongs to harness "command"'):
        agent(tmp_path, AGENT.split("[command]")[0])


def test_agents_with_a_known_program_need_no_table(tmp_path: Path) -> None:
    text = AGENT.split("[command]")[0].replace('"command"', '"mini-swe-agent"').replace("1.2.3", "2.4.6")
    assert program_of(agent(tmp_path, text)).name == "mini-swe-agent"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (AGENT.replace('harness_version = "1.2.3"', 'harness_version = "1.2.4"'), r"1\.2\.4, and command .* 1\.2\.3"),
        (AGENT.split("[command]")[0].replace('"command"', '"codex"'), r"1\.2\.3, and codex .* 0\.171\.0"),
    ],
)
def test_a_version_whose_output_nobody_read_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ArgusicError, match=rf"agent own: harness_version is {said}"):
        program_of(agent(tmp_path, text))
