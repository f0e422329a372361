"""Reading pools/: TOML in, models out, every mistake named with file, field and line."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import tomli
from pydantic import TypeAdapter

from archive.agent import Agent
from archive.cycle import Cycle
from archive.edition import Edition
from archive.errors import DataError, DataErrors
from archive.image import Image
from archive.limits import MachineLimits
from archive.model import M, line_of, read_model
from archive.plan import Plan
from archive.source_type import SourceType
from archive.subject import Subject


def editions(root: Path) -> dict[str, Edition]:
    """All editions by version, oldest first."""
    found = _folder(root / "pools/editions", Edition, "version")
    return dict(sorted(found.items(), key=lambda item: [int(part) for part in item[0].split(".")]))


def agents(root: Path) -> dict[str, Agent]:
    """All agents by id."""
    return _folder(root / "pools/agents", Agent, "id")


def source_types(root: Path) -> dict[str, SourceType]:
    """All declared source types by id."""
    return _folder(root / "pools/sources", SourceType, "id")


def images(root: Path) -> dict[str, Image]:
    """The published images by variant; none where none was built yet."""
    found = {path.stem: read_json(Image, path) for path in sorted((root / "pools/images").glob("*.json"))}
    for name, image in found.items():
        if image.variant != name:
            raise DataError(image_path(root, name), "variant", f"must be {name!r}, the file's name")
    return found


def image_path(root: Path, variant: str) -> Path:
    """Where the image of a variant is published."""
    return root / f"pools/images/{variant}.json"


def limits(root: Path) -> MachineLimits | None:
    """What a machine may use; None where this checkout does not say so."""
    path = root / "pools/limits.toml"
    if not path.is_file():
        return None
    source, data = _toml(path)
    return read_model(MachineLimits, data, path, source)


def cycle_ids(root: Path) -> list[str]:
    """The cycles of this checkout, in order of their name."""
    folder = root / "pools/cycles"
    return sorted(path.parent.name for path in folder.glob("*/cycle.toml"))


def cycle(root: Path, cycle_id: str) -> Cycle:
    """One cycle, with every reference of it checked against the rest of pools/."""
    path = cycle_path(root, cycle_id)
    source, data = _toml(path)
    found = read_model(Cycle, data, path, source)
    problems = []
    if found.id != cycle_id:
        problems.append(DataError(path, "id", f"must be {cycle_id!r}, the folder's name", line_of(source, "id")))
    if found.edition not in editions(root):
        known = ", ".join(editions(root))
        problems.append(DataError(path, "edition", f"no such edition; one of {known}", line_of(source, "edition")))
    known_agents = agents(root)
    for agent in found.agents:
        if agent not in known_agents:
            problems.append(DataError(path, "agents", f"no pools/agents/{agent}.toml", line_of(source, "agents")))
    for field in ("agents", "purposes"):
        values = getattr(found, field)
        if len(set(values)) < len(values):
            problems.append(DataError(path, field, "names one of them twice", line_of(source, field)))
    if found.standard_agent not in found.agents:
        place = line_of(source, "standard_agent")
        problems.append(DataError(path, "standard_agent", "must be one of the cycle's agents", place))
    if problems:
        raise DataErrors(problems)
    return found


def subjects(root: Path, cycle_id: str) -> list[Subject]:
    """The public pool of a cycle, in the file's order; refuses duplicates under each type's own normal form."""
    path = cycle_path(root, cycle_id).with_name("public.toml")
    source, data = _toml(path)
    if set(data) != {"subject"}:
        extra = sorted(set(data) - {"subject"})
        raise DataError(
            path, extra[0] if extra else "subject", "a pool is a list of [[subject]] tables and nothing else"
        )
    found = _subject_list(path, source, data["subject"])
    types = source_types(root)
    # Only who states a size is measured by the edition's.
    heavy_kb = _heavy_kb(root, cycle_id) if any(subject.size_kb is not None for subject in found) else None
    problems: list[DataError] = []
    first: dict[str, int] = {}
    for number, subject in enumerate(found):
        field = f"subject.{number}.id"
        declared = types.get(subject.source_type)
        if declared is None:
            place = line_of(source, f"subject.{number}.source_type")
            known = ", ".join(types)
            problems.append(DataError(path, f"subject.{number}.source_type", f"not declared; one of {known}", place))
        elif subject.pin.kind not in declared.purl_types:
            wanted = ", ".join(declared.purl_types)
            problems.append(
                DataError(
                    path, field, f"{subject.source_type} takes pkg:{wanted}, not {subject.id}", line_of(source, field)
                )
            )
        problems += _own_facts(subject, heavy_kb, path, source, f"subject.{number}")
        if subject.project in first:
            other = first[subject.project]
            at = line_of(source, f"subject.{other}.id")
            where = f"line {at}" if at else f"subject.{other}"
            problems.append(DataError(path, field, f"the same project as in {where}", line_of(source, field)))
        else:
            first[subject.project] = number
    if problems:
        raise DataErrors(problems)
    return found


def plan(root: Path, cycle_id: str) -> Plan | None:
    """The committed plan of a cycle; None before it was planned."""
    path = plan_path(root, cycle_id)
    if not path.is_file():
        return None
    return _plan(path, path.stat().st_mtime_ns, path.stat().st_size)


def cycle_path(root: Path, cycle_id: str) -> Path:
    """Where a cycle is declared. Raises DataError where there is none."""
    path = root / "pools/cycles" / cycle_id / "cycle.toml"
    if not (root / "pools").is_dir():
        raise DataError(root / "pools", "", "no such folder; is --root a checkout of this project?")
    if "/" in cycle_id or not path.is_file():
        known = ", ".join(cycle_ids(root)) or "none"
        raise DataError(root / "pools/cycles", "", f"there is no cycle {cycle_id!r}; there are: {known}")
    return path


def plan_path(root: Path, cycle_id: str) -> Path:
    """Where the plan of a cycle is committed."""
    return root / "pools/cycles" / cycle_id / "plan.json"


@cache
def _plan(path: Path, changed: int, size: int) -> Plan:
    return read_json(Plan, path)


def read_json(model: type[M], path: Path) -> M:
    """The JSON file at `path` as a `model`; DataErrors name every wrong field."""
    from pydantic import ValidationError

    from archive.model import explain

    try:
        return model.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise DataErrors(explain(error, path)) from None


def _folder(folder: Path, model: type[M], key: str) -> dict[str, M]:
    if not folder.is_dir():
        raise DataError(folder, "", "no such folder; is --root a checkout of this project?")
    problems: list[DataError] = []
    found: dict[str, M] = {}
    for path in sorted(folder.glob("*.toml")):
        try:
            source, data = _toml(path)
            item = read_model(model, data, path, source)
        except DataErrors as error:
            problems += error.errors
            continue
        except DataError as error:
            problems.append(error)
            continue
        name = getattr(item, key)
        if name != path.stem:
            problems.append(DataError(path, key, f"must be {path.stem!r}, the file's name", line_of(source, key)))
        found[name] = item
    if problems:
        raise DataErrors(problems)
    return found


def _subject_list(path: Path, source: str, data: Any) -> list[Subject]:
    """All subjects at once where they are right; one by one, to name each mistake, where one is not."""
    if not isinstance(data, list):
        raise DataError(path, "subject", "write [[subject]], a list of tables", line_of(source, "subject"))
    try:
        return TypeAdapter(list[Subject]).validate_python(data, strict=True)
    except ValueError:
        found: list[Subject] = []
        problems: list[DataError] = []
        for number, item in enumerate(data):
            try:
                found.append(read_model(Subject, item, path, source, f"subject.{number}"))
            except DataErrors as error:
                problems += error.errors
        if problems:
            raise DataErrors(problems) from None
        return found


def _heavy_kb(root: Path, cycle_id: str) -> int | None:
    """The size above which a repository is heavy by the cycle's edition, in KB as GitHub states sizes."""
    edition = editions(root)[cycle(root, cycle_id).edition]
    return None if edition.heavy_repository_mb is None else edition.heavy_repository_mb * 1024


def _own_facts(subject: Subject, heavy_kb: int | None, path: Path, source: str, where: str) -> list[DataError]:
    """What a repository must say of itself (MEASUREMENT §5)."""

    def problem(field: str, words: str) -> DataError:
        return DataError(path, f"{where}.{field}", words, line_of(source, f"{where}.{field}"))

    found = []
    if subject.source_type == "repository" and subject.pin.kind == "generic" and not subject.pin.clone_url:
        words = "names no repository; write pkg:github/owner/name@commit, or pkg:generic with a vcs_url"
        found.append(problem("id", words))
    if subject.size_kb is not None and subject.pin.kind != "github":
        found.append(problem("size_kb", "is GitHub's own figure; leave it out for a subject from anywhere else"))
    elif heavy_kb is not None and (subject.size_kb or 0) > heavy_kb and subject.tier == "standard":
        words = f"a repository of {subject.size_kb} KB is above {heavy_kb} KB, so its tier is heavy"
        found.append(problem("tier", words))
    return found


def _toml(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        source = path.read_text("utf-8")
        return source, tomli.loads(source)
    except FileNotFoundError:
        raise DataError(path, "", "no such file") from None
    except UnicodeDecodeError as error:
        raise DataError(path, "", f"not UTF-8 at byte {error.start}") from None
    except tomli.TOMLDecodeError as error:
        raise DataError(path, "", f"no valid TOML: {error}") from None
