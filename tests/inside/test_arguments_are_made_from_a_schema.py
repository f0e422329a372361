"""A tool is called with the least that its schema takes; a tool that could do harm is never called."""

from __future__ import annotations

import time
from typing import Any

import pytest

from runner.inside.mcp_arguments import CannotFill, arguments_for
from runner.inside.mcp_choice import Call, Tool, calls, looks_harmful


def one(schema: Any, **root: Any) -> Any:
    return arguments_for({"type": "object", "properties": {"x": schema}, "required": ["x"], **root})["x"]


def test_only_what_is_required_is_given() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["b"]}
    assert arguments_for(schema) == {"b": 1}
    assert arguments_for({}) == {}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"const": 7}, 7),
        ({"default": "d", "enum": ["a"]}, "d"),
        ({"examples": ["e"], "type": "string"}, "e"),
        ({"enum": ["a", "b"]}, "a"),
        ({"type": "boolean"}, False),
        ({"type": "null"}, None),
        ({"type": ["null", "integer"]}, 1),
        ({"type": "integer", "minimum": 5}, 5),
        ({"type": "integer", "exclusiveMinimum": 5}, 6),
        ({"type": "integer", "maximum": -3}, -3),
        ({"type": "integer", "minimum": 10, "multipleOf": 4}, 12),
        ({"type": "number", "minimum": 0.2, "maximum": 0.5}, 0.2),
        ({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, 0.5),
        ({"type": "array", "items": {"type": "integer"}}, []),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [1, 1]),
        ({"type": "object"}, {}),
        ({"properties": {"y": {"type": "boolean"}}, "required": ["y"]}, {"y": False}),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, 1),
        ({"oneOf": [{"type": "string", "pattern": "^\\d{40}$"}, {"type": "boolean"}]}, False),
        ({"allOf": [{"type": "integer"}, {"minimum": 9}]}, 9),
        ({"type": "string"}, "hello"),
        ({"type": "string", "minLength": 7}, "helloxx"),
        ({"type": "string", "maxLength": 2}, "he"),
        ({"type": "string", "format": "date"}, "2026-01-02"),
        ({"type": "string", "format": "uri"}, "https://example.com/"),
        ({"type": "string", "pattern": "^[0-9]+$"}, "1"),
        ({"type": "string", "pattern": "^\\d{2}:\\d{2}$"}, "12:00"),
        ({"type": "string", "description": "IANA name (e.g., 'Asia/Seoul', 'UTC')"}, "Asia/Seoul"),
        ({"type": "string", "description": 'for example "two words"'}, "two words"),
        (True, "hello"),
    ],
)
def test_the_least_value_of_each_kind(schema: Any, value: Any) -> None:
    made = one(schema)
    assert (made, type(made)) == (value, type(value))


@pytest.mark.parametrize(("name", "value"), [("timezone", "UTC"), ("repo_path", "."), ("url", "https://example.com/")])
def test_a_text_whose_name_says_what_it_is(name: str, value: str) -> None:
    assert arguments_for({"properties": {name: {"type": "string"}}, "required": [name]}) == {name: value}


def test_a_reference_within_the_schema_is_followed() -> None:
    assert one({"$ref": "#/$defs/n"}, **{"$defs": {"n": {"type": "integer", "minimum": 3}}}) == 3


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/none"},
        {"$ref": "https://example.com/schema"},
        {"type": "string", "pattern": "^\\d{40}$"},
        {"type": "string", "pattern": "("},
        {"type": "string", "minLength": 10**9},
        {"type": "array", "items": {}, "minItems": 10**9},
        {"type": "integer", "minimum": 5, "maximum": 4},
        {"anyOf": [{"type": "string", "pattern": "^\\d{40}$"}]},
    ],
)
def test_what_cannot_be_filled_says_where(schema: Any) -> None:
    with pytest.raises(CannotFill) as refusal:
        one(schema)
    assert refusal.value.path == "x"


def test_a_schema_that_refers_to_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}, "required": ["next"]}
    with pytest.raises(CannotFill):
        one({"$ref": "#/$defs/node"}, **{"$defs": {"node": node}})


@pytest.mark.parametrize(
    ("schema", "made"),
    [
        ({"type": 5}, str),
        ({"type": []}, type(None)),
        ({"enum": "x"}, str),
        ({"anyOf": 3}, str),
        ({"minimum": "a", "type": "integer"}, int),
        ({"properties": [1]}, dict),
        (4, str),
    ],
)
def test_what_is_malformed_in_a_schema_is_as_if_it_were_not_there(schema: Any, made: type) -> None:
    assert isinstance(one(schema), made)


def test_a_slow_pattern_is_not_given_the_chance() -> None:
    began = time.monotonic()
    with pytest.raises(CannotFill):
        one({"type": "string", "pattern": "^(a+)+$", "default": None, "minLength": 10**9})
    with pytest.raises(CannotFill):
        one({"type": "string", "pattern": "^(([a-z0-9]+)+)+!$"})
    assert time.monotonic() - began < 10


def test_tools_that_read_come_before_those_that_change_and_fewer_arguments_first() -> None:
    needs = {"properties": {"q": {"type": "string"}}, "required": ["q"]}
    tools = [
        Tool("create_note", needs),
        Tool("frobnicate"),
        Tool("search_notes", needs),
        Tool("list_notes"),
        Tool("anything", needs, reads=True),
    ]
    found = [call.tool for call in calls(tools, 5)]
    assert found == ["anything", "list_notes", "search_notes", "frobnicate", "create_note"]
    assert calls(tools, 1) == [Call("anything", {"q": "hello"})]


@pytest.mark.parametrize(
    "tool",
    [
        Tool("delete_entities"),
        Tool("dropTable"),
        Tool("send-message"),
        Tool("wipe", reads=True),
        Tool("notes", destroys=True),
        Tool("printEnv"),
        Tool("get_api_key"),
    ],
)
def test_a_tool_that_could_do_harm_is_never_called(tool: Tool) -> None:
    assert looks_harmful(tool)
    assert calls([tool], 5) == []


def test_a_tool_that_cannot_be_filled_is_passed_over() -> None:
    hard = Tool("get_a", {"properties": {"q": {"type": "string", "pattern": "^\\d{40}$"}}, "required": ["q"]})
    assert calls([hard, Tool("frobnicate")], 5) == [Call("frobnicate", {})]
