"""When each thing of a streamed answer came: lists of (seconds, bytes), and the stamps that they must give."""

import copy
import json
import random
from typing import Any

import pytest

from locust_agents.answers import itl
from locust_agents.answers.deltas import Usage
from locust_agents.answers.stream import Answer, Progress, StreamReader, ToolCall

Reads = list[tuple[float, bytes]]

DONE = b"data: [DONE]\n\n"
USAGE = (
    b'data: {"object":"chat.completion","choices":[],"usage":{"prompt_tokens":20,"completion_tokens":3,'
    b'"prompt_tokens_details":{"cached_tokens":5}}}\n\n'
)


def event(finish: str | None = None, **delta: Any) -> bytes:
    choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": finish}
    return b"data: " + json.dumps({"object": "chat.completion.chunk", "choices": [choice]}).encode() + b"\n\n"


def call(index: int | None = 0, id: str = "", name: str = "", arguments: str = "") -> bytes:
    return event(tool_calls=[{"index": index, "id": id, "function": {"name": name, "arguments": arguments}}])


def word(text: str) -> bytes:
    return event(content=text)


def text(text: str, finish: str | None = None) -> bytes:
    choice = {"index": 0, "finish_reason": finish, "text": text}
    return b"data: " + json.dumps({"object": "text_completion", "choices": [choice]}).encode() + b"\n\n"


STOP = event("stop")
CALLED = event("tool_calls")
READ = call(0, "c1", "read", '{"path": "a"}')


def heard(reads: Reads) -> Answer:
    reader = StreamReader()
    for at_s, data in reads:
        reader.feed(data, at_s)
    reader.close()
    return reader.answer


def gaps(*gaps_s: float) -> dict[int, int]:
    counted: dict[int, int] = {}
    for gap_s in gaps_s:
        counted[itl.bucket(gap_s)] = counted.get(itl.bucket(gap_s), 0) + 1
    return counted


PREFILL: Reads = [(1.0, b": keepalive 8/20\n\n"), (2.0, b": keepalive 16/20\n\n"), (2.5, b": keepalive 20/20\n\n")]
PREFILLED = {"first_progress_s": 1.0, "prefill_end_s": 2.5}


def tokens(first_s: float, last_s: float, chunks: int, channel: str = "content", **more: Any) -> dict[str, Any]:
    stamps = {"first_token_s": first_s, "first_answer_s": first_s, "last_token_s": last_s}
    return {**stamps, "first_channel": channel, "chunks": chunks, **more}


CASES: list[tuple[str, Reads, dict[str, Any]]] = [
    (
        "as mlx_lm.server streams: comments, words, the reason, usage, the end",
        [*PREFILL, (3.0, word("a")), (3.25, word("b")), (3.75, word("c")), (4.0, STOP + USAGE + DONE)],
        PREFILLED
        | tokens(3.0, 3.75, 3, itl_hist=gaps(0.25, 0.5), stall_s=0.5, tool_silence_s=None, last_byte_s=4.0)
        | {"usage": Usage(20, 5, 3), "finish_reason": "stop", "done": True, "events": 6},
    ),
    ("a role-only first event is no token", [(1.0, event()), (2.0, word("a"))], tokens(2.0, 2.0, 1, events=2)),
    ("an empty delta is no token", [(1.0, word("")), (2.0, word("a")), (3.0, word(""))], tokens(2.0, 2.0, 1)),
    ("the reason and the usage are no tokens", [(1.0, word("a")), (3.0, STOP), (4.0, USAGE)], tokens(1.0, 1.0, 1)),
    ("one token has no gap", [(1.0, word("a"))], tokens(1.0, 1.0, 1, stall_s=None, itl_hist={})),
    (
        "reasoning is the first token, not the first answer",
        [(1.0, event(reasoning="h")), (1.5, event(reasoning="m")), (2.0, word("a"))],
        tokens(1.0, 2.0, 3, "reasoning", itl_hist=gaps(0.5, 0.5)) | {"first_answer_s": 2.0},
    ),
    (
        "reasoning_content is the same",
        [(1.0, event(reasoning_content="h")), (3.0, word("a"))],
        tokens(1.0, 3.0, 2, "reasoning", stall_s=2.0) | {"first_answer_s": 3.0},
    ),
    (
        "reasoning and nothing else is no answer",
        [(1.0, event(reasoning="h")), (2.0, STOP)],
        tokens(1.0, 1.0, 1, "reasoning") | {"first_answer_s": None},
    ),
    (
        "a tool call alone, in one late event: its silence began when the prefill ended",
        [*PREFILL, (7.0, READ), (7.1, CALLED + DONE)],
        PREFILLED | tokens(7.0, 7.0, 1, "tool_call", tool_silence_s=4.5, stall_s=None, itl_hist={}),
    ),
    (
        "a tool call alone of a server without comments: how long it was silent is not known",
        [(7.0, READ)],
        tokens(7.0, 7.0, 1, "tool_call", tool_silence_s=None),
    ),
    (
        "a tool call after words: its gap is no stall",
        [*PREFILL, (3.0, word("a")), (3.5, word("b")), (9.5, READ)],
        PREFILLED | tokens(3.0, 9.5, 3, tool_silence_s=6.0, stall_s=0.5, itl_hist=gaps(0.5)),
    ),
    (
        "two tool calls: the longer silence",
        [(1.0, word("a")), (2.0, READ), (5.0, call(1, "c2", "read")), (6.0, CALLED)],
        tokens(1.0, 5.0, 3, tool_silence_s=3.0, stall_s=None, itl_hist={}),
    ),
    (
        "two tool calls in one event",
        [(1.0, word("a")), (3.0, event(tool_calls=[{"index": 0, "id": "c1"}, {"index": 1, "id": "c2"}]))],
        tokens(1.0, 3.0, 2, tool_silence_s=2.0, itl_hist={}),
    ),
    (
        "arguments in pieces: only the first piece ends a silence",
        [(1.0, word("a")), (3.0, call(0, "c1", "read")), (3.25, call(0, arguments="{}")), (3.75, word("b"))],
        tokens(1.0, 3.75, 4, tool_silence_s=2.0, stall_s=0.5, itl_hist=gaps(0.25, 0.5)),
    ),
    (
        "tokens that come in one read have no gap",
        [(1.0, word("a") + word("b") + word("c")), (2.0, word("d"))],
        tokens(1.0, 2.0, 4, stall_s=1.0, itl_hist={0: 2} | gaps(1.0)),
    ),
    (
        "an event in two reads counts from the second",
        [(1.0, word("a")[:30]), (2.0, word("a")[30:])],
        tokens(2.0, 2.0, 1, last_byte_s=2.0),
    ),
    ("a stall within the answer", [(1.0, word("a")), (3.5, word("b")), (3.6, word("c"))], {"stall_s": 2.5}),
    (
        "a comment within the answer changes no stamp",
        [(1.0, word("a")), (2.0, b": keepalive 3/3\n\n"), (3.0, word("b"))],
        tokens(1.0, 3.0, 2, stall_s=2.0, first_progress_s=None, prefill_end_s=None, progress=[]),
    ),
    (
        "a comment and a token in one frame",
        [(1.0, b": keepalive 3/3\n" + word("a"))],
        tokens(1.0, 1.0, 1, first_progress_s=1.0, prefill_end_s=1.0, progress=[Progress(1.0, 3, 3)]),
    ),
    (
        "the same with CR line ends, the comment behind",
        [(1.0, b"event: message\r: keepalive 3/3\r" + word("a").replace(b"\n", b"\r"))],
        tokens(1.0, 1.0, 1, prefill_end_s=1.0),
    ),
    (
        "a prefill that never ends",
        [(1.0, b": keepalive 1/9\n\n"), (2.0, b": keepalive 5/9\n\n")],
        {"first_progress_s": 1.0, "prefill_end_s": None, "progress": [Progress(1.0, 1, 9), Progress(2.0, 5, 9)]},
    ),
    ("everything was cached", [(1.0, b": keepalive 0/0\n\n")], {"first_progress_s": 1.0, "prefill_end_s": 1.0}),
    (
        "a server that serves one by one says when a prefill begins: no step has ended then",
        [(1.0, b": keepalive 0/9\n\n"), (2.0, b": keepalive 5/9\n\n"), (3.0, b": keepalive 9/9\n\n")],
        {
            "first_progress_s": 2.0,
            "prefill_end_s": 3.0,
            "progress": [Progress(1, 0, 9), Progress(2, 5, 9), Progress(3, 9, 9)],
        },
    ),
    (
        "reasoning chunks are counted, and one that brings words too is none",
        [(1.0, event(reasoning="h")), (1.5, event(reasoning="m", content="a")), (2.0, word("b")), (2.5, READ)],
        {"chunks": 4, "reasoning_chunks": 1, "reasoning": ["h", "m"]},
    ),
    (
        "a text completion",
        [*PREFILL, (3.0, text("a")), (3.25, text("b")), (3.25, text("", "length") + USAGE + DONE)],
        PREFILLED
        | tokens(3.0, 3.25, 2, itl_hist=gaps(0.25), stall_s=0.25, events=5)
        | {"content": ["a", "b"], "finish_reason": "length", "done": True, "usage": Usage(20, 5, 3)},
    ),
    (
        "comments that are no progress",
        [(1.0, b": ping\n\n: keepalive\n\n: keepalive x/y\n\n: keepalive -1/2\n\n:\n\n")],
        {"first_progress_s": None, "progress": [], "events": 0},
    ),
    ("a number without end", [(1.0, b": keepalive " + b"9" * 5000 + b"/1\n\n")], {"progress": []}),
    ("a total without end", [(1.0, b": keepalive 1/" + b"9" * 5000 + b"\n\n")], {"progress": []}),
    ("the last reason counts", [(1.0, event("length")), (2.0, STOP)], {"finish_reason": "stop"}),
    (
        "usage in every event: the last counts",
        [(1.0, USAGE), (2.0, USAGE.replace(b":3", b":7"))],
        {"usage": Usage(20, 5, 7)},
    ),
    ("blank data is no event", [(1.0, b"data:\n\ndata: \n\n" + word("a"))], tokens(1.0, 1.0, 1, events=1)),
    ("a byte order mark", [(1.0, b"\xef\xbb\xbf" + word("a"))], tokens(1.0, 1.0, 1)),
    (
        "data in several lines",
        [(1.0, b'data: {"choices": [\ndata: {"delta": {"content": "a"}}]}\n\n')],
        {"content": ["a"]},
    ),
    ("a megabyte in one event", [(1.0, word("x" * 1_000_000))], {"content": ["x" * 1_000_000], "chunks": 1}),
    ("[DONE] with blanks", [(1.0, b"data: [DONE] \n\n"), (2.0, b"data:[DONE]\n\n")], {"done": True, "events": 1}),
    (
        "what follows [DONE] is counted in bytes and nothing else",
        [(1.0, word("a") + DONE + word("b") + b"data: nonsense\n\n")],
        tokens(1.0, 1.0, 1, done=True, protocol_error=None, error=None, events=2, content=["a"]),
    ),
    (
        "what follows an error too",
        [(1.0, b'data: {"error": "full"}\n\ndata: {"error": "other"}\n\n' + word("a"))],
        {"error": "full", "chunks": 0, "done": False},
    ),
    (
        "what follows nonsense too",
        [(1.0, word("a") + b"data: nonsense\n\n" + word("b") + DONE)],
        tokens(1.0, 1.0, 1, done=False, content=["a"]),
    ),
]


@pytest.mark.parametrize(("reads", "wanted"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_stamps(reads: Reads, wanted: dict[str, Any]) -> None:
    answer = heard(reads)
    assert {name: getattr(answer, name) for name in wanted} == wanted
    assert answer.bytes == sum(len(data) for _, data in reads)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("reads", [case[1] for case in CASES], ids=[case[0] for case in CASES])
def test_the_cut_of_the_reads_changes_nothing(reads: Reads, end: bytes) -> None:
    whole = [(at_s, data.replace(b"\n", end)) for at_s, data in reads]
    if sum(len(data) for _, data in whole) < 10_000:
        bytewise = [(at_s, data[place : place + 1]) for at_s, data in whole for place in range(len(data))]
    else:
        bytewise = [(at_s, data[place : place + 999]) for at_s, data in whole for place in range(0, len(data), 999)]
    assert heard(bytewise) == heard(whole)


def test_a_stream_cut_in_two_anywhere_says_the_same() -> None:
    for end in (b"\n", b"\r\n", b"\r"):
        stream = (b": keepalive 3/3\n\n" + event(reasoning="h") + word("é") + READ + CALLED + USAGE + DONE).replace(
            b"\n", end
        )
        whole = heard([(1.0, stream)])
        assert whole.done
        for place in range(len(stream)):
            assert heard([(1.0, stream[:place]), (1.0, stream[place:])]) == whole, f"cut before byte {place}"


def test_the_texts_are_kept_apart_and_in_order() -> None:
    answer = heard([(1.0, event(reasoning="a") + word("c") + event(reasoning="b", content="d") + READ)])
    assert (answer.reasoning, answer.content) == (["a", "b"], ["c", "d"])


@pytest.mark.parametrize(
    ("events", "wanted", "remark"),
    [
        ([READ], [ToolCall("c1", "read", '{"path": "a"}')], "in one event"),
        (
            [call(0, "c1", "read"), call(0, arguments='{"pa'), call(0, arguments='th": "a"}')],
            [ToolCall("c1", "read", '{"path": "a"}')],
            "in pieces",
        ),
        (
            [call(0, "c1", "read"), call(0, "c1", "read", "{"), call(0, "c1", "", "}")],
            [ToolCall("c1", "read", "{}")],
            "pieces that repeat id and name",
        ),
        (
            [call(0, "c1", "a"), call(1, "c2", "b"), call(0, arguments="{}"), call(1, arguments="[]")],
            [ToolCall("c1", "a", "{}"), ToolCall("c2", "b", "[]")],
            "pieces of two calls in turn",
        ),
        (
            [call(None, "c1", "a", "{}"), call(None, "c2", "b", "{}")],
            [ToolCall("c1", "a", "{}"), ToolCall("c2", "b", "{}")],
            "two calls of a server that gives no index",
        ),
        (
            [call(0, "c1", "a"), call(0, "c2", "b"), call(0, "c2", arguments="{}"), call(0, "c3", "c")],
            [ToolCall("c1", "a", ""), ToolCall("c2", "b", "{}"), ToolCall("c3", "c", "")],
            "of one that always gives 0",
        ),
    ],
)
def test_tool_calls_are_put_together(events: list[bytes], wanted: list[ToolCall], remark: str) -> None:
    assert list(heard([(1.0, b"".join(events))]).tool_calls.values()) == wanted, remark


@pytest.mark.parametrize(
    ("made", "is_bad", "remark"),
    [
        (ToolCall("c", "read", '{"a": 1}'), False, "a call"),
        (ToolCall("c", "read", ""), False, "without arguments"),
        (ToolCall("", "read", "{}"), False, "without an id"),
        (ToolCall("c", "", "{}"), True, "without a name"),
        (ToolCall("c", "read", '{"a": '), True, "half of its arguments"),
        (ToolCall("c", "read", "[]"), True, "a list"),
        (ToolCall("c", "read", '{"a": NaN}'), True, "a word that Python alone takes for JSON"),
        (ToolCall("c", "read", '"{}"'), True, "text, as mlx_lm sends arguments that were text already"),
        (ToolCall("c", "read", "[" * 200_000), True, "nested so deep that the parser gives up"),
    ],
)
def test_bad_tool_calls(made: ToolCall, is_bad: bool, remark: str) -> None:
    assert made.is_bad is is_bad, remark


WHOLE = b"".join(data for _, data in CASES[0][1]) + READ + b"event: error\ndata: x\n\n" + b'\r\n{"error": 5}\r\r'
SPICE = (
    b"\n",
    b"\r",
    b"\n\n",
    b"data: ",
    b":",
    b"{",
    b"}",
    b"[",
    b'"',
    b"\xff",
    b"\x00",
    b"null",
    b"Infinity",
    b"-1",
    b"",
)


def mutated(rng: random.Random) -> bytes:
    """The stream with some of its bytes replaced, dropped, doubled or moved."""
    data = bytearray(WHOLE)
    for _ in range(rng.randrange(1, 9)):
        place, length = rng.randrange(len(data)), rng.choice((0, 1, 1, 2, 5, 40))
        data[place : place + length] = rng.choice((rng.choice(SPICE), rng.randbytes(2), bytes(data[:60])))
    return bytes(data)


def cut(data: bytes, rng: random.Random) -> Reads:
    places = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(4)))
    return [(1.0, data[start:end]) for start, end in zip([0, *places], [*places, len(data)], strict=True)]


@pytest.mark.parametrize("seed", range(8))
def test_no_bytes_raise_and_no_cut_matters(seed: int) -> None:
    rng = random.Random(seed)
    for number in range(300):
        data = rng.randbytes(rng.randrange(300)) if number % 5 == 0 else mutated(rng)
        whole = heard([(1.0, data)])
        assert heard(cut(data, rng)) == whole, data
        assert heard([(1.0, bytes([byte])) for byte in data]) == whole or len(data) == 0, data


def test_closing_twice_says_the_same() -> None:
    reader = StreamReader()
    reader.feed(b"<html>", 1.0)
    reader.close()
    first = copy.deepcopy(reader.answer)
    reader.close()
    assert reader.answer == first
