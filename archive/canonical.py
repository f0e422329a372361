"""The one way a document is written: sorted keys, UTF-8, whole numbers only, a newline at the end."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from pydantic import BaseModel


def canonical(value: Any) -> bytes:
    """`value` (JSON types or a model) in canonical form for a file of its own.

    Raises ValueError where a float is inside: numbers here are whole and name their unit.
    """
    return (json.dumps(_plain(value), ensure_ascii=False, sort_keys=True, indent=2, allow_nan=False) + "\n").encode()


def canonical_line(value: Any) -> bytes:
    """`value` in canonical form as one line of a JSON Lines file."""
    text = json.dumps(_plain(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return (text + "\n").encode()


def digest(data: bytes) -> str:
    """`sha256:` and the hexadecimal digest of `data`."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


def _plain(value: Any) -> Any:
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    _refuse_floats(plain, "")
    return plain


def _refuse_floats(value: Any, path: str) -> None:
    if isinstance(value, float):
        raise ValueError(
            f"{path.lstrip('.') or 'value'}: a float has no canonical form; use a whole number with its unit"
        )
    if isinstance(value, dict):
        for key, item in value.items():
            _refuse_floats(item, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _refuse_floats(item, f"{path}.{index}")
