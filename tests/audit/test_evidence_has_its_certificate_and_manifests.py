"""verify RUN: what masking changed and what was proven clean can be followed from the record (§10)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from archive import places
from archive.canonical import canonical
from archive.certificate import Certificate
from archive.record import Record
from archive.releases import Release, save
from audit.finding import Checked
from audit.verify import verify
from tests.audit.making import checkout, evidence, made, rewrite, stored
from tests.support.make import certified

ARRIVED = "hmac-sha256:" + "0" * 64


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return checkout(tmp_path, agents=["agent-a"])


def manifest(root: Path, **changes: Any) -> dict[str, Any]:
    """The entry of a log that was masked once, with the manifest that says so."""
    entry = stored(root, "log", b'{"at_ms": 0, "step": "planned", "run": ""}\n')
    data = {
        "schema_version": 1,
        "stage": "credentials",
        "form": "bytes",
        "before": {"bytes": entry["bytes"], "mark": ARRIVED},
        "after": {"bytes": entry["bytes"], "mark": entry["digest"]},
        "edits": [{"event": None, "offset": 2, "length": 2, "kind": "credential"}],
    } | changes
    kept = stored(root, "manifest", canonical(data))
    return entry | {"manifests": [kept["digest"]], "masked": {"credential": 1}}


def problems(root: Path, change: Any) -> list[str]:
    """What verify says of the first run once its evidence is what `change` makes of it."""
    run = made(root)[0].run
    rewrite(root, lambda record: change(record) if record.run == run else {})
    return [finding.problem for finding in verify(root, run)]


def with_log(root: Path, **changes: Any) -> Any:
    def change(record: Record) -> dict[str, Any]:
        entries = [entry for entry in evidence(root, record) if entry["role"] != "log"]
        return certified(root, [*entries, manifest(root, **changes)])

    return change


def test_a_manifest_that_leads_to_what_is_served_is_fine(root):
    assert [one for one in problems(root, with_log(root)) if "manifest" in one or "begin" in one or "end" in one] == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"before": {"bytes": 9, "mark": "hmac-sha256:" + "1" * 64}}, "does not begin with what the log"),
        ({"after": {"bytes": 9, "mark": "sha256:" + "1" * 64}}, "does not end with the log"),
        ({"edits": []}, "1 spans of its log are masked; its manifests hold 0"),
        ({"stage": "other"}, "is no manifest"),
    ],
)
def test_a_manifest_that_leads_elsewhere_is_named(root, changes, said):
    assert [one for one in problems(root, with_log(root, **changes)) if said in one]


def test_a_certificate_that_leaves_a_file_out_is_named(root):
    def change(record: Record) -> dict[str, Any]:
        entries = evidence(root, record)
        return {**certified(root, entries[1:]), "evidence": entries}

    assert problems(root, change) == [f"does not speak of the terminal of run {made(root)[0].run}"]


@pytest.mark.parametrize("damage", ["missing", "changed", "no certificate"])
def test_a_certificate_that_is_not_there_or_not_itself_is_named(root, damage):
    record = made(root)[0]
    path = places.store(root).path(record.certificate)
    if damage == "missing":
        path.unlink()
    elif damage == "changed":
        path.write_bytes(path.read_bytes().replace(b'"known": 0', b'"known": 7'))
    else:
        rewrite(root, lambda one: {"certificate": one.evidence[0].digest} if one.run == record.run else {})
    said = {"missing": "is not in the store", "changed": "was changed", "no certificate": "is no certificate"}[damage]
    assert [finding for finding in verify(root, record.run) if said in finding.problem]


def test_every_certificate_of_a_fixture_is_one(root):
    for record in made(root):
        path = places.store(root).path(record.certificate)
        assert {file.digest for file in Certificate.model_validate_json(path.read_bytes()).files} == {
            item.digest for item in record.evidence
        }


def test_evidence_that_waits_for_the_end_of_its_key_is_no_finding_until_it_was_let_out(root):
    run = made(root)[0].run
    key = {"kind": "own", "cap_micro_usd": 3_000_000, "expires_at": "2030-01-01T00:00:00Z", "deletion_confirmed": False}
    rewrite(root, lambda record: {"key": key} if record.run == run else {})
    for item in made(root)[0].evidence:
        path = places.store(root).path(item.digest)
        if path and not any(item.digest == one.digest for other in made(root)[1:] for one in other.evidence):
            path.unlink()
    checked = Checked()
    assert verify(root, run, checked=checked) == []
    assert checked["runs whose evidence waits"] == 1
    save(
        root,
        Release(schema_version=1, cycle="first", run=run, at="2030-01-02T00:00:00Z", because="expired"),
    )
    assert json.loads((root / f"results/releases/first/{run[:2]}/{run}.json").read_text())["because"] == "expired"
    assert [one for one in verify(root, run) if "is not in the store" in one.problem]
