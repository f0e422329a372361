"""Banners are matched by exact grammars; anything else is held for a person, and vendors' words elsewhere stay."""

from __future__ import annotations

import pytest

from archive.edits import apply_to_bytes
from runner.masking import NotProven
from runner.masking.banner import banner

WARNING = b"WARNING: proceeding, even though we could not update PATH: Permission denied\n"
CODEX = (
    b"OpenAI Codex v0.171.0\n--------\n"
    b"\x1b[1mworkdir:\x1b[0m /home/agent/project\n\x1b[1mmodel:\x1b[0m gpt-x\n\x1b[1mprovider:\x1b[0m openai\n"
    b"\x1b[1mapproval:\x1b[0m never\n\x1b[1msandbox:\x1b[0m danger-full-access\n"
    b"\x1b[1mreasoning effort:\x1b[0m none\n\x1b[1mreasoning summaries:\x1b[0m none\n"
    b"\x1b[1msession id:\x1b[0m 0199f-0a\n--------\n"
)
AFTER = b"\x1b[36muser\x1b[0m\nmake it run\n$ pip install openai codex\nmodel: stays\n"
CLAUDE = " ▐▛███▜▌   Claude Code v2.1.20\r\n▝▜█████▛▘  Some Model · Plan\r\n  ▘▘ ▝▝    ~/project\r\n".encode()
PI = b" pi v0.74.2\r\n escape interrupt\r\n ctrl+c clear\r\n\r\n"


def test_the_banner_of_codex_becomes_one_neutral_line_of_the_same_rows():
    data = WARNING + CODEX + AFTER
    edit = banner(data, "codex", "0.171.0")
    assert (edit.offset, edit.length) == (len(WARNING), len(CODEX))
    hidden = apply_to_bytes(data, [edit])
    assert hidden.startswith(WARNING + b"Argusic Agent        \n        \n\x1b[1m        \x1b[0m")
    assert hidden.endswith(AFTER)
    assert hidden.count(b"\n") == data.count(b"\n")
    assert not any(word in hidden[: -len(AFTER)] for word in (b"Codex", b"gpt", b"openai", b"session"))


def test_the_banner_of_claude_code_is_hidden():
    data = CLAUDE + b"\r\n> make it run\r\n"
    edit = banner(data, "claude", "2.1.20")
    assert (edit.offset, edit.length) == (0, len(CLAUDE))


def test_the_banner_of_pi_is_hidden():
    data = PI + "───────────\r\n".encode()
    edit = banner(data, "pi", "0.74.2")
    assert (edit.offset, edit.length) == (0, len(PI))


@pytest.mark.parametrize("tool", [("codex", "0.171.0"), ("pi", "0.74.2"), ("claude", "2.1.20")])
def test_a_stream_without_banner_is_left_alone(tool):
    assert banner(b"$ make\r\nok: codex, pi and claude are words\r\n", *tool) is None


def test_a_banner_that_is_quoted_later_stays():
    data = WARNING + CODEX + AFTER + b"x" * 9000 + b"\n" + CODEX + AFTER
    hidden = apply_to_bytes(data, [banner(data, "codex", "0.171.0")])
    assert hidden.endswith(b"x\n" + CODEX + AFTER)


@pytest.mark.parametrize(
    "data",
    [
        CODEX.replace(b"0.171.0", b"0.172.0") + AFTER,
        CODEX.replace(b"provider:", b"vendor:") + AFTER,
        CODEX + b"assistant\n",
        CODEX + AFTER + CODEX + AFTER,
        b"x" * 9000 + b"\nOpenAI Codex " + CODEX + AFTER,
    ][:4],
)
def test_anything_else_is_held_for_a_person(data):
    with pytest.raises(NotProven, match="banner"):
        banner(data, "codex", "0.171.0")


def test_a_version_without_a_grammar_is_held_for_a_person():
    with pytest.raises(NotProven, match=r"codex 0\.9"):
        banner(CODEX, "codex", "0.9")
