"""Arguments for a tool, made from its JSON schema: what is required, nothing more.

A schema comes from the server under test, so it is hostile: depth and sizes are bounded, nothing in it is trusted.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

MAX_DEPTH = 8
MAX_TEXT = 2_000
MAX_ITEMS = 20
_FAR = 1e15

FORMATS = {
    "date": "2026-01-02",
    "date-time": "2026-01-02T03:04:05Z",
    "time": "03:04:05Z",
    "duration": "P1D",
    "email": "someone@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
"""Values for `format`, from the ranges kept for documentation."""
NAMED = {
    "timezone": "UTC",
    "time_zone": "UTC",
    "tz": "UTC",
    "url": "https://example.com/",
    "uri": "https://example.com/",
    "path": ".",
    "directory": ".",
    "expression": "1+1",
    "language": "en",
    "date": "2026-01-02",
    "time": "12:00",
}
"""Values for a text whose name says what it is, where the schema says no more than that."""
_TRIED_FOR_PATTERN = (
    "hello",
    "a",
    "A",
    "1",
    "12",
    "12:00",
    "2026-01-02",
    "a1",
    "A1",
    "en",
    "UTC",
    "https://example.com/",
    "#000000",
)
_EXAMPLE = re.compile(
    r"(?:e\.g\.?|for example|such as|example):?,?\s*[('\"`]*(?:['\"`])([^'\"`\n]{1,100})['\"`]", re.IGNORECASE
)


class CannotFill(ValueError):
    """No value is known for a part of the schema; `path` says which."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path or 'the arguments'}: {why}")
        self.path = path


def arguments_for(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The smallest arguments that the schema takes. Raises CannotFill."""
    value = _value(schema, schema, "", 0) if schema else {}
    if not isinstance(value, dict):
        raise CannotFill("", "the schema is not one of an object")
    return value


def _value(schema: Any, root: Mapping[str, Any], path: str, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise CannotFill(path, "nested too deeply")
    if not isinstance(schema, Mapping):
        return "hello"
    schema = _resolved(schema, root, path)
    for key in ("const", "default"):
        if schema.get(key) is not None:
            return schema[key]
    for key in ("examples", "enum"):
        if isinstance(schema.get(key), list) and schema[key]:
            return schema[key][0]
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return _first_that_fills(schema, schema[key], root, path, depth)
    kind = _kind(schema)
    if kind == "object":
        return _object(schema, root, path, depth)
    if kind == "array":
        count = _bound(schema, "minItems", 0)
        if count > MAX_ITEMS:
            raise CannotFill(path, f"wants {count} items")
        return [_value(schema.get("items", {}), root, f"{path}[{at}]", depth + 1) for at in range(count)]
    if kind in {"integer", "number"}:
        return _number(schema, path, whole=kind == "integer")
    if kind in {"boolean", "null"}:
        return False if kind == "boolean" else None
    return _text(schema, path)


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """References within the document followed, `allOf` merged in."""
    for _ in range(MAX_DEPTH):
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            break
        target: Any = root
        for part in reference.removeprefix("#/").split("/"):
            target = target.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(target, Mapping) else None
        if not reference.startswith("#/") or not isinstance(target, Mapping):
            raise CannotFill(path, "refers to a schema that is not there")
        schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    parts = schema.get("allOf")
    if isinstance(parts, list) and parts:
        merged: dict[str, Any] = {key: value for key, value in schema.items() if key != "allOf"}
        for part in parts[:MAX_ITEMS]:
            if isinstance(part, Mapping):
                merged |= _resolved({key: value for key, value in part.items() if key != "allOf"}, root, path)
        schema = merged
    return schema


def _first_that_fills(
    schema: Mapping[str, Any], choices: list[Any], root: Mapping[str, Any], path: str, depth: int
) -> Any:
    rest = {key: value for key, value in schema.items() if key not in {"anyOf", "oneOf"}}
    usable = [choice for choice in choices[:MAX_ITEMS] if isinstance(choice, Mapping) and choice.get("type") != "null"]
    refusal = CannotFill(path, "no choice can be filled")
    for choice in usable:
        try:
            return _value({**rest, **choice}, root, path, depth + 1)
        except CannotFill as error:
            refusal = error
    raise refusal


def _kind(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "null")
    if isinstance(kind, str):
        return kind
    return "object" if "properties" in schema or "required" in schema else "array" if "items" in schema else "string"


def _object(schema: Mapping[str, Any], root: Mapping[str, Any], path: str, depth: int) -> dict[str, Any]:
    properties, required = schema.get("properties"), schema.get("required")
    known = properties if isinstance(properties, Mapping) else {}
    names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    return {
        name: _value(known.get(name, {}), root, f"{path}.{name}".lstrip("."), depth + 1) for name in names[:MAX_ITEMS]
    }


def _bound(schema: Mapping[str, Any], key: str, otherwise: int) -> int:
    value = schema.get(key)
    return value if type(value) is int and value >= 0 else otherwise


def _number(schema: Mapping[str, Any], path: str, whole: bool) -> float:
    """1 where it fits, else the nearest end of the range, on the grid of `multipleOf`."""
    low, high = (
        _limit(schema, "minimum", "exclusiveMinimum", -math.inf),
        _limit(schema, "maximum", "exclusiveMaximum", math.inf),
    )
    step = _limit(schema, "multipleOf", "", 0) or (1 if whole else 0)
    for value in (1, low, high, low + (step or 1), high - (step or 1), (low + high) / 2):
        if not math.isfinite(value):
            continue
        near = math.ceil(value / step) * step if step > 0 else value
        if low <= near <= high and near not in (schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")):
            return int(near) if whole else near
    raise CannotFill(path, "no number fits its range")


def _limit(schema: Mapping[str, Any], key: str, exclusive: str, otherwise: float) -> float:
    found = [schema.get(key), schema.get(exclusive)]
    values = [value for value in found if isinstance(value, int | float) and abs(value) < _FAR]
    return otherwise if not values else max(values) if key == "minimum" else min(values)


def _text(schema: Mapping[str, Any], path: str) -> str:
    name = re.sub(r"\[\d+\]$", "", path).rpartition(".")[2].lower()
    named = NAMED.get(name) or NAMED.get(name.rpartition("_")[2])
    example = _EXAMPLE.search(str(schema.get("description", ""))[:MAX_TEXT])
    value = FORMATS.get(str(schema.get("format"))) or (example[1] if example else None) or named or "hello"
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        value = _matching(pattern, (value, *_TRIED_FOR_PATTERN), path)
    short, long = _bound(schema, "minLength", 0), _bound(schema, "maxLength", MAX_TEXT)
    if short > MAX_TEXT:
        raise CannotFill(path, f"wants {short} characters")
    return value.ljust(short, "x")[:long]


def _matching(pattern: str, candidates: tuple[str, ...], path: str) -> str:
    """The first candidate that matches. Only short texts are tried, so that no pattern can take long over one."""
    try:
        expression = re.compile(pattern[:200])
    except (re.error, RecursionError, OverflowError):
        raise CannotFill(path, "its pattern is not one that Python reads") from None
    for candidate in candidates:
        if len(candidate) <= 24 and expression.search(candidate):
            return candidate
    raise CannotFill(path, "no known value matches its pattern")
