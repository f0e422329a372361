"""audit rules: what the methodology page, the editions, the workflows and the records say is the same (invariant 4)."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from archive import atomic, pools
from archive.errors import DataError
from audit.finding import Checked, Finding
from audit.methodology import numbers
from audit.rules import GRACE_MS, rules
from audit.workflows import ROOM_MINUTES
from bot.render import render
from tests.audit.making import made, merged, name_of, path_of, rewrite
from tests.support.make import invalid, make_root, timed_out

BUDGET_MS = 90 * 60_000
PAGE = "docs/methodology.md"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = make_root(
        tmp_path_factory.mktemp("whole"), evidence=False, play=lambda job: timed_out() if job.attempt == 2 else {}
    )
    for name, data in render(root).items():
        atomic.write(root / name, data)
    return root


@pytest.fixture
def root(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "root")
    return tmp_path / "root"


def only(findings: list[Finding]) -> Finding:
    assert len(findings) == 1, [str(one) for one in findings]
    return findings[0]


def change(root: Path, file: str, old: str, new: str) -> None:
    text = (root / file).read_text()
    assert old in text
    (root / file).write_text(text.replace(old, new, 1))


def test_where_all_agree_nothing_is_found_and_what_was_compared_is_told(root: Path) -> None:
    checked = Checked()
    assert rules(root, checked=checked) == rules(root, "first") == []
    edition = pools.editions(root)["1.5"]
    assert checked["methodology numbers"] == len(numbers(edition))
    assert checked["records"] == 6


def test_every_number_switch_and_gap_of_an_edition_must_stand_on_the_page(root: Path) -> None:
    found = numbers(pools.editions(root)["1.5"])
    assert found["budgets.standard"] == 90
    assert found["board.spread_percent"] == 30
    assert found["key_cap_micro_usd"] == 3_000_000
    assert found["virtual_display"] is True
    assert numbers(pools.editions(root)["0.3"])["verdict"] is None
    assert "version" not in found


@pytest.mark.parametrize("field", ["budgets.standard", "budgets.gpu", "rubric.depth_mock", "board.spread_percent"])
def test_a_number_that_the_page_states_otherwise_is_named(root: Path, field: str) -> None:
    right = numbers(pools.editions(root)["1.5"])[field]
    change(root, PAGE, f"| `{field}` | {right} |", f"| `{field}` | 240 |")
    found = only(rules(root))
    assert (found.file, found.problem) == (PAGE, f"states {field} as 240; edition 1.5 says {right}")


def test_the_running_budget_that_the_page_does_not_say_is_named(root: Path) -> None:
    """As it happened from 2026-09-06 to 2026-09-11: 240 minutes ran while the page said 120."""
    change(root, "pools/editions/1.5.toml", "gpu = 120", "gpu = 240")
    assert only(rules(root)).problem == "states budgets.gpu as 120; edition 1.5 says 240"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("| `virtual_display` | true |", "| `virtual_display` | yes |", "states virtual_display as yes"),
        ("| `virtual_display` | true |", "| `virtual_display` | 1 |", "states virtual_display as 1"),
        ("| `virtual_display` | true |\n", "", "does not state virtual_display (true)"),
        ("| `virtual_display` | true |", "| `virtual_display` | true |\n| `virtual_display` | true |", "twice"),
        (
            "| `virtual_display` | true |",
            "| `virtual_display` | true |\n| `speed` | 5 |",
            "is no number of edition 1.5",
        ),
        ("All numbers of edition 1.5", "All numbers of edition 1.4", "the newest one is 1.5"),
        ("All numbers of edition 1.5", "Some numbers", "has 0 sections"),
        (
            "## All numbers of edition 1.5",
            "## All numbers of edition 1.5\n\n## All numbers of edition 1.5",
            "has 2 sections",
        ),
    ],
)
def test_whatever_is_wrong_with_the_table_is_said(root: Path, old: str, new: str, said: str) -> None:
    change(root, PAGE, old, new)
    assert said in only(rules(root)).problem


def test_a_page_that_is_not_there_is_named(root: Path) -> None:
    (root / PAGE).unlink()
    assert only(rules(root)).problem == "is missing; argusic pages build writes it"


def test_a_newer_edition_makes_the_page_old(root: Path) -> None:
    text = (root / "pools/editions/1.5.toml").read_text().replace('version = "1.5"', 'version = "1.10"')
    (root / "pools/editions/1.10.toml").write_text(text)
    assert only(rules(root)).problem == "states the numbers of edition 1.5; the newest one is 1.10"


def forge(root: Path, **changes: Any) -> str:
    """Changes the first record (whose outcome is no time-out) in place; its file as a finding names it."""
    record = made(root)[0]
    rewrite(root, lambda one: changes if one.run == record.run else {})
    return name_of(root, record.run)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"budget_minutes": 180}, "standard budget 180 minutes; edition 1.5 says 90"),
        ({"budget_minutes": 180}, "standard, 180 minutes; the plan says standard, 90 minutes"),
        ({"tier": "heavy"}, "heavy budget 90 minutes; edition 1.5 says 120"),
        ({"tier": "heavy", "budget_minutes": 120}, "heavy, 120 minutes; the plan says standard, 90 minutes"),
        ({"edition": "1.4"}, "made under edition 1.4; the cycle is one of edition 1.5"),
        ({"edition": "9.9"}, "edition 9.9 does not exist"),
        ({"edition": "1.1", "tier": "heavy"}, "heavy budget 90 minutes; edition 1.1 says no such budget"),
        ({"times": {"agent_ms": BUDGET_MS + GRACE_MS + 1}}, "worked for 5460001 ms; its budget is 5400000 ms"),
    ],
)
def test_a_record_with_other_numbers_is_named(root: Path, changes: dict[str, Any], said: str) -> None:
    name = forge(root, **changes)
    found = rules(root)
    assert {one.file for one in found} == {name}
    assert any(said in one.problem for one in found), [str(one) for one in found]


@pytest.mark.parametrize("agent_ms", [0, BUDGET_MS - 1, BUDGET_MS, BUDGET_MS + GRACE_MS, None])
def test_up_to_its_budget_and_the_stated_grace_an_attempt_may_take(root: Path, agent_ms: int | None) -> None:
    forge(root, times={"agent_ms": agent_ms})
    assert rules(root) == []


@pytest.mark.parametrize(
    ("agent_ms", "fine"),
    [
        (None, False),
        (0, False),
        (BUDGET_MS - 1, False),
        (BUDGET_MS, True),
        (BUDGET_MS + GRACE_MS, True),
        (10**9, False),
    ],
)
def test_a_time_out_is_one_only_at_the_end_of_the_budget(root: Path, agent_ms: int | None, fine: bool) -> None:
    record = next(record for record in made(root) if record.outcome == "timeout")
    rewrite(root, lambda one: {"times": {"agent_ms": agent_ms}} if one.run == record.run else {})
    found = rules(root)
    assert (found == []) is fine
    assert {one.file for one in found} <= {name_of(root, record.run)}


def test_limits_that_differ_within_a_cycle_are_named(root: Path) -> None:
    usual = made(root)[0].environment.limits
    limit, value = next((name, limit.value) for name, limit in usual.items())
    name = forge(root, environment={"limits": {limit: {"value": 1}}})
    found = only(rules(root))
    assert found.file == name
    said, others = found.problem.split("; 5 records of the cycle have ")
    assert f'"{limit}":1' in said
    assert f'"{limit}":{value}' in others


def test_a_limit_that_only_one_record_has_is_named(root: Path) -> None:
    name = forge(root, environment={"limits": {"disk": {"value": 1, "guarantee": "enforced"}}})
    assert only(rules(root)).file == name


def test_how_well_a_limit_is_held_may_differ(root: Path) -> None:
    forge(root, environment={"limits": {name: {"guarantee": "watched"} for name in made(root)[0].environment.limits}})
    assert rules(root) == []


def test_an_attempt_that_had_no_machine_has_no_limits_to_compare(root: Path) -> None:
    record = made(root)[0]
    wish = dict(invalid("infra:machine")) | {"times": {"agent_ms": None}}
    data = merged(record, wish).model_dump(mode="json")
    data["environment"]["limits"] = {}
    atomic.write(path_of(root, record.run), json.dumps(data).encode())
    assert rules(root) == []


KEY = {"kind": "own", "cap_micro_usd": 3_000_000, "spent_micro_usd": None, "deletion_confirmed": True}

CAP = "; edition 1.5 says 3000000, in millionths of a US dollar"


@pytest.mark.parametrize(
    ("key", "said"),
    [
        (KEY, None),
        (KEY | {"cap_micro_usd": 5_000_000}, f"its own key had a cap of 5000000{CAP}"),
        (KEY | {"cap_micro_usd": None}, f"its own key had no cap{CAP}"),
        (KEY | {"kind": "shared", "cap_micro_usd": None}, None),
        (KEY | {"kind": "none", "cap_micro_usd": None}, None),
    ],
)
def test_the_cap_of_an_attempts_own_key_is_the_editions(root: Path, key: dict[str, Any], said: str | None) -> None:
    name = forge(root, key=key)
    assert [(one.file, one.problem.split(": ", 1)[1]) for one in rules(root)] == ([(name, said)] if said else [])


def test_where_the_edition_states_no_cap_there_is_nothing_to_compare(tmp_path: Path) -> None:
    make_root(tmp_path, evidence=False, edition="1.4", play=lambda job: {"key": KEY | {"cap_micro_usd": 1}})
    assert [one for one in rules(tmp_path) if "key" in one.problem] == []


def test_a_machine_that_is_not_kept_apart_is_for_demonstrations_alone(root: Path, tmp_path: Path) -> None:
    apart = {"isolation_of_attempts": {"value": None, "guarantee": "absent"}}
    rewrite(root, lambda one: {"environment": {"limits": apart}})
    found = rules(root)
    assert len(found) == 6
    assert "isolation of attempts: absent from its machine; only a demonstration may use" in found[0].problem
    change(root, "pools/cycles/first/cycle.toml", "demonstration = false", "demonstration = true")
    assert rules(root) == []


def test_two_harnesses_in_one_cycle_are_named(root: Path) -> None:
    name = forge(root, environment={"harness": {"commit": None, "digest": "sha256:" + "9" * 64}})
    found = only(rules(root))
    assert found.file == name
    assert "harness sha256:9999" in found.problem


def test_agents_that_read_different_instructions_are_named(root: Path) -> None:
    change(root, "pools/agents/agent-b.toml", "instructions = 1", "instructions = 2")
    found = rules(root)
    assert [one.file for one in found] == ["pools/cycles/first/cycle.toml", "pools/cycles/first/plan.json"]
    assert "versions [1, 2]" in found[0].problem
    assert "pins instructions 1; the agents read versions [1, 2]" in found[1].problem


def test_a_cycle_of_an_edition_that_does_not_exist_is_named_with_its_line(root: Path) -> None:
    change(root, "pools/cycles/first/cycle.toml", 'edition = "1.5"', 'edition = "7.0"')
    found = only(rules(root))
    assert found.file == "pools/cycles/first/cycle.toml:4"
    assert "no such edition" in found.problem


def test_a_record_that_cannot_be_read_is_named_and_the_others_are_compared(root: Path) -> None:
    first, second = made(root)[:2]
    path_of(root, first.run).write_bytes(b"{}")
    rewritten = merged(second, {"budget_minutes": 1})
    path_of(root, second.run).write_text(rewritten.model_dump_json())
    assert {one.file for one in rules(root)} == {name_of(root, first.run), name_of(root, second.run)}


def test_an_edition_that_cannot_be_read_is_named(root: Path) -> None:
    change(root, "pools/editions/1.3.toml", "standard = 90", "standard = 0")
    assert only(rules(root)).file.split(":")[0] == "pools/editions/1.3.toml"


def test_a_cycle_that_does_not_exist_is_a_users_mistake(root: Path) -> None:
    with pytest.raises(DataError, match="there are: first"):
        rules(root, "secnod")


JOB = "    runs-on: [self-hosted]\n    timeout-minutes: {}\n    steps:\n      - run: {}\n"
ATTEMPT = "argusic --root data run job"


def workflow(root: Path, jobs: str, name: str = "measure.yml") -> list[Finding]:
    path = root / ".github/workflows" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"name: Measure\non:\n  schedule:\n    - cron: '0 3 * * *'\n\njobs:\n{jobs}")
    return rules(root)


def test_a_job_that_leaves_the_largest_budget_room_is_fine(root: Path) -> None:
    jobs = (
        "  attempt:\n"
        + JOB.format(120 + ROOM_MINUTES, ATTEMPT)
        + "\n  check: # quick\n"
        + JOB.format(5, "argusic verify x")
    )
    checked = Checked()
    assert workflow(root, jobs) == []
    rules(root, checked=checked)
    assert (checked["workflows"], checked["workflow jobs"]) == (1, 2)


def test_a_job_that_ends_before_the_largest_budget_is_named(root: Path) -> None:
    found = only(workflow(root, "  attempt:\n" + JOB.format(120 + ROOM_MINUTES - 1, ATTEMPT)))
    assert found.file == ".github/workflows/measure.yml"
    assert (
        found.problem
        == "job attempt may take 134 minutes; an attempt needs 120 minutes of the largest budget and 15 more"
    )


@pytest.mark.parametrize(
    ("jobs", "said"),
    [
        ("  attempt:\n    runs-on: x\n    steps: []\n", "job attempt has no timeout-minutes"),
        ("  a:\n" + JOB.format(5, "true") + "  b:\n    runs-on: x\n", "job b has no timeout-minutes"),
        ("  a:\n    steps:\n      - run: x\n        timeout-minutes: 5\n", "job a has no timeout-minutes"),
        ("  a:\n    # timeout-minutes: 5\n    runs-on: x\n", "job a has no timeout-minutes"),
        ("  a:\n" + JOB.format("${{ inputs.minutes }}", "true"), "write a whole number"),
        ("  a:\n" + JOB.format("1.5", "true"), "write a whole number"),
        ("      a: {runs-on: x}\n", "no jobs that can be read"),
    ],
)
def test_a_job_that_does_not_say_how_long_it_may_take_is_named(root: Path, jobs: str, said: str) -> None:
    assert said in only(workflow(root, jobs)).problem


def test_a_job_that_calls_another_workflow_cannot_say_it(root: Path) -> None:
    assert workflow(root, "  call:\n    uses: ./.github/workflows/other.yaml\n") == []


def test_without_workflows_there_is_nothing_to_compare(root: Path) -> None:
    checked = Checked()
    rules(root, checked=checked)
    assert "workflows" not in checked


@pytest.mark.parametrize("break_it", [lambda root: shutil.rmtree(root / "pools/editions")])
def test_a_folder_that_is_no_checkout_is_a_finding(root: Path, break_it: Callable[[Path], None]) -> None:
    break_it(root)
    assert "is --root a checkout" in only(rules(root)).problem
