"""Reading pools/: a mistake is named with file, field and line, all mistakes of a file together."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from archive import pools
from archive.errors import ArgusicError, DataError, DataErrors

CHECKOUT = Path(__file__).resolve().parents[2]
COMMIT = "0123456789abcdef0123456789abcdef01234567"
CYCLE = """id = "demo"
title = "Demonstration"
demonstration = true
edition = "1.5"
starts = "2026-11-30"
purposes = ["board"]
agents = ["control-readme", "control-nop"]
standard_agent = "control-readme"
sandboxes = ["bubblewrap"]
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The pools of the repository with one cycle, whose own files the tests write."""
    for name in ("agents", "editions", "sources"):
        shutil.copytree(CHECKOUT / "pools" / name, tmp_path / "pools" / name)
    (tmp_path / "pools/cycles/demo").mkdir(parents=True)
    (tmp_path / "pools/cycles/demo/cycle.toml").write_text(CYCLE)
    return tmp_path


def subject(id: str = "pkg:pypi/example@1.0", **changes: str) -> str:
    fields = {"id": id, "source_type": "package", "tier": "standard", "licence": "MIT", "why": "A test."} | changes
    return "[[subject]]\n" + "".join(f'{key} = "{value}"\n' for key, value in fields.items()) + "\n"


def pool(root: Path, text: str) -> Path:
    path = root / "pools/cycles/demo/public.toml"
    path.write_text(text, "utf-8")
    return path


def change(path: Path, old: str, new: str) -> int:
    """Replaces `old`, once; the 1-based line where it stood."""
    text = path.read_text("utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), "utf-8")
    return text[: text.index(old)].count("\n") + 1


def problems(call: object, *arguments: object) -> list[DataError]:
    with pytest.raises(ArgusicError) as caught:
        call(*arguments)  # type: ignore[operator]
    return caught.value.errors if isinstance(caught.value, DataErrors) else [caught.value]  # type: ignore[list-item]


def test_what_the_repository_declares_can_be_read() -> None:
    for cycle in pools.cycle_ids(CHECKOUT):
        assert pools.cycle(CHECKOUT, cycle).edition in pools.editions(CHECKOUT)
        assert pools.subjects(CHECKOUT, cycle)


def test_the_rooms_of_pools_are_read_as_models(root: Path) -> None:
    assert list(pools.editions(root)) == ["0.2", "0.3", "0.4", "1.0", "1.1", "1.2", "1.3", "1.4", "1.5"]
    assert {"control-nop", "control-readme"} <= set(pools.agents(root))
    assert len(pools.source_types(root)) == 8
    assert pools.cycle(root, "demo").edition == "1.5"


@pytest.mark.parametrize(
    "budget", ["0", "-1", "inf", "-inf", "nan", "90.0", "1e3", "true", '"90"', "10001", "[90]", "{}"]
)
def test_a_budget_is_a_whole_number_of_minutes(root: Path, budget: str) -> None:
    path = root / "pools/editions/1.5.toml"
    line = change(path, "standard = 90", f"standard = {budget}")
    (problem,) = problems(pools.editions, root)
    assert (problem.file, problem.field, problem.line) == (path, "budgets.standard", line)


def test_an_edition_without_heavy_tier_has_null_there(root: Path) -> None:
    assert pools.editions(root)["1.0"].budget_minutes("heavy") is None
    assert pools.editions(root)["1.5"].budget_minutes("heavy") == 120


def test_points_that_do_not_add_up_are_refused(root: Path) -> None:
    change(root / "pools/editions/1.5.toml", "installed = 30", "installed = 31")
    (problem,) = problems(pools.editions, root)
    assert "add up to 100" in problem.problem


def test_an_unknown_key_is_a_mistake_with_its_line(root: Path) -> None:
    path = root / "pools/agents/control-nop.toml"
    path.write_text(path.read_text() + 'temperature = "0"\n')
    (problem,) = problems(pools.agents, root)
    lines = path.read_text().count("\n")
    assert (problem.file, problem.field, problem.line) == (path, "temperature", lines)
    assert "unknown key" in str(problem)


def test_a_missing_key_is_named(root: Path) -> None:
    path = root / "pools/agents/control-nop.toml"
    change(path, "control = true\n", "")
    (problem,) = problems(pools.agents, root)
    assert (problem.field, problem.problem.split(";")[0]) == ("control", "missing")


def test_all_mistakes_of_all_files_are_shown_together(root: Path) -> None:
    change(root / "pools/agents/control-nop.toml", "control = true", "control = 1")
    change(root / "pools/agents/control-nop.toml", "instructions = 1", 'instructions = "1"')
    change(root / "pools/agents/control-readme.toml", 'id = "control-readme"', 'id = "someone"')
    found = problems(pools.agents, root)
    assert [(p.file.name, p.field) for p in found] == [
        ("control-nop.toml", "control"),
        ("control-nop.toml", "instructions"),
        ("control-readme.toml", "id"),
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"id = \n", "no valid TOML"),
        (b"id = 'a'\nid = 'b'\n", "no valid TOML"),
        (b"id = '\xff'\n", "not UTF-8 at byte 6"),
    ],
)
def test_a_file_that_is_no_toml_is_named(root: Path, content: bytes, said: str) -> None:
    path = root / "pools/agents/control-nop.toml"
    path.write_bytes(content)
    (problem,) = problems(pools.agents, root)
    assert problem.file == path
    assert said in str(problem)


def test_a_folder_that_is_no_checkout_is_named(tmp_path: Path) -> None:
    (problem,) = problems(pools.editions, tmp_path)
    assert "is --root a checkout" in str(problem)


@pytest.mark.parametrize("name", ["nothing", "", "..", "../demo", "demo/", "de\0mo"])
def test_a_cycle_that_is_not_there_is_named_with_those_that_are(root: Path, name: str) -> None:
    (problem,) = problems(pools.cycle, root, name)
    assert "there are: demo" in str(problem)


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ('id = "demo"', 'id = "other"', "id"),
        ('edition = "1.5"', 'edition = "9.9"', "edition"),
        ('["control-readme", "control-nop"]', '["control-readme", "nobody"]', "agents"),
        ('["control-readme", "control-nop"]', '["control-readme", "control-readme"]', "agents"),
        ('standard_agent = "control-readme"', 'standard_agent = "nobody"', "standard_agent"),
        ('starts = "2026-11-30"', 'starts = "2026-13-30"', "starts"),
        ('purposes = ["board"]', 'purposes = ["fun"]', "purposes.0"),
        ('purposes = ["board"]', "purposes = []", "purposes"),
    ],
)
def test_a_cycle_refers_to_what_exists(root: Path, old: str, new: str, field: str) -> None:
    path = root / "pools/cycles/demo/cycle.toml"
    line = change(path, old, new)
    found = problems(pools.cycle, root, "demo")
    assert (found[0].file, found[0].field) == (path, field)
    assert found[0].line in (line, None)


def test_subjects_come_in_the_order_of_the_file(root: Path) -> None:
    pool(root, subject("pkg:pypi/b@1.0") + subject("pkg:npm/a@1.0.0"))
    assert [found.id for found in pools.subjects(root, "demo")] == ["pkg:pypi/b@1.0", "pkg:npm/a@1.0.0"]


@pytest.mark.parametrize(
    ("first", "second", "source_type"),
    [
        ("pkg:pypi/My_Project@1.0", "pkg:pypi/my-project@1.0.0", "package"),
        ("pkg:pypi/x@1.0", "pkg:pypi/x@2.0", "package"),
        (f"pkg:github/Owner/Name@{COMMIT}", f"pkg:github/owner/name@{'f' * 40}", "repository"),
        ("pkg:npm/%40scope/x@1.0.0", "pkg:npm/@scope/x@1.0.0", "package"),
    ],
)
def test_the_same_project_twice_is_refused_whatever_its_spelling(
    root: Path, first: str, second: str, source_type: str
) -> None:
    path = pool(root, subject(first, source_type=source_type) + subject(second, source_type=source_type))
    (problem,) = problems(pools.subjects, root, "demo")
    assert (problem.file, problem.field, problem.line) == (path, "subject.1.id", 9)
    assert problem.problem == "the same project as in line 2"


def test_npm_names_that_differ_by_case_are_two_projects(root: Path) -> None:
    pool(root, subject("pkg:npm/JSONStream@1.3.5") + subject("pkg:npm/jsonstream@1.0.3"))
    assert len(pools.subjects(root, "demo")) == 2


@pytest.mark.parametrize(
    ("text", "field", "said"),
    [
        (subject(tier="huge"), "subject.0.tier", "standard"),
        (subject("pkg:pypi/x@latest"), "subject.0.id", "not one exact version"),
        (subject(source_type="game"), "subject.0.source_type", "not declared; one of"),
        (subject(source_type="repository"), "subject.0.id", "takes pkg:generic, github"),
        (subject(stars="5"), "subject.0.stars", "unknown key"),
        (subject(licence=""), "subject.0.licence", "at least 1"),
        (subject().replace('tier = "standard"\n', ""), "subject.0.tier", "missing"),
        ("", "subject", "[[subject]]"),
        ("[subject]\n", "subject", "[[subject]]"),
        (subject() + "[other]\n", "other", "and nothing else"),
        ("subject = [1]\n", "subject.0", "object"),
    ],
)
def test_a_mistake_in_a_pool_is_named(root: Path, text: str, field: str, said: str) -> None:
    path = pool(root, text)
    (problem,) = problems(pools.subjects, root, "demo")
    assert (problem.file, problem.field) == (path, field)
    assert said in problem.problem


def test_each_mistake_of_a_pool_has_its_own_line(root: Path) -> None:
    pool(root, subject() + subject("pkg:pypi/b@>1") + subject("pkg:pypi/c@1.0", tier="huge"))
    found = problems(pools.subjects, root, "demo")
    assert [(p.field, p.line) for p in found] == [("subject.1.id", 9), ("subject.2.tier", 18)]


def test_a_date_where_text_belongs_is_read_as_its_text(root: Path) -> None:
    pool(root, subject().replace('why = "A test."', "why = 2026-12-01"))
    assert pools.subjects(root, "demo")[0].why == "2026-12-01"


def test_a_missing_pool_is_named(root: Path) -> None:
    (problem,) = problems(pools.subjects, root, "demo")
    assert re.search(r"public\.toml: no such file$", str(problem))


def test_a_cycle_without_plan_has_none(root: Path) -> None:
    assert pools.plan(root, "demo") is None


def test_a_wrong_plan_is_named_with_its_field(root: Path) -> None:
    path = pools.plan_path(root, "demo")
    path.write_text('{"schema_version": 1, "cycle": "demo", "jobs": []}')
    (problem,) = problems(pools.plan, root, "demo")
    assert (problem.file, problem.field) == (path, "pins")


REPOSITORY = {"id": f"pkg:github/owner/name@{COMMIT}", "source_type": "repository"}


@pytest.mark.parametrize(("size", "tier"), [(512_000, "standard"), (512_001, "heavy"), (10, "heavy"), (900_000, "gpu")])
def test_a_repository_states_its_size_and_its_tier_follows(root: Path, size: int, tier: str) -> None:
    pool(root, subject(**REPOSITORY, tier=tier) + f"size_kb = {size}\n")
    (found,) = pools.subjects(root, "demo")
    assert found.size_kb == size


def test_a_large_repository_in_the_standard_tier_is_named_with_its_field_and_line(root: Path) -> None:
    path = pool(root, subject() + subject(**REPOSITORY) + "size_kb = 512001\n")
    (problem,) = problems(pools.subjects, root, "demo")
    assert problem.field == "subject.1.tier"
    assert (
        str(problem) == f"{path}:11: subject.1.tier: a repository of 512001 KB is above 512000 KB, so its tier is heavy"
    )


def test_before_there_was_a_heavy_tier_no_size_asks_for_it(root: Path) -> None:
    change(root / "pools/cycles/demo/cycle.toml", 'edition = "1.5"', 'edition = "1.1"')
    pool(root, subject(**REPOSITORY) + "size_kb = 512001\n")
    assert len(pools.subjects(root, "demo")) == 1


def test_only_github_states_a_size(root: Path) -> None:
    pool(root, subject() + "size_kb = 1\n")
    (problem,) = problems(pools.subjects, root, "demo")
    assert (problem.field, "GitHub's own figure" in str(problem)) == ("subject.0.size_kb", True)


def test_a_file_is_no_repository(root: Path) -> None:
    file = f"pkg:generic/tool@1.0?download_url=https://example.org/x&checksum=sha256:{'a' * 64}"
    pool(root, subject(file, source_type="repository"))
    (problem,) = problems(pools.subjects, root, "demo")
    assert (problem.field, "names no repository" in str(problem)) == ("subject.0.id", True)
