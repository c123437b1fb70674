"""An answer that is not streamed: one moment, one chunk, and the same outcomes as those of a stream."""

import json
import random
from typing import Any

import pytest

from locust_agents.answers import frames
from locust_agents.answers.deltas import Usage
from locust_agents.answers.stream import Answer
from locust_agents.answers.tool_calls import ToolCall
from locust_agents.answers.whole_answer import BodyReader
from locust_agents.outcome import Ending, Outcome, classify

# A real answer of mlx_lm.server 0.32.2 to `stream: false`, shortened at its fingerprint.
RECORDED = (
    b'{"id": "chatcmpl-a0d5d6c6-b9a1-4277-8900-86df7c9556dc", "system_fingerprint": "0.32.2-0.32.4", '
    b'"object": "chat.completion", "model": "default_model", "created": 1796020833, "choices": [{"index": 0, '
    b'"finish_reason": "tool_calls", "message": {"role": "assistant", "content": "I will read that file", '
    b'"tool_calls": [{"function": {"name": "read", "arguments": "{\\"filePath\\": \\"src/app.py\\"}"}, '
    b'"type": "function", "id": "1c4773a5"}]}}], "usage": {"prompt_tokens": 882, "completion_tokens": 19, '
    b'"total_tokens": 901, "prompt_tokens_details": {"cached_tokens": 7}}}'
)
CALL = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}


def body(finish: str | None = "stop", **message: Any) -> bytes:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": None, **message}}
    return json.dumps({"object": "chat.completion", "choices": [choice]}).encode()


def heard(*reads: tuple[float, bytes]) -> Answer:
    reader = BodyReader()
    for at_s, data in reads:
        reader.feed(data, at_s)
    reader.close()
    return reader.answer


def test_a_real_answer() -> None:
    answer = heard((1.0, RECORDED[:200]), (2.5, RECORDED[200:]))
    assert answer.first_token_s == answer.first_answer_s == answer.last_token_s == answer.last_byte_s == 2.5
    assert (answer.chunks, answer.reasoning_chunks, answer.first_channel) == (1, 0, "content")
    assert (answer.stall_s, answer.tool_silence_s, answer.itl_hist, answer.progress) == (None, None, {}, [])
    assert answer.content == ["I will read that file"]
    assert answer.tool_calls == {0: ToolCall("1c4773a5", "read", '{"filePath": "src/app.py"}')}
    assert answer.usage == Usage(882, 7, 19)
    assert (answer.bytes, answer.is_streamed) == (len(RECORDED), False)
    assert classify(Ending(), 200, answer) == (Outcome.OK, None)


def test_nothing_is_known_before_the_end() -> None:
    reader = BodyReader()
    reader.feed(RECORDED, 1.0)
    assert (reader.answer.first_token_s, reader.answer.events, reader.answer.is_over) == (None, 0, False)
    assert reader.model == "default_model"


@pytest.mark.parametrize(
    ("said", "channel", "first_answer_s", "reasoning_chunks", "remark"),
    [
        ({"content": "a"}, "content", 1.0, 0, "words"),
        ({"content": "a", "reasoning": "h"}, "reasoning", 1.0, 0, "a model thinks first"),
        ({"content": "a", "reasoning_content": "h"}, "reasoning", 1.0, 0, "the other name of it"),
        ({"reasoning": "h"}, "reasoning", None, 1, "reasoning alone is no answer"),
        ({"reasoning": "h", "tool_calls": [CALL]}, "reasoning", 1.0, 0, "it thinks before it calls, too"),
        ({"tool_calls": [CALL]}, "tool_call", 1.0, 0, "a call alone"),
        ({"tool_calls": [CALL], "content": "a"}, "content", 1.0, 0, "words stand before the call"),
    ],
)
def test_channels(
    said: dict[str, Any], channel: str, first_answer_s: float | None, reasoning_chunks: int, remark: str
) -> None:
    answer = heard((1.0, body(**said)))
    found = (answer.first_channel, answer.first_answer_s, answer.reasoning_chunks, answer.chunks, answer.first_token_s)
    assert found == (channel, first_answer_s, reasoning_chunks, 1, 1.0), remark


TEXT = b'{"object": "text_completion", "choices": [{"index": 0, "finish_reason": "length", "text": "a"}]}'

# what came, outcome, a word of its error
OUTCOMES: list[tuple[str, bytes, Outcome, str]] = [
    ("words", body(content="a"), Outcome.OK, ""),
    ("a text completion", TEXT, Outcome.OK, ""),
    ("cut off at max_tokens is a proper end", body("length", content="a"), Outcome.OK, ""),
    ("calls whose numbers are missing", body("tool_calls", tool_calls=[CALL, CALL | {"id": "c2"}]), Outcome.OK, ""),
    ("blanks before it, against a proxy's timeout", b"\n\n \n" + body(content="a"), Outcome.OK, ""),
    ("a web page", b"<!doctype html>\n<html>502</html>", Outcome.BAD_PROTOCOL, "not JSON: b'<!doctype"),
    ("half of it, and no length was announced", RECORDED[:300], Outcome.BAD_PROTOCOL, "a body that is not JSON"),
    ("two of them", body(content="a") * 2, Outcome.BAD_PROTOCOL, "not JSON"),
    ("an event stream", b"data: " + body(content="a") + b"\n\n", Outcome.BAD_PROTOCOL, "not JSON"),
    ("bytes that are no UTF-8", b'{"a": "\xff"}', Outcome.BAD_PROTOCOL, "not JSON"),
    ("nested too deep", b"[" * 100_000, Outcome.BAD_PROTOCOL, "not JSON"),
    ("another API", b'{"type": "message"}', Outcome.BAD_PROTOCOL, "unknown form"),
    ("a list", b"[]", Outcome.BAD_PROTOCOL, "unknown form"),
    ("an error with 200", b'{"error": {"message": "out of memory"}}', Outcome.ERROR_IN_STREAM, "out of memory"),
    ("an error as text", b'{"error": "full"}', Outcome.ERROR_IN_STREAM, "full"),
    ("nothing", b"", Outcome.EMPTY_STREAM, "an empty body"),
    ("blanks alone", b" \n", Outcome.EMPTY_STREAM, "an empty body"),
    ("no finish_reason", body(None, content="a"), Outcome.TRUNCATED, "the answer has no finish_reason"),
    ("no choice", b'{"choices": []}', Outcome.TRUNCATED, "finish_reason"),
    ("neither words nor a call", body(), Outcome.NO_ANSWER, "neither"),
    ("reasoning alone", body(reasoning="h"), Outcome.NO_ANSWER, "neither"),
    ("a call that was lost", body("tool_calls", content="a"), Outcome.TOOL_CALL_LOST, "no call"),
]


@pytest.mark.parametrize(("data", "outcome", "words"), [row[1:] for row in OUTCOMES], ids=[row[0] for row in OUTCOMES])
def test_outcomes(data: bytes, outcome: Outcome, words: str) -> None:
    found, error = classify(Ending(), 200, heard((1.0, data)))
    assert found is outcome, error
    assert words in (error or "")
    assert (error is None) == (outcome is Outcome.OK)


@pytest.mark.parametrize(
    ("data", "outcome"),
    [(RECORDED[:300], Outcome.TRUNCATED), (b"", Outcome.EMPTY_STREAM), (b"<html>", Outcome.TRUNCATED)],
)
def test_a_body_that_ends_before_its_length_is_not_read(data: bytes, outcome: Outcome) -> None:
    reader = BodyReader()
    reader.feed(data, 1.0)
    reader.cut()
    found, error = classify(Ending(), 200, reader.answer)
    assert found is outcome
    assert ("announced length" in (error or "")) == (outcome is Outcome.TRUNCATED)


@pytest.mark.parametrize(("data", "words"), [(b'{"error": "no model"}', "no model"), (b"<html>busy", "not JSON")])
def test_a_refusal_keeps_its_words(data: bytes, words: str) -> None:
    outcome, error = classify(Ending(), 404, heard((1.0, data)))
    assert outcome is Outcome.HTTP_ERROR
    assert words in (error or "")


def test_a_body_without_end_is_given_up() -> None:
    reader = BodyReader()
    reader.feed(b" " * frames.MAX_FRAME_BYTES, 1.0)
    assert not reader.answer.is_over
    reader.feed(b" ", 2.0)
    assert reader.answer.is_over
    reader.close()
    assert classify(Ending(), 200, reader.answer)[0] is Outcome.BAD_PROTOCOL


@pytest.mark.parametrize("seed", range(4))
def test_no_bytes_raise_and_no_cut_matters(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(200):
        data = bytearray(RECORDED)
        place = rng.randrange(len(data))
        data[place : place + rng.choice((0, 1, 9))] = rng.choice((b"", b"null", b"]", b'"', b"-1", rng.randbytes(2)))
        middle = rng.randrange(len(data))
        whole = heard((1.0, bytes(data)))
        assert heard((1.0, bytes(data[:middle])), (1.0, bytes(data[middle:]))) == whole, data
        classify(Ending(), 200, whole)
