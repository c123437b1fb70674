"""The forms of a message: exactly the bytes that later requests repeat."""

import json
from typing import Any

import pytest

from locust_agents.answers.stream import ToolCall
from locust_agents.prompts import messages
from locust_agents.prompts.messages import ReasoningReplay

READ = ToolCall("call-1", "read", '{"filePath": "a.py"}')
EDIT = ToolCall("call-2", "edit", "{}")


def called(call: ToolCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


FORMS: list[tuple[str, bytes, dict[str, Any]]] = [
    ("system", messages.system("be brief"), {"role": "system", "content": "be brief"}),
    ("user", messages.user("fix it"), {"role": "user", "content": "fix it"}),
    ("an empty text is a text", messages.user(""), {"role": "user", "content": ""}),
    ("tool", messages.tool("call-1", "1 failed"), {"role": "tool", "tool_call_id": "call-1", "content": "1 failed"}),
    ("an answer", messages.assistant("done"), {"role": "assistant", "content": "done"}),
    ("an answer without text", messages.assistant(""), {"role": "assistant", "content": ""}),
    ("no calls is no key", messages.assistant("done", ()), {"role": "assistant", "content": "done"}),
    (
        "a call beside a text",
        messages.assistant("I read", [READ]),
        {"role": "assistant", "content": "I read", "tool_calls": [called(READ)]},
    ),
    (
        "null content beside calls, in their order",
        messages.assistant("", [READ, EDIT]),
        {"role": "assistant", "content": None, "tool_calls": [called(READ), called(EDIT)]},
    ),
]


@pytest.mark.parametrize(("made", "wanted"), [pytest.param(*row[1:], id=row[0]) for row in FORMS])
def test_form(made: bytes, wanted: dict[str, Any]) -> None:
    assert json.loads(made) == wanted
    assert list(json.loads(made)) == list(wanted)


REPLAYS: list[tuple[ReasoningReplay, set[str]]] = [
    ("none", set()),
    ("reasoning", {"reasoning"}),
    ("reasoning_content", {"reasoning_content"}),
    ("both", {"reasoning", "reasoning_content"}),
]


@pytest.mark.parametrize(("replay", "fields"), REPLAYS)
@pytest.mark.parametrize("calls", [(), (READ,)])
def test_reasoning_goes_back_where_the_product_puts_it(
    replay: ReasoningReplay, fields: set[str], calls: tuple[ToolCall, ...]
) -> None:
    message = json.loads(messages.assistant("so", calls, "hm", replay))
    assert {name: text for name, text in message.items() if name.startswith("reasoning")} == dict.fromkeys(fields, "hm")


@pytest.mark.parametrize("reasoning", ["", None])
def test_no_reasoning_is_no_key(reasoning: str | None) -> None:
    assert b"reasoning" not in messages.assistant("so", (), reasoning, "both")


# What a model may write as arguments; the server parses what it is sent back and answers 404 where it cannot.
BAD_ARGUMENTS: list[tuple[str, str]] = [
    ("cut in the middle", '{"filePath": "a'),
    ("no JSON", "read a.py"),
    ("a list", '["a.py"]'),
    ("a number", "3"),
    ("null", "null"),
    ("two objects", "{}{}"),
    ("nothing", ""),
]


@pytest.mark.parametrize("arguments", [pytest.param(row[1], id=row[0]) for row in BAD_ARGUMENTS])
def test_arguments_that_are_no_object_are_replaced(arguments: str) -> None:
    (call,) = json.loads(messages.assistant(None, [ToolCall("call-1", "read", arguments)]))["tool_calls"]
    assert call == {"id": "call-1", "type": "function", "function": {"name": "read", "arguments": "{}"}}


def test_a_call_without_a_name_gets_one() -> None:
    (call,) = json.loads(messages.assistant(None, [ToolCall("call-1", "", '{"a": 1}')]))["tool_calls"]
    assert call["function"]["name"]


TEXTS: list[tuple[str, str, str]] = [
    ("UTF-8, not escapes, as clients send it", "naïve 火 🔥", "naïve 火 🔥"),
    ("control characters are escaped", "a\x00\x1b[0m\n", "a\x00\x1b[0m\n"),
    ("halves of a pair that came in two deltas", "\ud83d" + "\udd25", "🔥"),
    ("half a pair", "a\ud83d", "a\ufffd"),
    ("the wrong half", "\udd25b", "\ufffdb"),
]


@pytest.mark.parametrize(("text", "read_back"), [pytest.param(*row[1:], id=row[0]) for row in TEXTS])
def test_any_text_becomes_utf_8(text: str, read_back: str) -> None:
    for made in (messages.user(text), messages.assistant(text), messages.tool("1", text)):
        assert json.loads(made.decode("utf-8"))["content"] == read_back
    assert "🔥".encode() in messages.user("🔥")


# -- changes of what was sent


def test_more_text_at_the_end_of_a_users_message() -> None:
    assert messages.with_end(messages.user('say "a"\n'), '\n"b"') == messages.user('say "a"\n\n"b"')


FIRST_LINES: list[tuple[str, str, str]] = [
    ("another one", "old line\nrest", "new line\nrest"),
    ("where it began otherwise, one more", "summary", "new line\nsummary"),
]


@pytest.mark.parametrize(("said", "wanted"), [pytest.param(*row[1:], id=row[0]) for row in FIRST_LINES])
def test_another_first_line(said: str, wanted: str) -> None:
    assert messages.with_first_line(messages.user(said), "old line", "new line") == messages.user(wanted)


def test_a_history_that_had_no_first_line_gets_one() -> None:
    assert messages.with_first_line(messages.user("summary"), "", "new line") == messages.user("new line\nsummary")


def test_a_history_as_one_text() -> None:
    said = [messages.user("fix it"), messages.assistant(None, [READ]), messages.tool("call-1", "x = 1")]
    assert messages.texts(said) == 'user: fix it\n\nassistant: read({"filePath": "a.py"})\n\ntool: x = 1'


def test_who_speaks() -> None:
    said = [messages.user("a"), messages.assistant("a"), messages.tool("1", "a"), messages.system("a")]
    assert [messages.is_user(message) for message in said] == [True, False, False, False]
