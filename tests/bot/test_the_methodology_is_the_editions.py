"""docs/methodology.md, docs/sources.md and docs/changes.md: no number is typed where a file holds it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from archive import pools
from archive.reasons import POLICIES, reruns
from bot.render import render
from bot.view.numbers import numbers
from tests.support.make import declare, invalid, make_root, passed
from tests.support.markdown import seen, tables

NEW = """version = "2.0"
written = "2027-01-01"
changed = "Every number is another one."
contradictory_reruns = 2
heavy_repository_mb = 707
key_cap_micro_usd = 4_250_000
virtual_display = true
images_to_model = false
verification_is_decoding = true
budgets = { standard = 91, heavy = 122, gpu = 123 }
rubric = { installed = 31, started = 33, recovery = 17, depth_real = 19, depth_mock = 11, depth_none = 1 }
board = { set_size = 5, spread_percent = 37, under_review_agents = 4 }
verdict = { standard_attempts = 6, stronger_in_chain = false }
pool = { public_percent = 71, hidden_percent = 29, trending_days = 44 }
"""


def page(root: Path, name: str) -> str:
    return render(root)[f"docs/{name}.md"].decode()


def test_every_number_comes_from_the_edition(tmp_path: Path) -> None:
    declare(tmp_path)
    (tmp_path / "pools/editions/2.0.toml").write_text(NEW)
    shown = seen(page(tmp_path, "methodology"))
    for words in (
        *("71 % of a pool is public", "29 % is hidden", "last\n44 days", "above 707 MB", "at most 4.25 USD"),
        *("Five attempts are independent", "above 37 %", "the five attempts of one agent", "first five valid attempts"),
        *("exactly\n37 % stays", "has made six complete", "least\nfour ranked agents", "at most\ntwice", "full 17"),
        *("is 82 points and still a fail", "can have 82 points and a pass 75", "up to 100 points"),
    ):
        assert words in shown
    cells = [row for table in tables(page(tmp_path, "methodology")) for row in table]
    assert ["standard", "91", "every other project"] in cells
    assert ["gpu", "123", "a project that needs a GPU"] in cells
    assert ["verification depth", "real 19, mock 11, none 1"] in cells
    for old in ("90", "120", "500", "30 %", "80", "20 %", "72", "3 USD"):
        assert not re.search(rf"(?<![\d.-]){old}(?![\d.])", shown.replace("SWE-bench", "")), old


def test_the_table_of_all_numbers_can_be_read_back(tmp_path: Path) -> None:
    declare(tmp_path)
    newest = list(pools.editions(tmp_path).values())[-1]
    text = page(tmp_path, "methodology").split(f"## All numbers of edition {newest.version}\n")[1]
    rows = dict(re.findall(r"^\| `([a-z_.]+)` \| (\S+) \|$", text, re.M))
    assert {field: json.loads(value) for field, value in rows.items()} == numbers(newest)
    assert rows["budgets.standard"] == "90"
    assert rows["board.spread_percent"] == "30"
    assert rows["key_cap_micro_usd"] == "3000000"


def test_every_reason_stands_with_its_policy(tmp_path: Path) -> None:
    declare(tmp_path)
    newest = list(pools.editions(tmp_path).values())[-1]
    table = next(one for one in tables(page(tmp_path, "methodology")) if one[0][0] == "reason")
    assert {row[1]: (row[0], row[2], row[3]) for row in table[1:]} == {
        str(reason): (policy.means, "yes" if policy.counts else "no", str(reruns(reason, newest)))
        for reason, policy in POLICIES.items()
    }


@pytest.mark.parametrize(
    "words",
    [
        "A ceiling on output",
        "a valid fail with 0 points on every line, the limit named. Its report is not read",
        "until its own end, the time limit or another stated limit",
        "attempts for the board included: it proves that the project runs",
        "one made for a verdict counts here and in no set",
        "It is rotated monthly",
        "no verdict, no count, no rank and no share card anywhere",
        "Anyone can replay the whole unedited session",
        "when our own instrument failed or when its report contradicts itself",
        "Records made in it come from demonstrations only",
        "survives in another spelling",
        "in force from the first agent that needs one",
        "ended by itself without a readable report has a valid fail with 0 points on every line",
        "A report that the harness itself lost makes the attempt invalid",
        "the set is incomplete: shown, never scored",
        "It takes at least two ranked agents",
        "count neither way when a project comes under review",
        "not their mean",
        "Equal board scores share a rank",
        "link-local addresses are no part of the internet",
        "The depth is credited as reported",
        "A change of a rule takes effect from the next cycle",
        "Before edition 1.3 the stronger agent was a fixed step of the chain",
        "dashes typed by the author are shown as commas or full stops",
        "Nothing is retroactive",
        "making real software run, alone",
    ],
)
def test_rules_that_are_easily_forgotten_are_printed(tmp_path: Path, words: str) -> None:
    declare(tmp_path)
    assert words in " ".join(seen(page(tmp_path, "methodology")).split())


def test_a_type_is_in_use_only_by_a_valid_attempt_with_evidence_outside_a_demonstration(tmp_path: Path) -> None:
    def status(root: Path) -> dict[str, str]:
        return {row[0]: row[2] for row in tables(page(root, "sources"))[0][1:]}

    package, declared = "published package (npm, PyPI)", "declared, not started"
    make_root(tmp_path, demonstration=True, evidence=False)
    assert set(status(tmp_path).values()) == {declared}
    make_root(tmp_path, id="lost", play=lambda job: invalid(), evidence=False)
    assert set(status(tmp_path).values()) == {declared}
    make_root(tmp_path, id="floor", agents=[], controls=["control-nop"], evidence=False)
    assert set(status(tmp_path).values()) == {declared}
    make_root(tmp_path, "pkg:pypi/One@1.0", "pkg:npm/two@1.0.0", id="real", evidence=False)
    make_root(tmp_path, "pkg:pypi/one@2.0", id="later", evidence=False)
    assert status(tmp_path)[package] == "in use. 2 projects tested"
    assert [name for name, words in status(tmp_path).items() if words != declared] == [package]


def test_a_type_that_has_not_run_is_named_nowhere_else(tmp_path: Path) -> None:
    make_root(tmp_path, evidence=False)
    found = {path: data.decode() for path, data in render(tmp_path).items() if path != "docs/sources.md"}
    for kind in pools.source_types(tmp_path).values():
        if kind.id not in ("package", "repository"):
            assert not [path for path, text in found.items() if kind.name in text], kind.name
    outside = [line for line in page(tmp_path, "sources").splitlines() if not line.startswith("|")]
    for words in ("Hugging Face", "container", "template", "MCP", "vendor", "model card", "GPU", "snippet"):
        assert not [line for line in outside if words in line], words
    model = {"id": "pkg:huggingface/o/m@" + "0" * 40, "source_type": "hf-model", "tier": "gpu"}
    make_root(tmp_path, model, id="models", evidence=False)
    assert "What documents a Hugging Face model is usually a snippet" in seen(page(tmp_path, "sources"))


def test_an_edition_is_effective_since_its_first_run_and_the_records_win(tmp_path: Path) -> None:
    def says(root: Path, version: str) -> tuple[str, str]:
        text = page(root, "changes")
        row = next(row for row in tables(text)[0] if row[0] == version)
        return row[1], seen(text.split(f"## Edition {version}\n")[1].split("\n## ")[0])

    make_root(tmp_path, demonstration=True, id="show", evidence=False)
    day, words = says(tmp_path, "1.5")
    assert day == "no run here yet"
    assert "No run here yet. The published methodology states 2026-10-08." in words
    assert [row[2] for row in tables(page(tmp_path, "changes"))[0][1:]][-3:] == ["none"] * 3
    make_root(tmp_path, id="floor", controls=["agent-a"], agents=[], evidence=False)
    assert says(tmp_path, "1.5")[0] == "no run here yet"
    make_root(tmp_path, evidence=False)
    day, words = says(tmp_path, "1.5")
    assert day == "2026-12-02"
    assert "The published methodology states 2026-10-08. Where the two differ the records win." in words
    on_time = passed() | {"times": {"started_at": "2026-10-08T09:00:00Z"}}
    make_root(tmp_path, id="earlier", play=lambda job: on_time, evidence=False)
    day, words = says(tmp_path, "1.5")
    assert day == "2026-10-08"
    assert "and the day that the published methodology states" in words


def test_numbers_that_changed_are_computed_from_the_files(tmp_path: Path) -> None:
    declare(tmp_path)
    sections = page(tmp_path, "changes").split("\n## Edition ")
    changed = {part.split("\n", 1)[0]: [row for table in tables(part) for row in table[1:]] for part in sections[1:]}
    assert changed["1.3"] == [
        ["budgets.standard", "45", "90"],
        ["verdict.stronger_in_chain", "yes", "no"],
        ["images_to_model", "yes", "no"],
    ]
    assert changed["1.2"] == [["budgets.heavy", "none", "120"], ["heavy_repository_mb", "none", "500"]]
    assert changed["0.4"] == [["verdict.standard_attempts", "none", "2"], ["verdict.stronger_in_chain", "none", "yes"]]
    assert changed["1.0"] == []
    assert list(changed) == ["1.5", "1.4", "1.3", "1.2", "1.1", "1.0", "0.4", "0.3", "0.2"]
