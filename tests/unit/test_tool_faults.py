"""What is wrong with a tool call: no JSON, no such tool, or arguments that its schema forbids."""

from typing import Any

import pytest

from locust_agents.answers import tool_schema
from locust_agents.answers.tool_calls import ToolCall, checked
from locust_agents.prompts import tools

EDIT = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "line": {"type": "integer"},
        "mode": {"enum": ["insert", "replace"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "note": {"type": ["string", "null"]},
    },
    "required": ["path"],
    "additionalProperties": False,
}
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "edit", "parameters": EDIT}},
    {"type": "function", "function": {"name": "wait"}},
]


def call(name: str, arguments: str) -> ToolCall:
    return ToolCall("c", name, arguments)


@pytest.mark.parametrize(
    ("made", "faults", "remark"),
    [
        (call("edit", '{"path": "a"}'), {}, "a good call"),
        (call("wait", ""), {}, "no arguments, and none are wanted"),
        (call("wait", '{"x": 1}'), {}, "a tool without a schema takes any object"),
        (call("edit", '{"path": '), {"not_json": 1}, "half of its arguments"),
        (call("edit", '{"path": "a"}}'), {"not_json": 1}, "one brace too many"),
        (call("edit", "[" * 200_000), {"not_json": 1}, "nested so deep that the parser gives up"),
        (call("edit", '{"line": NaN}'), {"not_json": 1}, "Python's own words are no JSON"),
        (call("patch", '{"path": "a"}'), {"unknown_tool": 1}, "a tool that was not offered"),
        (call("", '{"path": "a"}'), {"unknown_tool": 1}, "without a name"),
        (call("Edit", '{"path": "a"}'), {"unknown_tool": 1}, "names are exact"),
        (call("patch", "{"), {"not_json": 1}, "both: the arguments come first"),
        (call("edit", ""), {"broken_schema": 1}, "a required argument is missing"),
        (call("edit", "[]"), {"broken_schema": 1}, "JSON, but no object"),
        (call("wait", '"{}"'), {"broken_schema": 1}, "arguments that were encoded twice"),
        (call("edit", '{"path": 5}'), {"broken_schema": 1}, "a wrong type"),
        (call("edit", '{"path": "a", "where": "b"}'), {"broken_schema": 1}, "an argument that it does not know"),
    ],
)
def test_faults(made: ToolCall, faults: dict[str, int], remark: str) -> None:
    assert checked([made], TOOLS) == faults, remark
    assert not (made.is_bad and not faults), remark


def test_each_call_counts_once_and_kinds_that_did_not_happen_are_absent() -> None:
    calls = [call("edit", "{"), call("patch", "{}"), call("edit", "{"), call("edit", '{"path": "a"}')]
    assert checked(calls, TOOLS) == {"not_json": 2, "unknown_tool": 1}
    assert checked([], TOOLS) == {}


def test_without_tools_every_call_is_of_an_unknown_one() -> None:
    assert checked([call("edit", "{}")], []) == {"unknown_tool": 1}


def test_the_tools_that_runs_send() -> None:
    sent = tools.build(["read", "bash"], 2000, "")
    assert checked([call("read", '{"filePath": "src/app.py"}')], sent) == {}
    assert checked([call("bash", '{"command": "ls"}')], sent) == {"broken_schema": 1}


@pytest.mark.parametrize(
    ("schema", "value", "is_allowed", "remark"),
    [
        ({"type": "integer"}, 5, True, "a whole number"),
        ({"type": "integer"}, 5.0, True, "which JSON may write with a point"),
        ({"type": "integer"}, 5.5, False, "but not one between"),
        ({"type": "integer"}, True, False, "in Python alone true is 1"),
        ({"type": "number"}, False, False, "or 0"),
        ({"type": "boolean"}, False, True, "false is a boolean"),
        ({"type": "number"}, 5, True, "a whole number is a number"),
        ({"type": "number"}, "5", False, "digits in quotes are none"),
        ({"type": ["string", "null"]}, None, True, "one of two types"),
        ({"type": ["string", "null"]}, 5, False, "neither"),
        ({"type": "date"}, 5, True, "a type that JSON Schema does not have forbids nothing"),
        ({"enum": ["a", "b"]}, "a", True, "one of the words"),
        ({"enum": ["a", "b"]}, "c", False, "none of them"),
        ({"type": "array", "items": {"type": "string"}}, ["a", 5], False, "every item is looked at"),
        ({"type": "array"}, ["a", 5], True, "items without a schema"),
        ({"type": "object", "properties": {"a": {"required": ["b"]}}}, {"a": {}}, False, "a part of a part"),
        ({"properties": {"a": {"type": "string"}}}, {"b": 5}, True, "what it does not name is allowed"),
        ({"properties": {}, "additionalProperties": {"type": "string"}}, {"b": 5}, True, "not judged"),
        ({"anyOf": [{"type": "string"}]}, 5, True, "not judged"),
        (True, 5, True, "the schema that allows everything"),
        ({}, 5, True, "another one"),
    ],
)
def test_schemas(schema: Any, value: Any, is_allowed: bool, remark: str) -> None:
    assert tool_schema.allows(schema, value) is is_allowed, remark
