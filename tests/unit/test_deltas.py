"""What one payload says: the dialects of several servers, and every form that is none."""

import json
from typing import Any

import pytest

from locust_agents.answers import deltas
from locust_agents.answers.deltas import Delta, ToolDelta, Usage
from locust_agents.errors import ProtocolError


def payload(delta: Any = None, **choice: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, **choice}]}


def calls(*calls: Any) -> dict[str, Any]:
    return payload({"tool_calls": list(calls)})


@pytest.mark.parametrize(
    ("said", "wanted", "remark"),
    [
        (
            payload({"role": "assistant", "content": "a"}, finish_reason=None),
            Delta(content="a"),
            "mlx_lm: role in each",
        ),
        (payload({"role": "assistant"}), Delta(), "role only"),
        (payload({"role": "assistant", "content": ""}), Delta(), "empty content"),
        (payload({"content": None}), Delta(), "null content"),
        (payload({}), Delta(), "empty delta"),
        (payload(None), Delta(), "null delta"),
        (payload(text="a"), Delta(content="a"), "a text completion"),
        (payload({"reasoning": "a"}), Delta(reasoning="a"), "mlx_lm"),
        (payload({"reasoning_content": "a"}), Delta(reasoning="a"), "most others"),
        (payload({"reasoning": "a", "reasoning_content": "a"}), Delta(reasoning="a"), "both names are said once"),
        (payload({"reasoning": None, "reasoning_content": "a"}), Delta(reasoning="a"), "one of both is null"),
        (payload({}, finish_reason="stop"), Delta(finish_reason="stop"), "the end"),
        (payload({"content": "a"}, finish_reason=""), Delta(content="a"), "an empty reason is none"),
        ({"choices": []}, Delta(), "no choice, as a gateway's first event has it"),
        ({"error": "full"}, Delta(error="full"), "an error as text"),
        ({"error": {"message": "full", "code": 5}}, Delta(error="full"), "an error with a message"),
        ({"error": {"code": 5}}, Delta(error='{"code": 5}'), "an error without one"),
        ({"error": "a\n  b\n"}, Delta(error="a b"), "its words are one line"),
        ({"error": " "}, Delta(error="an error without words"), "there is always something to read"),
        ({"error": None, **payload({"content": "a"})}, Delta(content="a"), "a null error is none"),
    ],
)
def test_what_a_payload_says(said: dict[str, Any], wanted: Delta, remark: str) -> None:
    assert deltas.parse(json.dumps(said)) == wanted, remark
    assert deltas.parse(json.dumps(said, indent=1).encode()) == wanted, remark


@pytest.mark.parametrize(
    ("call", "wanted", "remark"),
    [
        (
            {"index": 1, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            (ToolDelta(1, "c", "f", "{}"),),
            "a whole call",
        ),
        ({"index": 0, "function": {"arguments": '{"a'}}, (ToolDelta(0, "", "", '{"a'),), "a piece of its arguments"),
        ({"id": "c", "function": {"name": "f"}}, (ToolDelta(0, "c", "f", ""),), "no index: its place"),
        ({"index": None, "id": "c"}, (ToolDelta(0, "c", "", ""),), "a null index too"),
        ({"function": {"name": "f", "arguments": {"a": 1}}}, (ToolDelta(0, "", "f", '{"a": 1}'),), "an object"),
        ({"index": 0, "function": {"arguments": ""}}, (), "nothing new is no token"),
        ({"index": 0, "id": None, "function": None}, (), "nulls"),
    ],
)
def test_tool_calls(call: dict[str, Any], wanted: tuple[ToolDelta, ...], remark: str) -> None:
    assert deltas.parse(json.dumps(calls(call))).tool_calls == wanted, remark


def test_calls_without_an_index_stand_in_their_order() -> None:
    both = deltas.parse(json.dumps(calls({"id": "a"}, {"id": "b"}))).tool_calls
    assert [call.index for call in both] == [0, 1]


@pytest.mark.parametrize(
    ("usage", "wanted", "remark"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 2}, Usage(3, None, 2), "unknown is None, never 0"),
        ({"prompt_tokens": 3, "prompt_tokens_details": {"cached_tokens": 0}}, Usage(3, 0, None), "0 is known"),
        ({"prompt_tokens": 3, "prompt_tokens_details": None, "cached_tokens": 2}, Usage(3, 2, None), "beside it"),
        ({"prompt_tokens_details": {"cached_tokens": None}}, Usage(None, None, None), "null"),
        ({"prompt_tokens": 3.0}, Usage(3, None, None), "a whole float"),
        ({"prompt_tokens": -1}, Usage(None, None, None), "less than nothing says that it is not known"),
        ({}, None, "nothing in it"),
        (None, None, "null"),
    ],
)
def test_usage(usage: Any, wanted: Usage | None, remark: str) -> None:
    chunk = {"object": "chat.completion", "choices": [], "usage": usage}
    assert deltas.parse(json.dumps(chunk)).usage == wanted, remark
    assert deltas.parse(json.dumps({**payload({"content": "a"}), "usage": usage})).usage == wanted, remark


@pytest.mark.parametrize(
    ("delta", "channel"),
    [
        (Delta(), None),
        (Delta(finish_reason="stop"), None),
        (Delta(content="a"), "content"),
        (Delta(reasoning="a"), "reasoning"),
        (Delta(reasoning="a", content="b"), "content"),
        (Delta(content="a", tool_calls=(ToolDelta(0, "c", "f", ""),)), "tool_call"),
    ],
)
def test_channel(delta: Delta, channel: str | None) -> None:
    assert delta.channel == channel


NESTED = b'{"choices":' + b"[" * 200_000


@pytest.mark.parametrize(
    ("data", "words", "remark"),
    [
        (b"", "not JSON", "nothing"),
        (b"hello", "not JSON", "text"),
        (b'{"choices": [', "not JSON", "half of it"),
        (b'{"choices": [{"delta": {"content": "\xff"}}]}', "not JSON", "no UTF-8"),
        ('{"choices": [{"delta": {"content": "a\nb"}}]}', "not JSON", "a line end within a string"),
        (NESTED, "not JSON", "nested so deep that the parser gives up"),
        (b"[]", "unknown form", "a list"),
        (b"7", "unknown form", "a number"),
        (b"null", "unknown form", "null"),
        (b'"text"', "unknown form", "a string"),
        (b"{}", "unknown form", "nothing of the API"),
        (b'{"object": "x", "error": null}', "unknown form", "a null error says nothing"),
        (b'{"choices": null}', "unknown form", "null choices and no usage"),
        (b'{"choices": 5}', "unknown form", "choices as a number"),
        (b'{"choices": {"0": 1}}', "unknown form", "choices as an object"),
        (b'{"choices": "a"}', "unknown form", "choices as text"),
        (b'{"choices": [5]}', "unknown form", "a choice that is a number"),
        (b'{"choices": [[]]}', "unknown form", "a choice that is a list"),
        (b'{"choices": [{"delta": "a"}]}', "unknown form", "a delta as text"),
        (b'{"choices": [{"delta": {"content": 5}}]}', "unknown form", "content as a number"),
        (b'{"choices": [{"delta": {"content": [{"text": "a"}]}}]}', "unknown form", "content in parts"),
        (b'{"choices": [{"delta": {"tool_calls": 5}}]}', "unknown form", "calls as a number"),
        (b'{"choices": [{"delta": {"tool_calls": {"id": "c"}}}]}', "unknown form", "calls as an object"),
        (b'{"choices": [{"delta": {"tool_calls": ["c"]}}]}', "unknown form", "a call as text"),
        (b'{"choices": [{"delta": {"tool_calls": [{"index": "x"}]}}]}', "unknown form", "an index that is no number"),
        (b'{"choices": [{"delta": {"tool_calls": [{"index": Infinity}]}}]}', "unknown form", "an index without end"),
        (b'{"choices": [{"delta": {"tool_calls": [{"id": 5}]}}]}', "unknown form", "an id that is no text"),
        (b'{"choices": [{"delta": {"tool_calls": [{"function": {"arguments": []}}]}}]}', "unknown form", "arguments"),
        (b'{"choices": [{"delta": {}, "finish_reason": 5}]}', "unknown form", "a reason that is no text"),
        (b'{"choices": [], "usage": {"prompt_tokens": "5"}}', "unknown form", "a count as text"),
        (b'{"choices": [], "usage": {"prompt_tokens": 1.5}}', "unknown form", "half a token"),
        (b'{"choices": [], "usage": {"prompt_tokens": NaN}}', "unknown form", "not a number"),
        (b'{"choices": [], "usage": {"prompt_tokens": true}}', "unknown form", "a count as truth"),
        (b'{"choices": [], "usage": {"prompt_tokens_details": 5}}', "unknown form", "details as a number"),
        (b'{"choices": [], "usage": [5]}', "unknown form", "usage as a list"),
    ],
)
def test_what_is_no_payload(data: bytes | str, words: str, remark: str) -> None:
    with pytest.raises(ProtocolError, match=words) as caught:
        deltas.parse(data)
    assert len(str(caught.value)) < 300, remark
    assert "\n" not in str(caught.value), remark


@pytest.mark.parametrize(
    ("said", "wanted", "remark"),
    [
        ({"message": {"role": "assistant", "content": "a"}}, Delta(content="a"), "a whole answer"),
        ({"message": {"content": None, "reasoning": "a"}}, Delta(reasoning="a"), "mlx_lm: no words are null"),
        ({"message": {"content": "a"}, "finish_reason": "stop"}, Delta("a", finish_reason="stop"), "its end"),
        ({"text": "a"}, Delta(content="a"), "a whole text completion"),
        ({"delta": {"content": "a"}}, Delta(), "a piece of a stream is no message"),
    ],
)
def test_what_a_whole_answer_says(said: dict[str, Any], wanted: Delta, remark: str) -> None:
    assert deltas.parse(json.dumps({"choices": [said]}), "message") == wanted, remark


def test_calls_of_a_whole_answer_are_numbered_by_their_place() -> None:
    made = [{"id": name, "function": {"name": name, "arguments": "{}"}} for name in ("read", "edit")]
    said = deltas.parse(json.dumps({"choices": [{"message": {"tool_calls": made}}]}), "message")
    assert said.tool_calls == (ToolDelta(0, "read", "read", "{}"), ToolDelta(1, "edit", "edit", "{}"))


def test_an_error_names_what_it_looked_at() -> None:
    with pytest.raises(ProtocolError, match=r"^a body that is not JSON: '\{'"):
        deltas.parse("{", "message")
