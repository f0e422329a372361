"""What the agent says it did (MEASUREMENT §6), read strictly: the text comes out of an untrusted machine."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationError, field_validator

from archive.errors import ArgusicError
from archive.model import Model, explain

MAX_BYTES = 262_144
Depth = Literal["tier1_real", "tier2_mock", "tier3_none"]
Text = Annotated[str, StringConstraints(max_length=500)]
Count = Annotated[int, Field(ge=0, le=1_000_000)]


class ReportedError(Model):
    """One error on the agent's way."""

    what: Text
    fix: Text | None
    fixed: bool
    at_seconds: Count | None
    """Seconds since the agent's start; a claim."""


class VerifiedHow(Model):
    """How the agent verified its own output."""

    command: Annotated[str, StringConstraints(min_length=1, max_length=4000)]
    returned: Annotated[str, StringConstraints(max_length=8000)]


class Report(Model):
    """report.json as the agent wrote it."""

    schema_version: Literal[1]
    installed: bool
    launched: bool
    """Started, or its tests ran."""
    errors_encountered: Count
    errors_fixed: Count
    """Validly fixed; more than encountered makes the attempt invalid."""
    errors: tuple[ReportedError, ...] = Field(max_length=200)
    test_depth: Depth
    verified_how: VerifiedHow | Literal["not verified"]
    final_state: Annotated[str, StringConstraints(max_length=2000)]
    """The agent's own closing sentence, published verbatim."""
    install_seconds: Count | None
    """A claim, not a measurement."""

    @field_validator("schema_version", mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        if isinstance(value, bool | float):
            raise ValueError("Input should be 1")
        return value

    @property
    def contradictory(self) -> bool:
        """More fixes than errors (MEASUREMENT §7)."""
        return self.errors_fixed > self.errors_encountered


class ReportRefused(ArgusicError):
    """The bytes are no readable report; the message names the field."""


def read_report(data: bytes) -> Report:
    """`data` as a report, or `ReportRefused`. A contradictory report is readable: it is judged, not refused."""
    if len(data) > MAX_BYTES:
        raise ReportRefused(f"report: {len(data)} bytes; at most {MAX_BYTES} are read")
    try:
        json.loads(data.decode("utf-8"), object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
        return Report.model_validate_json(data)
    except ValidationError as error:
        raise ReportRefused(
            "; ".join(f"{e.field or 'report'}: {e.problem}" for e in explain(error, "report.json"))[:2000]
        ) from None
    except (ValueError, RecursionError) as error:
        raise ReportRefused(f"report: {str(error)[:500]}") from None


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen:
            raise ValueError(f"{json.dumps(key[:80])}: written twice")
        seen[key] = value
    return seen


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")
