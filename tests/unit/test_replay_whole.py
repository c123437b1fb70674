"""What the replay server says without a stream, and from /v1/completions, has the form of mlx_lm.server's answers."""

import json
import re
from typing import Any

import pytest

from locust_agents.answers.stream import StreamReader
from locust_agents.answers.whole_answer import BodyReader
from locust_agents.cluster.replay import Script, chat_answer, completion_stream
from locust_agents.cluster.replay.wire import to_answer
from locust_agents.outcome import Ending, Outcome, classify

# Seen on the wire of mlx_lm.server 0.32.2; names as they are, values where they never change.
HEAD = """HTTP/1.0 200 OK
Server: .*
Content-type: application/json
Access-Control-Allow-Origin: \\*
Access-Control-Allow-Methods: \\*
Access-Control-Allow-Headers: \\*
Content-Length: (\\d+)"""
ANSWER = ["id", "system_fingerprint", "object", "model", "created", "choices", "usage"]
USAGE = {
    "prompt_tokens": 882,
    "completion_tokens": 19,
    "total_tokens": 901,
    "prompt_tokens_details": {"cached_tokens": 7},
}


def wire(script: Script) -> list[tuple[float, bytes]]:
    return list(to_answer(script, stamp=False).frames)


def told(script: Script) -> tuple[bytes, dict[str, Any]]:
    (_, head), (_, body) = wire(script)
    return head, json.loads(body)


def test_a_whole_answer_has_the_form_of_a_real_one() -> None:
    script = chat_answer("I will", 2.5, tool_calls=[("read", {"filePath": "a"})], usage=(882, 7, 19))
    head, answer = told(script)
    found = re.fullmatch(HEAD.replace("\n", "\r\n") + "\r\n\r\n", head.decode())
    assert found is not None, head
    assert int(found[1]) == len(script.sends[0][1])
    assert list(answer) == ANSWER
    assert answer["object"] == "chat.completion"
    assert answer["usage"] == USAGE
    [choice] = answer["choices"]
    assert list(choice) == ["index", "finish_reason", "message"]
    assert choice["finish_reason"] == "tool_calls"
    assert list(choice["message"]) == ["role", "content", "tool_calls"]
    [call] = choice["message"]["tool_calls"]
    assert list(call) == ["function", "type", "id"], "a call has its number in a stream only"
    assert call["function"] == {"name": "read", "arguments": '{"filePath": "a"}'}
    assert {at_s for at_s, _ in wire(script)} == {2.5}, "the headers come with the body"


def test_a_whole_answer_without_words() -> None:
    _, answer = told(chat_answer("", 0.0, reasoning="hm", finish="length"))
    message = {"role": "assistant", "content": None, "reasoning": "hm"}
    assert answer["choices"] == [{"index": 0, "finish_reason": "length", "message": message}]


def test_what_our_reader_makes_of_it() -> None:
    script = chat_answer("a", 2.5, reasoning="hm", tool_calls=[("read", {}), ("read", "{")])
    reader = BodyReader()
    for at_s, data in script.sends:
        reader.feed(data, at_s)
    reader.close()
    assert [call.is_bad for call in reader.answer.tool_calls.values()] == [False, True]
    assert classify(Ending(), 200, reader.answer) == (Outcome.OK, None)


@pytest.mark.parametrize(
    ("finish", "end_s", "remark"),
    [("length", 3.25, "known with the last token"), ("stop", 3.5, "the token that means so takes its time")],
)
def test_a_text_completion_in_the_form_of_a_real_one(finish: str, end_s: float, remark: str) -> None:
    script = completion_stream(
        ["a", "b"], 3.0, 0.25, prefill=[(128, 600, 1.0), (600, 600, 2.5)], usage=(600, 7, 2), finish=finish
    )
    comments, rest = script.sends[:2], script.sends[2:]
    assert [data for _, data in comments] == [b": keepalive 128/600\n\n", b": keepalive 600/600\n\n"]
    assert [at_s for at_s, _ in rest] == [3.0, 3.25, end_s, end_s, end_s], remark
    *events, usage, done = (data.removeprefix(b"data: ").strip() for _, data in rest)
    assert done == b"[DONE]"
    said = [json.loads(data) for data in events]
    assert list(said[0]) == ANSWER[:-1]
    assert said[0]["object"] == "text_completion"
    assert [choice for part in said for choice in part["choices"]] == [
        {"index": 0, "finish_reason": None, "text": "a"},
        {"index": 0, "finish_reason": None, "text": "b"},
        {"index": 0, "finish_reason": finish, "text": ""},
    ]
    assert json.loads(usage)["choices"] == []
    reader = StreamReader()
    for at_s, data in script.sends:
        reader.feed(data, at_s)
    assert classify(Ending(), 200, reader.answer) == (Outcome.OK, None)
    assert (reader.answer.first_token_s, reader.answer.last_token_s, reader.answer.chunks) == (3.0, 3.25, 2)
