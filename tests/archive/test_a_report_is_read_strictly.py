"""report.json comes out of an untrusted machine: one reading, or none and the reason (MEASUREMENT §6)."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive.report import MAX_BYTES, Report, ReportRefused, read_report

FINE: dict[str, Any] = {
    "schema_version": 1,
    "installed": True,
    "launched": True,
    "errors_encountered": 2,
    "errors_fixed": 1,
    "errors": [{"what": "no module", "fix": "installed it", "fixed": True, "at_seconds": 12}],
    "test_depth": "tier1_real",
    "verified_how": {"command": "python -c 'import x'", "returned": "exit 0"},
    "final_state": "It ran.",
    "install_seconds": None,
}


def report(**changes: Any) -> bytes:
    return json.dumps(FINE | changes).encode()


def refused(data: bytes) -> str:
    with pytest.raises(ReportRefused) as caught:
        read_report(data)
    return str(caught.value)


def test_a_right_report_is_read() -> None:
    found = read_report(report())
    assert (found.errors_encountered, found.errors[0].at_seconds, found.contradictory) == (2, 12, False)


def test_not_verified_is_an_accepted_answer() -> None:
    assert read_report(report(verified_how="not verified")).verified_how == "not verified"


def test_space_around_the_object_is_no_mistake() -> None:
    assert read_report(b" \r\n\t" + report() + b"\n\n") == read_report(report())


@pytest.mark.parametrize("field", list(FINE))
def test_every_key_is_required(field: str) -> None:
    data = {key: value for key, value in FINE.items() if key != field}
    assert refused(json.dumps(data).encode()).startswith(f"{field}: missing")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schema_version", 2),
        ("schema_version", True),
        ("schema_version", "1"),
        ("installed", 1),
        ("installed", "true"),
        ("installed", None),
        ("launched", 0),
        ("errors_encountered", True),
        ("errors_encountered", "1"),
        ("errors_encountered", [1]),
        ("errors_encountered", 1.0),
        ("errors_encountered", 1e2),
        ("errors_encountered", -5),
        ("errors_encountered", 1_000_001),
        ("errors_encountered", 10**300),
        ("errors_fixed", None),
        ("test_depth", "tier4"),
        ("test_depth", "TIER1_REAL"),
        ("final_state", 5),
        ("final_state", "a" * 2001),
        ("install_seconds", 1.5),
        ("verified_how", "verified"),
        ("verified_how", {"command": "", "returned": ""}),
        ("verified_how", {"command": "x"}),
        ("verified_how", {"command": "x" * 4001, "returned": ""}),
        ("errors", {}),
        ("errors", [{"what": "x", "fix": None, "fixed": 1, "at_seconds": None}]),
        ("errors", [{"what": "x" * 501, "fix": None, "fixed": False, "at_seconds": None}]),
        ("errors", [{"what": "x", "fix": None, "fixed": False, "at_seconds": None}] * 201),
        ("reward", 1),
    ],
)
def test_a_wrong_value_is_refused_with_its_field(field: str, value: Any) -> None:
    assert refused(report(**{field: value})).startswith(field)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e309", "01", "+1", "0x1", "1" * 5000])
def test_what_is_no_json_number_or_no_count_is_refused(number: str) -> None:
    assert refused(report().replace(b'"errors_encountered": 2', f'"errors_encountered": {number}'.encode()))


def test_a_key_written_twice_is_refused_even_where_both_agree() -> None:
    twice = report().replace(b'"installed": true', b'"installed": true, "installed": true')
    assert refused(twice) == 'report: "installed": written twice'
    assert '"fixed": written twice' in refused(report().replace(b'"fixed": true', b'"fixed": true, "fixed": false'))


@pytest.mark.parametrize("data", [b"", b"null", b"true", b"[]", b'"text"', b"1", b"{", b"{}x", b"\x00", b"not json"])
def test_what_is_no_object_is_refused(data: bytes) -> None:
    assert refused(data)


@pytest.mark.parametrize(
    "data", [b"\xff\xfe", b'{"a": "\xff"}', b'{"a": "\xed\xa0\x80"}', report().decode().encode("utf-16")]
)
def test_what_is_no_utf8_is_refused(data: bytes) -> None:
    assert "codec can't decode" in refused(data)


def test_a_byte_order_mark_is_refused() -> None:
    assert "BOM" in refused(b"\xef\xbb\xbf" + report())


@pytest.mark.parametrize("half", ["\\ud800", "\\udfff", "\\ud800x", "\\udc00\\ud800"])
def test_half_a_surrogate_pair_is_refused(half: str) -> None:
    assert refused(report(final_state="@").replace(b'"@"', f'"{half}"'.encode()))


def test_a_whole_surrogate_pair_is_one_character() -> None:
    assert read_report(report(final_state="@").replace(b'"@"', b'"\\ud83d\\ude00"')).final_state == "\U0001f600"


@pytest.mark.parametrize("open_", [b"[", b'{"a":'])
def test_deep_nesting_is_refused_and_not_followed(open_: bytes) -> None:
    assert refused(open_ * (MAX_BYTES // len(open_)))


def test_one_byte_too_many_is_refused_unread() -> None:
    padded = report().ljust(MAX_BYTES)
    assert read_report(padded) == read_report(report())
    assert refused(padded + b" ") == f"report: {MAX_BYTES + 1} bytes; at most {MAX_BYTES} are read"


def test_as_many_keys_as_fit_do_not_hold_the_harness_up() -> None:
    data = b"{" + b",".join(b'"%d":1' % number for number in range(26_000)) + b"}"
    before = time.process_time()
    refused(data)
    assert time.process_time() - before < 5, "comparing every key with every other takes 18 s"


def test_a_refusal_stays_short_whatever_was_written() -> None:
    assert len(refused(report(final_state="x" * 200_000))) < 2100
    assert len(refused(b"{" + b'"k":1,' * 10_000 + b'"k":1}')) < 2100
    assert len(refused(b'{"' + b"k" * 100_000 + b'":1,"' + b"k" * 100_000 + b'":1}')) < 2100


def test_more_fixes_than_errors_is_readable_and_contradictory() -> None:
    assert read_report(report(errors_encountered=1, errors_fixed=2)).contradictory
    assert not read_report(report(errors_encountered=1, errors_fixed=1)).contradictory
    assert not read_report(report(errors_encountered=0, errors_fixed=0)).contradictory


@given(st.binary(max_size=200))
def test_bytes_by_chance_are_refused_in_words(data: bytes) -> None:
    assert refused(data).startswith("report")


@given(
    st.fixed_dictionaries(
        {
            "installed": st.booleans(),
            "launched": st.booleans(),
            "errors_encountered": st.integers(0, 1_000_000),
            "errors_fixed": st.integers(0, 1_000_000),
            "test_depth": st.sampled_from(["tier1_real", "tier2_mock", "tier3_none"]),
            "final_state": st.text(st.characters(exclude_categories=["Cs"]), max_size=300),
            "install_seconds": st.none() | st.integers(0, 1_000_000),
        }
    )
)
def test_a_report_written_again_is_the_same_report(changes: dict[str, Any]) -> None:
    found = read_report(report(**changes))
    assert read_report(found.model_dump_json().encode()) == found
    assert isinstance(found, Report)
    assert found.final_state == changes["final_state"]
