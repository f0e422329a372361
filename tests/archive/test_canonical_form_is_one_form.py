"""The same document always has the same bytes, so the same digest."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive.canonical import canonical, canonical_line, digest

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


def test_keys_are_sorted_and_a_newline_ends_the_file() -> None:
    assert canonical({"b": 1, "a": [True, None]}) == b'{\n  "a": [\n    true,\n    null\n  ],\n  "b": 1\n}\n'
    assert canonical_line({"b": 1, "a": [True, None]}) == b'{"a":[true,null],"b":1}\n'


def test_text_is_utf8_and_not_escaped() -> None:
    assert canonical_line("đã chạy 실행됨") == '"đã chạy 실행됨"\n'.encode()


@pytest.mark.parametrize("value", [1.0, 0.5, float("nan"), float("inf")])
@pytest.mark.parametrize("write", [canonical, canonical_line])
def test_a_float_is_refused_wherever_it_stands(write: Any, value: float) -> None:
    for document, place in ((value, "value"), ({"a": {"b": value}}, "a.b"), ([0, [value]], "1.0"), ((value,), "0")):
        with pytest.raises(ValueError, match=rf"^{place}: a float has no canonical form"):
            write(document)


def test_a_lone_surrogate_has_no_bytes() -> None:
    with pytest.raises(ValueError, match="surrogates not allowed"):
        canonical("\ud800")


@given(JSON)
def test_what_is_written_is_read_back_and_written_the_same(value: Any) -> None:
    for write in (canonical, canonical_line):
        data = write(value)
        assert json.loads(data) == value
        assert write(json.loads(data)) == data
        assert data.endswith(b"\n")


@given(JSON)
def test_a_line_is_one_line(value: Any) -> None:
    assert canonical_line(value).count(b"\n") == 1


@given(st.dictionaries(TEXT, st.integers(), min_size=2, max_size=6))
def test_the_order_of_keys_changes_nothing(value: dict[str, int]) -> None:
    assert canonical(dict(reversed(value.items()))) == canonical(value)


def test_a_digest_names_its_algorithm() -> None:
    assert digest(b"") == "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert digest(b"x") == "sha256:" + hashlib.sha256(b"x").hexdigest()
