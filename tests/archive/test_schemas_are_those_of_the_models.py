"""schemas/: what others validate with is exported from the models that we validate with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import tomli

from archive import ledger, pools, records, schemas
from tests.support.make import declare, failed, invalid, make_root, timed_out

CHECKOUT = Path(__file__).resolve().parents[2]


def validator(name: str) -> jsonschema.Draft202012Validator:
    schema = json.loads(schemas.schemas()[f"{name}.schema.json"])
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small measured cycle, with each kind of record in it."""
    kinds = [failed(), timed_out(), invalid(), invalid("evidence:not-proven-clean")]
    return make_root(
        tmp_path_factory.mktemp("root"),
        evidence=False,
        play=lambda job: kinds[job.attempt % len(kinds)],
        purposes=["board", "verdict"],
    )


def documents(root: Path) -> dict[str, list[Any]]:
    """Real documents of each kind, as JSON types."""
    found: dict[str, list[Any]] = {
        "plan": [json.loads(pools.plan_path(root, "first").read_bytes())],
        "image": [json.loads(path.read_bytes()) for path in (CHECKOUT / "pools/images").glob("*.json")],
        "record": [json.loads(path.read_bytes()) for path in records.paths(root)],
        "ledger-line": [json.loads(line) for line in ledger.ledger_path(root, "first").read_bytes().splitlines()],
    }
    again = found["record"][0] | {"purpose": "rerun"}
    found["reproduction"] = [
        {"schema_version": 1, "of": "0" * 32, "of_record": "sha256:" + "0" * 64, "number": 1, "record": again}
    ]
    found["tombstone"] = [
        {"schema_version": 1, "digest": "sha256:" + "0" * 64, "day": "2026-12-01", "reason": "a court order"}
    ]
    zeros = "sha256:" + "0" * 64
    found["stamp"] = [
        {
            "schema_version": 1, "cycle": "first", "head": zeros, "at": "2026-12-01T00:00:00Z", "by": "CN=somebody",
            "tsa": "https://tsa.example.org/", "response": zeros, "authority": "PEM", "fingerprints": [zeros],
        }
    ]  # fmt: skip
    found["report"] = [record["report"] for record in found["record"] if record["report"]]
    for name, pattern in (
        ("agent", "pools/agents/*.toml"),
        ("cycle", "pools/cycles/*/cycle.toml"),
        ("edition", "pools/editions/*.toml"),
        ("limits", "pools/limits.toml"),
        ("pool", "pools/cycles/*/public.toml"),
        ("source-type", "pools/sources/*.toml"),
    ):
        found[name] = [tomli.loads(path.read_text()) for place in (CHECKOUT, root) for path in place.glob(pattern)]
    return found


def test_the_files_in_the_repository_are_current() -> None:
    there = {path.name: path.read_bytes() for path in (CHECKOUT / "schemas").iterdir()}
    assert there == schemas.schemas(), "write them anew: python -m archive.schemas"


def test_writing_them_again_changes_nothing_and_removes_what_is_no_document(tmp_path: Path) -> None:
    assert len(schemas.write(tmp_path)) == len(schemas.DOCUMENTS) == 14
    (tmp_path / "old.schema.json").write_text("{}")
    assert schemas.write(tmp_path) == [tmp_path / "old.schema.json"]
    assert schemas.write(tmp_path) == []


@pytest.mark.parametrize("name", schemas.DOCUMENTS)
def test_real_documents_validate(root: Path, name: str) -> None:
    found, check = documents(root)[name], validator(name)
    assert found
    for document in found:
        check.validate(document)


@pytest.mark.parametrize("name", schemas.DOCUMENTS)
def test_an_unknown_key_a_missing_key_and_a_wrong_type_do_not(root: Path, name: str) -> None:
    document, check = documents(root)[name][0], validator(name)
    assert not check.is_valid(document | {"surprise": 1})
    assert not check.is_valid([document])
    for key in set(document) - {"decided", "stated_effective", "heavy_repository_mb", "key_cap_micro_usd", "verdict"}:
        assert not check.is_valid({k: v for k, v in document.items() if k != key}), key
        assert not check.is_valid(document | {key: [{"wrong": "type"}]}), key


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("report", lambda d: d | {"installed": 1}),
        ("report", lambda d: d | {"errors_fixed": -1}),
        ("report", lambda d: d | {"final_state": "x" * 2001}),
        ("report", lambda d: d | {"test_depth": "tier4"}),
        ("record", lambda d: d | {"validity": "fine"}),
        ("record", lambda d: d | {"reason": "infra:weather"}),
        ("record", lambda d: d | {"agent_digest": "sha256:short"}),
        ("record", lambda d: d | {"budget_minutes": 0}),
        ("plan", lambda d: d | {"schema_version": 2}),
        ("plan", lambda d: d | {"jobs": [d["jobs"][0] | {"condition": "sometimes"}]}),
        ("cycle", lambda d: d | {"starts": "tomorrow"}),
        ("edition", lambda d: d | {"budgets": d["budgets"] | {"standard": 0}}),
        ("edition", lambda d: d | {"budgets": d["budgets"] | {"standard": 1.5}}),
        ("pool", lambda d: {"subject": [d["subject"][0] | {"tier": "huge"}]}),
        ("agent", lambda d: d | {"id": "Not A Slug"}),
        ("source-type", lambda d: d | {"purl_types": []}),
        ("ledger-line", lambda d: d | {"kind": "note"}),
        ("ledger-line", lambda d: d | {"n": 7}),
    ],
)
def test_a_value_out_of_its_range_does_not(root: Path, name: str, change: Callable[[Any], Any]) -> None:
    document = documents(root)[name][0]
    validator(name).validate(document)
    assert not validator(name).is_valid(change(document))


def test_every_field_that_has_a_docstring_carries_it_into_the_schema() -> None:
    schema = json.loads(schemas.schemas()["record.schema.json"])
    assert "Null unless valid" in json.dumps(schema["properties"]["outcome"])


def test_a_pool_that_can_be_loaded_is_one_that_validates(tmp_path: Path) -> None:
    declare(tmp_path, "pkg:pypi/example@1.0", "pkg:npm/%40scope/example@1.2.3")
    assert len(pools.subjects(tmp_path, "first")) == 2
    validator("pool").validate(tomli.loads((tmp_path / "pools/cycles/first/public.toml").read_text()))
