"""The base of every persisted document: frozen, strict, unknown fields refused."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, ValidationError

from archive.errors import DataError, DataErrors


def _on_the_calendar(value: str) -> str:
    date.fromisoformat(value)
    return value


Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]{0,62}[a-z0-9])?$")]
Digest = Annotated[str, StringConstraints(pattern=r"^sha256:[0-9a-f]{64}$")]
Commitment = Annotated[str, StringConstraints(pattern=r"^hmac-sha256:[0-9a-f]{64}$")]
Day = Annotated[
    str, StringConstraints(pattern=r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$"), AfterValidator(_on_the_calendar)
]
Instant = Annotated[str, StringConstraints(pattern=r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T\d{2}:\d{2}:\d{2}Z$")]


class Model(BaseModel):
    """A contract on disk. Strict: "1" is no number, true is no number, a missing field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, use_attribute_docstrings=True)


M = TypeVar("M", bound=BaseModel)


def read_model(model: type[M], data: Any, file: Path | str, source: str = "", at: str = "") -> M:
    """`data` (decoded TOML) as a `model`.

    Every wrong field raises, together, as `DataErrors` that name `file`, field and, found in `source`, the line.
    Validation goes through JSON so that TOML and JSON files are held to the same strictness.
    """
    try:
        return model.model_validate_json(json.dumps(data, default=lambda value: value.isoformat()))
    except ValidationError as error:
        raise DataErrors(explain(error, file, source, at)) from None


def explain(error: ValidationError, file: Path | str, source: str = "", at: str = "") -> list[DataError]:
    """One `DataError` for each problem that pydantic found; `at` is the path of the object inside the file."""
    found = []
    for problem in error.errors(include_url=False):
        path = [part for part in problem["loc"] if not str(part).startswith("function-")]
        field = ".".join(str(part) for part in ([at] if at else []) + path)
        message = {
            "extra_forbidden": "unknown key; remove it or correct its spelling",
            "missing": "missing; this key is required",
        }.get(problem["type"], problem["msg"].removeprefix("Value error, "))
        shown = problem.get("input")
        if problem["type"] not in ("extra_forbidden", "missing") and isinstance(shown, str | int | float | bool):
            message += f", not {json.dumps(shown)[:120]}"
        found.append(DataError(file, field, message, line_of(source, field)))
    return found


def line_of(source: str, field: str) -> int | None:
    """The 1-based line of a TOML `field` such as "subject.3.id" in `source`, where it can be found by its spelling."""
    lines = source.splitlines()
    start = 0
    for table, index in re.findall(r"(?:^|\.)([A-Za-z_-]+)\.(\d+)(?=\.|$)", field):
        heads = [n for n, text in enumerate(lines) if text.strip() == f"[[{table}]]"]
        if int(index) < len(heads):
            start = heads[int(index)]
    key = field.rsplit(".", 1)[-1]
    for number in range(start, len(lines)):
        text = lines[number].strip()
        if number > start and text.startswith("[[") and start:
            break
        if re.match(rf"(?:[\w.-]+\.)?[\"']?{re.escape(key)}[\"']?\s*=|\[+(?:[\w.-]+\.)?{re.escape(key)}\]+", text):
            return number + 1
    return start + 1 if start else None
