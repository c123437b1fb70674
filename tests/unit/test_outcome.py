"""How a turn ended: every outcome told apart from bytes and times alone, the first that matches."""

import itertools
import json
import random
from typing import Any

import pytest

from locust_agents.answers.stream import Answer, StreamReader
from locust_agents.outcome import Ending, Outcome, classify

Reads = list[tuple[float, bytes]]

NOT_EARLY = Ending()
DONE = b"data: [DONE]\n\n"


def event(finish: str | None = None, **delta: Any) -> bytes:
    choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": finish}
    return b"data: " + json.dumps({"object": "chat.completion.chunk", "choices": [choice]}).encode() + b"\n\n"


WORD = event(content="a")
THOUGHT = event(reasoning="h")
CALL = event(tool_calls=[{"index": 0, "id": "c1", "function": {"name": "read", "arguments": "{}"}}])
STOP, LENGTH, CALLED = event("stop"), event("length"), event("tool_calls")
USAGE = b'data: {"object": "chat.completion", "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 1}}\n\n'
COMMENT = b": keepalive 5/5\n\n"
ERROR = b'data: {"error": {"message": "out of memory", "code": 500}}\n\n'
HTML = b"<!doctype html>\n<html>\n\n<body>502 Bad Gateway: try again</body>\n</html>\n"


def heard(reads: Reads) -> Answer:
    reader = StreamReader()
    for at_s, data in reads:
        reader.feed(data, at_s)
    reader.close()
    return reader.answer


# name, what came, outcome, words of its error
ENDED_BY_THE_SERVER: list[tuple[str, Reads, Outcome, str | None]] = [
    ("words", [(1.0, WORD), (2.0, STOP + DONE)], Outcome.OK, None),
    ("mlx_lm.server's whole way", [(1.0, COMMENT), (2.0, WORD), (3.0, STOP + USAGE + DONE)], Outcome.OK, None),
    ("without usage", [(1.0, WORD + STOP + DONE)], Outcome.OK, None),
    ("cut off at max_tokens is a proper end", [(1.0, WORD + LENGTH + DONE)], Outcome.OK, None),
    ("a tool call alone", [(1.0, CALL + CALLED + DONE)], Outcome.OK, None),
    ("words and a tool call", [(1.0, WORD + CALL + CALLED + DONE)], Outcome.OK, None),
    ("a tool call that ended with stop", [(1.0, CALL + STOP + DONE)], Outcome.OK, None),
    ("the reason beside the last word", [(1.0, event("stop", content="a") + DONE)], Outcome.OK, None),
    ("usage behind the reason", [(1.0, WORD + STOP), (2.0, USAGE), (3.0, DONE)], Outcome.OK, None),
    ("bytes behind [DONE]", [(1.0, WORD + STOP + DONE + b"data: {\n\n<html>")], Outcome.OK, None),
    ("an error behind [DONE]", [(1.0, WORD + STOP + DONE + ERROR)], Outcome.OK, None),
    ("CR LF", [(1.0, (COMMENT + WORD + STOP + DONE).replace(b"\n", b"\r\n"))], Outcome.OK, None),
    ("CR", [(1.0, (COMMENT + WORD + STOP + DONE).replace(b"\n", b"\r"))], Outcome.OK, None),
    ("a byte order mark", [(1.0, b"\xef\xbb\xbf" + WORD + STOP + DONE)], Outcome.OK, None),
    (
        "blank events between",
        [(1.0, b"\n\n" + WORD + b"data:\n\n\n\n" + STOP + b"event: ping\n\n" + DONE)],
        Outcome.OK,
        None,
    ),
    ("thinking, then words", [(1.0, THOUGHT), (2.0, WORD), (3.0, STOP + DONE)], Outcome.OK, None),
    ("a reason for more than one call", [(1.0, CALL + CALLED + CALLED + DONE)], Outcome.OK, None),
    # error_in_stream
    ("an error after tokens", [(1.0, WORD), (2.0, ERROR)], Outcome.ERROR_IN_STREAM, "out of memory"),
    ("and [DONE] all the same", [(1.0, WORD + ERROR + DONE)], Outcome.ERROR_IN_STREAM, "out of memory"),
    ("an error after the reason", [(1.0, WORD + STOP + ERROR)], Outcome.ERROR_IN_STREAM, "out of memory"),
    ("an error at once", [(1.0, ERROR)], Outcome.ERROR_IN_STREAM, "out of memory"),
    ("an event named error", [(1.0, WORD + b"event: error\ndata: oh no\n\n")], Outcome.ERROR_IN_STREAM, "oh no"),
    ("the same in JSON", [(1.0, b'event: error\ndata: {"error": "full"}\n\n')], Outcome.ERROR_IN_STREAM, "full"),
    ("an error body with 200", [(1.0, b'{"error": "no model"}')], Outcome.ERROR_IN_STREAM, "no model"),
    ("in two reads", [(1.0, b'{"error": "no'), (2.0, b' model"}\n\n')], Outcome.ERROR_IN_STREAM, "no model"),
    (
        "printed for people",
        [(1.0, b'\n{\n  "error": {\n    "message": "no model"\n  }\n}\n')],
        Outcome.ERROR_IN_STREAM,
        "no model",
    ),
    ("with CR LF", [(1.0, b'{\r\n\r\n"error":\r\n"no model"}\r\n')], Outcome.ERROR_IN_STREAM, "no model"),
    (
        "longer than a read",
        [(1.0, b'{"error": "no model", "trace": "%b"}' % (b"x" * 9000))],
        Outcome.ERROR_IN_STREAM,
        "no model",
    ),
    # bad_protocol
    ("HTML with 200", [(1.0, HTML)], Outcome.BAD_PROTOCOL, "no event stream"),
    ("JSON that is no error", [(1.0, b'{"choices": []}')], Outcome.BAD_PROTOCOL, "no event stream"),
    ("JSON without words", [(1.0, b'{"error": null}')], Outcome.BAD_PROTOCOL, "no event stream"),
    ("half a JSON error", [(1.0, b'{"error": "no mo')], Outcome.BAD_PROTOCOL, "no event stream"),
    ("JSON nested without end", [(1.0, b"[" * 60_000)], Outcome.BAD_PROTOCOL, "no event stream"),
    ("plain text", [(1.0, b"Internal Server Error")], Outcome.BAD_PROTOCOL, "no event stream"),
    ("bytes of no text", [(1.0, b"\x00\xff\xfe")], Outcome.BAD_PROTOCOL, "no event stream"),
    ("an event that is not JSON", [(1.0, WORD + b"data: {oh\n\n")], Outcome.BAD_PROTOCOL, "not JSON"),
    ("nonsense before a good end", [(1.0, b"data: {oh\n\n" + WORD + STOP + DONE)], Outcome.BAD_PROTOCOL, "not JSON"),
    ("nonsense before an error", [(1.0, b"data: {oh\n\n" + ERROR)], Outcome.BAD_PROTOCOL, "not JSON"),
    ("JSON that is a list", [(1.0, b"data: []\n\n")], Outcome.BAD_PROTOCOL, "unknown form"),
    ("choices of another form", [(1.0, b'data: {"choices": {"a": 1}}\n\n')], Outcome.BAD_PROTOCOL, "unknown form"),
    ("no UTF-8 in one line", [(1.0, b'data: {"choices": "\xff"}\n\n')], Outcome.BAD_PROTOCOL, "not JSON"),
    ("no UTF-8 in an event of two lines", [(1.0, b"event: x\ndata: \xff\n\n")], Outcome.BAD_PROTOCOL, "not UTF-8"),
    (
        "an event over the limit",
        [(1.0, b"data: "), *[(2.0, b"x" * 2**20)] * 9],
        Outcome.BAD_PROTOCOL,
        "more than 8388608",
    ),
    # empty_stream
    ("nothing", [], Outcome.EMPTY_STREAM, "not one event"),
    ("blank lines", [(1.0, b"\r\n\n\n")], Outcome.EMPTY_STREAM, "not one event"),
    ("comments alone", [(1.0, COMMENT), (2.0, COMMENT)], Outcome.EMPTY_STREAM, "not one event"),
    (
        "comments that are no progress",
        [(1.0, b": ping\n\n"), (2.0, b": ping\n\n")],
        Outcome.EMPTY_STREAM,
        "not one event",
    ),
    ("half a comment", [(1.0, b": keepal")], Outcome.EMPTY_STREAM, "not one event"),
    ("half of the first event", [(1.0, WORD[:-2])], Outcome.EMPTY_STREAM, "not one event"),
    ("less than a field", [(1.0, b"dat")], Outcome.EMPTY_STREAM, "not one event"),
    ("events without data", [(1.0, b"event: ping\n\nid: 7\n\n")], Outcome.EMPTY_STREAM, "not one event"),
    # truncated
    ("cut between events", [(1.0, WORD), (2.0, WORD)], Outcome.TRUNCATED, "without finish_reason and [DONE]"),
    ("cut within an event", [(1.0, WORD), (2.0, WORD[:40])], Outcome.TRUNCATED, "finish_reason and [DONE]"),
    ("cut before [DONE]", [(1.0, WORD + STOP)], Outcome.TRUNCATED, "without [DONE]"),
    ("cut within [DONE]", [(1.0, WORD + STOP + DONE[:-1])], Outcome.TRUNCATED, "without [DONE]"),
    ("[DONE] without a reason", [(1.0, WORD + DONE)], Outcome.TRUNCATED, "without finish_reason"),
    ("[DONE] alone", [(1.0, DONE)], Outcome.TRUNCATED, "without finish_reason"),
    ("a role and nothing more", [(1.0, event())], Outcome.TRUNCATED, "finish_reason and [DONE]"),
    ("a call, then cut", [(1.0, CALL)], Outcome.TRUNCATED, "finish_reason and [DONE]"),
    # tool_call_lost
    ("a reason without its call", [(1.0, CALLED + DONE)], Outcome.TOOL_CALL_LOST, "no call"),
    ("words beside it", [(1.0, WORD + CALLED + USAGE + DONE)], Outcome.TOOL_CALL_LOST, "no call"),
    ("an empty list", [(1.0, event("tool_calls", tool_calls=[]) + DONE)], Outcome.TOOL_CALL_LOST, "no call"),
    # no_answer
    ("a proper end without a word", [(1.0, event() + STOP + DONE)], Outcome.NO_ANSWER, "neither content nor"),
    ("thoughts alone", [(1.0, THOUGHT), (2.0, LENGTH + USAGE + DONE)], Outcome.NO_ANSWER, "neither content nor"),
]


@pytest.mark.parametrize(
    ("reads", "outcome", "words"),
    [case[1:] for case in ENDED_BY_THE_SERVER],
    ids=[case[0] for case in ENDED_BY_THE_SERVER],
)
def test_what_the_server_ended(reads: Reads, outcome: Outcome, words: str | None) -> None:
    found, error = classify(NOT_EARLY, 200, heard(reads))
    assert found is outcome, error
    assert (error is None) if words is None else (error is not None and words in error)
    assert error is None or ("\n" not in error and len(error) < 600)


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (404, b'{"error": "no such model"}', "HTTP status 404: no such model"),
        (400, b'{"error": {"message": "bad parameter"}}', "HTTP status 400: bad parameter"),
        (503, HTML, "HTTP status 503: a body that is no event stream"),
        (500, b"", "HTTP status 500"),
        (301, b"", "HTTP status 301"),
        (500, WORD + STOP + DONE, "HTTP status 500"),
        (502, WORD + ERROR, "HTTP status 502: out of memory"),
    ],
)
def test_another_status_is_an_http_error(status: int, body: bytes, words: str) -> None:
    outcome, error = classify(NOT_EARLY, status, heard([(1.0, body)]))
    assert outcome is Outcome.HTTP_ERROR
    assert error is not None
    assert error.startswith(words)


GOOD: Reads = [(1.0, WORD + STOP + DONE)]


@pytest.mark.parametrize(
    ("early", "status", "reads", "outcome", "remark"),
    [
        (Outcome.REFUSED, None, [], Outcome.REFUSED, "nobody listens"),
        (Outcome.CONNECT_TIMEOUT, None, [], Outcome.CONNECT_TIMEOUT, "nobody answers"),
        (Outcome.RESET, None, [], Outcome.RESET, "reset before the headers"),
        (None, None, [], Outcome.RESET, "it ended before the headers, nobody knows why"),
        (Outcome.CAPPED, None, [], Outcome.CAPPED, "never sent"),
        (Outcome.FIRST_TOKEN_TIMEOUT, None, [], Outcome.FIRST_TOKEN_TIMEOUT, "no headers"),
        (Outcome.FIRST_TOKEN_TIMEOUT, 200, [(1.0, COMMENT)], Outcome.FIRST_TOKEN_TIMEOUT, "comments are no token"),
        (Outcome.FIRST_TOKEN_TIMEOUT, 200, [(1.0, event())], Outcome.FIRST_TOKEN_TIMEOUT, "nor is a role"),
        (Outcome.STALLED, 200, [(1.0, WORD)], Outcome.STALLED, "it stopped"),
        (Outcome.TURN_TIMEOUT, 200, [(1.0, WORD)], Outcome.TURN_TIMEOUT, "it took too long"),
        (Outcome.BAD_PROTOCOL, None, [], Outcome.BAD_PROTOCOL, "not HTTP"),
        (Outcome.RESET, 200, [(1.0, WORD)], Outcome.RESET, "reset in the middle"),
        # the first that matches
        (Outcome.CUT, 200, GOOD, Outcome.CUT, "the run's end comes first of all"),
        (Outcome.CUT, 503, [], Outcome.CUT, "before a status too"),
        (Outcome.ABANDONED, 200, [(1.0, WORD + ERROR)], Outcome.ABANDONED, "who left does not care"),
        (Outcome.ABANDONED, 404, [], Outcome.ABANDONED, "whatever the status"),
        (Outcome.RESET, 404, [], Outcome.RESET, "before http_error"),
        (Outcome.FIRST_TOKEN_TIMEOUT, 503, [], Outcome.HTTP_ERROR, "before the timeouts"),
        (Outcome.TURN_TIMEOUT, 200, [(1.0, ERROR)], Outcome.ERROR_IN_STREAM, "so is an error"),
        (Outcome.STALLED, 200, [(1.0, b"data: {\n\n")], Outcome.STALLED, "timeouts before nonsense"),
        (Outcome.BAD_PROTOCOL, 200, [(1.0, WORD)], Outcome.BAD_PROTOCOL, "nonsense before a missing end"),
    ],
)
def test_what_ended_early(
    early: Outcome | None, status: int | None, reads: Reads, outcome: Outcome, remark: str
) -> None:
    found, error = classify(Ending(early, "the transport's words"), status, heard(reads))
    assert found is outcome, remark
    assert error is not None
    if found is early:
        assert error == "the transport's words"


def test_the_order_is_the_contracts() -> None:
    wanted = (
        "cut abandoned capped refused reset connect_timeout http_error error_in_stream first_token_timeout stalled "
        "turn_timeout bad_protocol empty_stream truncated tool_call_lost no_answer ok"
    )
    assert " ".join(Outcome) == wanted


def test_the_first_three_and_ok_are_no_failures() -> None:
    assert [outcome for outcome in Outcome if not outcome.is_failure] == ["cut", "abandoned", "capped", "ok"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
def test_a_server_that_dies_anywhere_is_never_ok(end: bytes) -> None:
    """Its death looks like a normal end: only the whole stream is ok."""
    stream = (COMMENT + WORD + CALL + CALLED + USAGE + DONE).replace(b"\n", end)
    ends = [classify(NOT_EARLY, 200, heard([(1.0, stream[:length])]))[0] for length in range(len(stream) + 1)]
    assert [outcome for outcome, _ in itertools.groupby(ends)] == ["empty_stream", "truncated", "ok"]
    assert ends.count(Outcome.OK) == (2 if end == b"\r\n" else 1), "the LF of the last CR LF may be missing"


@pytest.mark.parametrize("seed", range(4))
def test_random_bytes_always_have_an_outcome(seed: int) -> None:
    rng = random.Random(seed)
    pieces = [
        WORD,
        THOUGHT,
        CALL,
        STOP,
        CALLED,
        USAGE,
        DONE,
        COMMENT,
        ERROR,
        HTML,
        b"data: ",
        b"\n\n",
        b"\r",
        b"\xff",
        b"{}",
    ]
    for _ in range(300):
        data = b"".join(rng.choice([*pieces, rng.randbytes(3)]) for _ in range(rng.randrange(6)))
        early = rng.choice([None, *list(Outcome)[:-1]])
        outcome, error = classify(Ending(early, "x"), rng.choice([None, 200, 200, 200, 404]), heard([(1.0, data)]))
        assert (outcome is Outcome.OK) == (error is None), data
