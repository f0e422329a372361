"""Valid records, and whole data roots whose pools, plan, records, ledger and evidence agree with each other."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from archive import places, pools, records
from archive.canonical import canonical, digest
from archive.ledger import Ledger
from archive.plan import Job, Plan, job_id, run_id
from archive.reasons import POLICIES, Outcome, Reason, Validity
from archive.record import Record
from archive.usage import UsageReading
from bot.plan import write_plan
from scoring.due import Result, due, result_of

CHECKOUT = Path(__file__).resolve().parents[2]
"""The checkout whose editions and source types are copied."""
SUBJECT = "pkg:pypi/example@1.0"
Change = Mapping[str, Any]
"""Changed fields of a record; nested ones as nested mappings."""
Play = Callable[[Job], Change]
"""What comes of a job."""


def passed(**report: Any) -> dict[str, Any]:
    """A full pass: 100 points unless `report` says otherwise."""
    return {"outcome": "pass_full", "report": report}


def mocked(**report: Any) -> dict[str, Any]:
    """A pass with mocks: 92 points."""
    return {"outcome": "pass_mock", "report": {"test_depth": "tier2_mock", **report}}


def failed(**report: Any) -> dict[str, Any]:
    """Installed and started but not verified: 80 points, a fail. `installed=False, launched=False` makes 20."""
    missing = {"test_depth": "tier3_none", "verified_how": "not verified"}
    return {"outcome": "fail", "report": missing | report, "claims": None}


def timed_out() -> dict[str, Any]:
    """The budget ended it: 0 points."""
    return {
        "outcome": "timeout",
        "ended_by": "budget",
        "agent_exit": None,
        "report_state": "missing",
        "report": None,
        "claims": None,
        "times": {"agent_ms": 90 * 60_000, "replay_ms": None, "total_ms": 90 * 60_000 + 20_000},
    }


def silent() -> dict[str, Any]:
    """The agent ended by itself without a report: a valid fail with 0 points."""
    return {"outcome": "fail", "report_state": "missing", "report": None, "claims": None}


def invalid(reason: str = "infra:network", detail: str | None = None) -> dict[str, Any]:
    """Our own instrument failed; `evidence:not-proven-clean` makes it withheld, without evidence."""
    withheld = reason == Reason.EVIDENCE_NOT_PROVEN_CLEAN
    found: dict[str, Any] = {
        "validity": "withheld" if withheld else "invalid",
        "reason": reason,
        "reason_detail": detail or POLICIES[Reason(reason)].means,
        "outcome": None,
        "ended_by": "agent" if withheld else "harness",
        "report_state": "not-reached",
        "report": None,
        "claims": None,
    }
    return found | ({"evidence": [], "certificate": None} if withheld else {})


def make_record(job: Job | None = None, **changes: Any) -> Record:
    """A valid record, by default a full pass of control-readme on `SUBJECT` in cycle "first".

    `changes` replace fields; mappings are merged into nested ones, so `report={"installed": False}` changes one field.
    `run` and `job` follow from cycle, purpose, agent, subject and attempt unless they are given.
    """
    data = _template()
    if job is not None:
        shared = ("purpose", "agent", "subject", "source_type", "attempt", "tier", "budget_minutes")
        data |= {name: getattr(job, name) for name in shared} | {"job": job.id}
    _merge(data, changes)
    if "job" not in data:
        data["job"] = job_id(data["cycle"], data["purpose"], data["agent"], data["subject"], data["attempt"])
    data.setdefault("run", run_id(data["cycle"], data["job"]))
    if "error_ms" not in changes:
        data["error_ms"] = [None] * len((data["report"] or {"errors": []})["errors"])
    return Record.model_validate_json(canonical(data))


def make_root(
    folder: Path,
    *subjects: str | Change,
    play: Play = lambda job: passed(),
    agents: Iterable[str] = ("agent-a", "agent-b"),
    controls: Iterable[str] = (),
    evidence: bool = True,
    records_until: int | None = None,
    **cycle: Any,
) -> Path:
    """A data root at `folder` with one cycle ("first" unless `id` is given), measured until nothing is due.

    `subjects` are package URLs or changed fields of a pool line; `cycle` are changed fields of cycle.toml. Calling it
    again with another `id` adds a cycle. `records_until` stops after that many records, as a power cut would.
    """
    made = declare(folder, *subjects, agents=agents, controls=controls, **cycle)
    plan, _ = write_plan(folder, made)
    measure(folder, plan, play, evidence=evidence, until=records_until)
    return folder


def declare(
    folder: Path,
    *subjects: str | Change,
    agents: Iterable[str] = ("agent-a",),
    controls: Iterable[str] = (),
    **cycle: Any,
) -> str:
    """pools/ of a data root: editions and source types of the checkout, agents and one cycle; the cycle's id."""
    for name in ("editions", "sources"):
        shutil.copytree(CHECKOUT / "pools" / name, folder / "pools" / name, dirs_exist_ok=True)
    ranked, unranked = list(agents), list(controls)
    for agent in ranked + unranked:
        _write(folder / f"pools/agents/{agent}.toml", _agent(agent, control=agent in unranked))
    settings: dict[str, Any] = {
        "id": "first",
        "title": "First cycle",
        "demonstration": False,
        "edition": "1.5",
        "starts": "2026-09-01",
        "purposes": ["board"],
        "agents": ranked + unranked,
        "standard_agent": (ranked + unranked)[0],
        "sandboxes": ["bubblewrap"],
    } | cycle
    place = folder / "pools/cycles" / settings["id"]
    _write(place / "cycle.toml", settings)
    lines = [_subject(item) for item in subjects or (SUBJECT,)]
    tables = ("[[subject]]\n" + _toml(line) for line in lines)
    (place / "public.toml").write_text("\n".join(tables), "utf-8")
    return str(settings["id"])


def measure(root: Path, plan: Plan, play: Play, *, evidence: bool = True, until: int | None = None) -> None:
    """Plays every due job, in the plan's order, until nothing is due or `until` records are there."""
    cycle, plan_digest = pools.cycle(root, plan.cycle), digest(pools.plan_path(root, plan.cycle).read_bytes())
    ledger = Ledger.open(root, plan.cycle, plan_digest)
    results: dict[str, Result] = {}
    edition = pools.editions(root)[cycle.edition]
    while waiting := [job for job in due(plan.jobs, results, edition) if job.id not in results]:
        for job in waiting:
            if until is not None and len(results) >= until:
                return
            fixed = {"cycle": cycle.id, "edition": cycle.edition, "agent_digest": plan.pins.agents[job.agent]}
            environment = {"harness": plan.pins.harness.model_dump()}
            record = make_record(job, **(fixed | {"environment": environment} | dict(play(job))))
            if evidence:
                record = _with_evidence(root, record)
            records.save(root, record)
            ledger.append(record.run, digest(canonical(record)))
            results[job.id] = result_of(record)


def _with_evidence(root: Path, record: Record) -> Record:
    """The record over files that really lie in the store."""
    store, stored = places.store(root), []
    for item in record.evidence:
        path = root / ".argusic/making"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(_bytes(item.role, record))
        stored.append({"bytes": path.stat().st_size, "digest": store.put(path)})
        path.unlink()
    data = record.model_dump(mode="json")
    for entry, found in zip(data["evidence"], stored, strict=True):
        entry |= found
    data |= certified(root, data["evidence"])
    return Record.model_validate_json(canonical(data))


def certified(root: Path, entries: list[dict[str, Any]]) -> dict[str, Any]:
    """What a record says of `entries` of evidence, with a certificate over all of them in the store."""
    if not entries:
        return {"evidence": [], "certificate": None}
    looked_at = [
        one for entry in entries for one in ([entry["digest"], entry["bytes"]], *([m, 0] for m in entry["manifests"]))
    ]
    made = {
        "schema_version": 1,
        "checker": "sha256:" + "0" * 64,
        "scanner": {"name": "none", "version": "made for a test"},
        "known": 0,
        "files": [
            {"name": f"file-{n}", "bytes": size, "digest": one, "form": "text", "views": [], "undecodable": 0}
            for n, (one, size) in enumerate(looked_at)
        ],
        "unresolved": 0,
    }
    path = root / ".argusic/making"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(canonical(made))
    kept = places.store(root).put(path)
    path.unlink()
    return {"evidence": entries, "certificate": kept}


def _bytes(role: str, record: Record) -> bytes:
    if role == "report":
        return canonical(record.report)
    if role == "recording":
        return f'{{"version": 2, "width": 120, "height": 40}}\n[0.5, "o", "{record.run}\\r\\n"]\n'.encode()
    return f"{role} of {record.run}\n".encode()


def _template() -> dict[str, Any]:
    zeros = "sha256:" + "0" * 64
    roles = {
        "recording": "application/x-asciicast",
        "terminal": "application/octet-stream",
        "timing": "text/plain",
        "log": "application/x-ndjson",
        "report": "application/json",
    }
    return {
        "schema_version": 1,
        "cycle": "first",
        "purpose": "board",
        "subject": SUBJECT,
        "source_type": "package",
        "agent": "control-readme",
        "agent_digest": zeros,
        "attempt": 1,
        "edition": "1.5",
        "tier": "standard",
        "budget_minutes": 90,
        "validity": "valid",
        "reason": None,
        "reason_detail": None,
        "outcome": "pass_full",
        "ended_by": "agent",
        "agent_exit": 0,
        "incidents": [],
        "environment": {
            "sandbox": "bubblewrap",
            "image": None,
            "system": "Debian GNU/Linux 12",
            "architecture": "x86_64",
            "python": "3.11.2",
            "limits": {"memory_bytes": {"value": 4_294_967_296, "guarantee": "watched"}},
            "network": "open",
            "extra_ca": None,
            "harness": {"commit": None, "digest": zeros},
            "runner": "test",
        },
        "times": {
            "started_at": "2026-12-02T10:00:00Z",
            "fetch_ms": 1_500,
            "agent_ms": 754_000,
            "replay_ms": 2_000,
            "total_ms": 760_000,
        },
        "fetched": [{"name": "example-1.0.tar.gz", "bytes": 1234, "digest": zeros}],
        "report_state": "read",
        "report": {
            "schema_version": 1,
            "installed": True,
            "launched": True,
            "errors_encountered": 0,
            "errors_fixed": 0,
            "errors": [],
            "test_depth": "tier1_real",
            "verified_how": {"command": "python -c 'import example'", "returned": "nothing, exit 0"},
            "final_state": "Installed and imported without an error.",
            "install_seconds": 40,
        },
        "error_ms": [],
        "claims": {"seen": "yes", "kind": "decodes", "replay": "same", "replay_exit": 0, "replay_returned": None},
        "program": None,
        "usage": UsageReading.unknown().model_dump(),
        "key": {
            "kind": "none",
            "broker": None,
            "id": None,
            "cap_micro_usd": None,
            "spent_micro_usd": None,
            "expires_at": None,
            "deletion_confirmed": None,
        },
        "evidence": [
            {
                "role": role,
                "media_type": media_type,
                "bytes": 100,
                "digest": zeros,
                "arrived": "hmac-sha256:" + "0" * 64,
                "stage1": "hmac-sha256:" + "0" * 64,
                "manifests": [],
                "masked": {},
            }
            for role, media_type in roles.items()
        ],
        "certificate": zeros,
    }


def _merge(data: dict[str, Any], changes: Change) -> None:
    for name, value in changes.items():
        inner = data.get(name)
        if isinstance(value, Mapping) and isinstance(inner, dict):
            _merge(inner, value)
        else:
            data[name] = value.value if isinstance(value, Validity | Outcome | Reason) else value
    if data.get("report", ...) is None and "evidence" in data:
        data["evidence"] = [item for item in data["evidence"] if item["role"] != "report"]


def _agent(name: str, *, control: bool) -> dict[str, Any]:
    return {
        "id": name,
        "name": name.replace("-", " ").title(),
        "control": control,
        "harness": "control-nop" if control else "generic",
        "harness_version": "1",
        "instructions": 1,
        "about": "An agent of a test.",
    }


def _subject(item: str | Change) -> dict[str, Any]:
    line = {"id": SUBJECT, "source_type": "package", "tier": "standard", "licence": "MIT", "why": "A test needs it."}
    return line | ({"id": item} if isinstance(item, str) else dict(item))


def _write(path: Path, data: Change) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_toml(data), "utf-8")


def _toml(data: Change) -> str:
    def value(item: Any) -> str:
        if isinstance(item, bool):
            return str(item).lower()
        if isinstance(item, list | tuple):
            return "[" + ", ".join(value(part) for part in item) + "]"
        if isinstance(item, int):
            return str(item)
        escaped = "".join(c if c.isprintable() and c not in '"\\' else f"\\U{ord(c):08X}" for c in item)
        return f'"{escaped}"'

    return "".join(f"{key} = {value(item)}\n" for key, item in data.items())
