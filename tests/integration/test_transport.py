"""The transport against a replay server: every way to end has its outcome, and its stamps are of the right event.

No gevent here: the transport is the standard library's client, which Locust patches in a run (see test_driver).
"""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from time import perf_counter

import pytest

from locust_agents.cluster.replay import STAMP, ReplayServer, Script, chat_stream
from locust_agents.locustfiles.transport import Exchange, perform, resolve
from locust_agents.outcome import Ending, Outcome, classify
from locust_agents.patience import Leave, Patience, Timeouts

EVENT = b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n'
FINISH = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"
COMMENT = b": keepalive 10/20\n\n"
GAP_S = 0.3  # between events whose order is to be told apart; half of it is the tolerance

QUICK = Timeouts(connect_s=5.0, headers_s=0.4, first_token_s=0.4, silence_s=0.4)
SLOW = Timeouts(connect_s=5.0, headers_s=20.0, first_token_s=20.0, silence_s=20.0)
PATIENT = Patience(SLOW)


def body(*sends: bytes, status: int = 200, kind: str = "text/event-stream", **more: object) -> Script:
    return Script(tuple((0.0, data) for data in sends), status, {"Content-Type": kind}, **more)  # type: ignore[arg-type]


def comments(until_s: float, *then: bytes) -> Script:
    times = [count / 10 for count in range(round(until_s * 10))]
    return Script((*((at_s, COMMENT) for at_s in times), *((until_s, data) for data in then)))


OK = chat_stream(["a", "b"], 0.05, 0.01, usage=(30, 10, 2))
BIG = b'data: {"choices": [{"delta": {"content": "%b"}}]}\n\n' % (b"x" * 1_000_000)
NESTED = b'data: {"choices": %b}\n\n' % (b"[" * 100_000)
HTML = b"<html>\n\n<body>\n\ndata about nothing\n\n</body></html>\n"

# name (it is the path too), script, patience, outcome, a word of its error
CASES: list[tuple[str, Script, Patience, Outcome, str]] = [
    ("ok-until-close", OK, PATIENT, Outcome.OK, ""),
    ("ok-chunked", replace(OK, framing="chunked"), PATIENT, Outcome.OK, ""),
    ("ok-with-a-length", replace(OK, framing="length"), PATIENT, Outcome.OK, ""),
    ("ok-that-hangs-after-done", replace(OK, ending="hang"), PATIENT, Outcome.OK, ""),
    ("ok-reset-after-done", body(EVENT, FINISH, DONE, ending="reset"), PATIENT, Outcome.OK, ""),
    ("crlf", body(*(data.replace(b"\n", b"\r\n") for data in (EVENT, FINISH, DONE))), PATIENT, Outcome.OK, ""),
    ("cr", body(*(data.replace(b"\n", b"\r") for data in (EVENT, FINISH, DONE))), PATIENT, Outcome.OK, ""),
    ("a-megabyte", body(BIG, FINISH, DONE), PATIENT, Outcome.OK, ""),
    ("a-megabyte-in-chunks", body(BIG, FINISH, DONE, framing="chunked"), PATIENT, Outcome.OK, ""),
    ("reset-before-headers", Script((), framing="raw", ending="reset"), PATIENT, Outcome.RESET, "reset"),
    ("closed-before-headers", Script((), framing="raw"), PATIENT, Outcome.RESET, "without response"),
    ("half-a-header", Script(((0.0, b"HTTP/1.0 200 OK\r\nX: "),), framing="raw"), PATIENT, Outcome.EMPTY_STREAM, "event"),
    ("reset-in-mid-stream", Script(((0.0, EVENT), (0.1, b"")), ending="reset"), PATIENT, Outcome.RESET, "reset"),
    ("no-http", Script(((0.0, b"SSH-2.0-OpenSSH_9.9\r\n"),), framing="raw"), PATIENT, Outcome.BAD_PROTOCOL, "not HTTP"),
    ("404-json", body(b'{"error": "no model"}', status=404), PATIENT, Outcome.HTTP_ERROR, "no model"),
    ("503-html", body(HTML, status=503, kind="text/html"), PATIENT, Outcome.HTTP_ERROR, "503"),
    ("500-nothing", body(status=500), PATIENT, Outcome.HTTP_ERROR, "500"),
    ("302-elsewhere", body(status=302), PATIENT, Outcome.HTTP_ERROR, "302"),
    ("503-that-hangs", body(b"busy", status=503, ending="hang"), Patience(QUICK), Outcome.HTTP_ERROR, ""),
    ("an-error-event", body(EVENT, b'data: {"error": "gone"}\n\n'), PATIENT, Outcome.ERROR_IN_STREAM, "gone"),
    ("an-event-named-error", body(b"event: error\ndata: oh\n\n"), PATIENT, Outcome.ERROR_IN_STREAM, "oh"),
    ("json-error-with-200", body(b'{"error": {"message": "full"}}'), PATIENT, Outcome.ERROR_IN_STREAM, "full"),
    ("no-headers", Script((), framing="raw", ending="hang"), Patience(QUICK), Outcome.FIRST_TOKEN_TIMEOUT, "0.4 s"),
    ("no-token", body(ending="hang"), Patience(QUICK), Outcome.FIRST_TOKEN_TIMEOUT, "0.4 s"),
    ("stall", body(EVENT, ending="hang"), Patience(QUICK), Outcome.STALLED, "0.4 s"),
    ("stall-with-comments", Script(((0.0, EVENT), *comments(1.0).sends)), Patience(QUICK), Outcome.STALLED, "0.4 s"),
    ("only-comments", comments(1.0, EVENT, FINISH, DONE), Patience(QUICK), Outcome.FIRST_TOKEN_TIMEOUT, "0.4 s"),
    ("comments-that-count", comments(1.0, EVENT, FINISH, DONE), Patience(QUICK, True), Outcome.OK, ""),
    (
        "comments-that-cease",
        replace(comments(0.5), ending="hang"),
        Patience(QUICK, True),
        Outcome.FIRST_TOKEN_TIMEOUT,
        "0.4 s",
    ),
    (
        "no-end",
        Script(tuple((count / 10, EVENT) for count in range(12))),
        Patience(replace(SLOW, turn_s=0.4)),
        Outcome.TURN_TIMEOUT,
        "0.4 s",
    ),
    ("html-with-200", body(HTML, kind="text/html"), PATIENT, Outcome.BAD_PROTOCOL, "no event stream"),
    ("json-with-200", body(b'{"id": 1}'), PATIENT, Outcome.BAD_PROTOCOL, "no event stream"),
    ("bad-utf-8", body(b'data: {"choices": [{"delta": {"content": "\xff\xfe"}}]}\n\n'), PATIENT, Outcome.BAD_PROTOCOL, ""),
    ("bad-utf-8-lines", body(b"event: x\ndata: \xff\xfe\n\n"), PATIENT, Outcome.BAD_PROTOCOL, ""),
    ("no-json", body(b"data: {half\n\n"), PATIENT, Outcome.BAD_PROTOCOL, "not JSON"),
    ("another-api", body(b'data: {"type": "ping"}\n\n'), PATIENT, Outcome.BAD_PROTOCOL, "unknown form"),
    ("empty-with-200", body(), PATIENT, Outcome.EMPTY_STREAM, "not one event"),
    ("empty-in-chunks", body(framing="chunked"), PATIENT, Outcome.EMPTY_STREAM, "not one event"),
    ("comments-alone", body(COMMENT), PATIENT, Outcome.EMPTY_STREAM, "not one event"),
    ("half-an-event", body(EVENT, EVENT[:20]), PATIENT, Outcome.TRUNCATED, "finish_reason"),
    ("no-finish-reason", body(EVENT, DONE), PATIENT, Outcome.TRUNCATED, "finish_reason"),
    ("no-done", body(EVENT, FINISH), PATIENT, Outcome.TRUNCATED, "[DONE]"),
    ("half-a-chunk", body(EVENT, EVENT, framing="chunked", ending="cut"), PATIENT, Outcome.TRUNCATED, "finish_reason"),
    ("no-answer", chat_stream([], 0.0, 0.0, reasoning=["hm"]), PATIENT, Outcome.NO_ANSWER, "neither"),
    ("a-lost-call", chat_stream(["a"], 0.0, 0.0, finish="tool_calls"), PATIENT, Outcome.TOOL_CALL_LOST, "no call"),
    ("left-after-seconds", body(EVENT, ending="hang"), Patience(SLOW, leave=Leave(0.3)), Outcome.ABANDONED, "planned"),
    ("left-before-headers", Script((), framing="raw", ending="hang"), Patience(SLOW, leave=Leave(0.3)), Outcome.ABANDONED, ""),
    ("left-after-chunks", body(*[EVENT] * 5, ending="hang"), Patience(SLOW, leave=Leave(None, 3)), Outcome.ABANDONED, ""),
]
