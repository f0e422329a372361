"""How each program is started: pinned, in a fresh home, without a person, telemetry, others' instructions or images."""

from __future__ import annotations

import json
import re

import pytest
import tomli

from archive.errors import ArgusicError
from runner.agents import PROGRAMS, program
from runner.agents.program import Setting, Start

HOME = "/home/agent/run"
SETTING = Setting(HOME, "https://models.example/api", "maker/model-1", 'Say "hi" & $HOME; {model}\nthen \\ stop')
REAL = [name for name in PROGRAMS if name != "command"]
PINNED = {
    "claude": ("npm", "@anthropic-ai/claude-code", "2.1.332"),
    "codex": ("npm", "@openai/codex", "0.171.0"),
    "gemini": ("npm", "@google/gemini-cli", "0.61.0"),
    "mini-swe-agent": ("pypi", "mini-swe-agent", "2.4.6"),
    "opencode": ("npm", "opencode-ai", "1.18.33"),
    "pi": ("npm", "@earendil-works/pi-coding-agent", "1.6.0"),
    "qwen": ("npm", "@qwen-code/qwen-code", "0.24.4"),
}
"""The versions whose output was recorded."""


def start(name: str) -> Start:
    return program(name).start(SETTING)


def file(name: str, path: str) -> str:
    return start(name).files[f"{HOME}/{path}"]


@pytest.mark.parametrize("name", REAL)
def test_the_version_is_the_one_whose_output_was_recorded(name: str) -> None:
    package = program(name).package
    assert package is not None
    assert package[:3] == PINNED[name]
    assert re.fullmatch(r"\d+\.\d+\.\d+", package.version)


@pytest.mark.parametrize("name", REAL)
def test_the_task_is_one_word_of_the_command_and_no_shell_reads_it(name: str) -> None:
    argv = start(name).argv
    assert argv.count(SETTING.prompt) == 1
    assert argv[0] not in ("sh", "bash", "env")


@pytest.mark.parametrize("name", REAL)
def test_a_home_is_fresh_and_everything_is_below_it(name: str) -> None:
    made = start(name)
    assert made.environment["HOME"] == HOME
    for path in made.files:
        assert path.startswith(f"{HOME}/")
    for pattern in program(name).session_files:
        assert not pattern.startswith(("/", ".."))


@pytest.mark.parametrize("name", REAL)
def test_no_key_is_in_a_command_a_file_or_an_environment(name: str) -> None:
    """The runner hands the key over in one variable, which nothing here sets."""
    variable = program(name).key_variable
    assert variable
    assert variable not in start(name).environment
    assert not any(variable in word for word in start(name).argv)


@pytest.mark.parametrize("name", REAL)
def test_model_and_endpoint_are_handed_over(name: str) -> None:
    made = start(name)
    everything = "\n".join([*made.argv, *made.environment.values(), *made.files.values()])
    assert SETTING.model in everything
    assert SETTING.endpoint in everything


def test_codex_has_no_sandbox_of_its_own_and_asks_nobody() -> None:
    config = tomli.loads(file("codex", "codex/config.toml"))
    assert (config["sandbox_mode"], config["approval_policy"]) == ("danger-full-access", "never")
    assert (config["project_doc_max_bytes"], config["web_search"]) == (0, "disabled")
    assert not config["analytics"]["enabled"]
    assert not config["feedback"]["enabled"]
    provider = config["model_providers"][config["model_provider"]]
    assert provider["base_url"] == "https://models.example/api/v1"
    assert (provider["env_key"], provider["wire_api"]) == ("RUN_KEY", "responses")
    argv = start("codex").argv
    off = {argv[at + 1] for at, word in enumerate(argv) if word == "--disable"}
    assert off == {"plugins", "apps", "remote_plugin", "view_image", "image_generation"}


@pytest.mark.parametrize("home", ["/tmp", "/tmp/x/codex"])
def test_codex_below_the_temporary_folder_is_refused(home: str) -> None:
    """There it runs no command at all and ends with 0."""
    with pytest.raises(ArgusicError, match="must not be below /tmp"):
        program("codex").start(SETTING._replace(home=home))


def test_a_model_name_cannot_break_out_of_a_configuration() -> None:
    odd = 'x"\nsandbox_mode = "read-only'
    made = program("codex").start(SETTING._replace(model=odd))
    assert tomli.loads(made.files[f"{HOME}/codex/config.toml"])["model"] == odd
    for name in ("pi", "opencode"):
        for text in program(name).start(SETTING._replace(model=odd)).files.values():
            json.loads(text)


def test_pi_sees_no_instructions_no_extensions_and_no_images() -> None:
    argv = start("pi").argv
    assert {"--no-context-files", "--no-extensions", "--no-skills", "--no-prompt-templates", "--offline"} <= set(argv)
    assert json.loads(file("pi", "pi/settings.json")) == {
        "enableInstallTelemetry": False,
        "images": {"blockImages": True},
    }
    (model,) = json.loads(file("pi", "pi/models.json"))["providers"]["run"]["models"]
    assert model["input"] == ["text"]
    assert start("pi").environment["PI_TELEMETRY"] == "0"


def test_claude_is_told_that_the_machine_is_its_sandbox() -> None:
    made = start("claude")
    assert made.environment["IS_SANDBOX"] == "1"
    assert made.environment["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] == "1"
    assert made.argv[made.argv.index("--setting-sources") + 1] == ""
    assert "--dangerously-skip-permissions" in made.argv


def test_mini_asks_for_no_prices_and_has_a_fresh_trajectory() -> None:
    made = start("mini-swe-agent")
    assert made.environment["MSWEA_COST_TRACKING"] == "ignore_errors"
    assert made.environment["LITELLM_LOCAL_MODEL_COST_MAP"] == "True"
    assert made.argv[made.argv.index("-o") + 1] == f"{HOME}/mini/trajectory.json"


def test_opencode_shares_nothing_and_updates_nothing() -> None:
    config = json.loads(file("opencode", "opencode.json"))
    assert (config["autoupdate"], config["share"], config["permission"]) == (False, "disabled", "allow")
    assert config["provider"]["run"]["models"][SETTING.model]["modalities"] == {"input": ["text"], "output": ["text"]}
    assert start("opencode").environment["OPENCODE_DISABLE_PROJECT_CONFIG"] == "1"


def test_qwen_and_gemini_send_no_statistics() -> None:
    assert not json.loads(file("qwen", ".qwen/settings.json"))["privacy"]["usageStatisticsEnabled"]
    settings = json.loads(file("gemini", ".gemini/settings.json"))
    assert settings["security"]["auth"]["selectedType"] == "gemini-api-key"
    assert not settings["privacy"]["usageStatisticsEnabled"]


def test_programs_that_wait_for_ever_are_known() -> None:
    assert [name for name in PROGRAMS if program(name).waits_for_ever] == ["codex"]


def test_an_unknown_program_is_named_with_those_that_there_are() -> None:
    with pytest.raises(ArgusicError, match=r"no program 'aider'; one of claude, codex, command, gemini"):
        program("aider")
