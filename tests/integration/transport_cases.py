"""The transport against a replay server: every way to end has its outcome, and its stamps are of the right event.

Run by test_transport in a process that gevent has patched, as Locust patches that of a run. A limit of the client is
either one that passes whatever the machine does, or one that nothing here can reach; where one comes before another by
tenths of a second, both are on a clock that is fast-forwarded.
"""

import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from time import perf_counter

import pytest

from locust_agents.answers.stream import StreamReader
from locust_agents.answers.whole_answer import BodyReader
from locust_agents.cluster.replay import (
    STAMP,
    Framing,
    ReplayServer,
    Script,
    chat_answer,
    chat_stream,
    completion_stream,
)
from locust_agents.locustfiles.transport import Api, Exchange, perform, resolve
from locust_agents.outcome import Outcome, classify
from locust_agents.patience import Leave, Patience, Timeouts
from tests.integration.fast_clock import playing
from tests.patience import PATIENCE_S

EVENT = b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n'
FINISH = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"
COMMENT = b": keepalive 10/20\n\n"
GAP_S = 0.3  # between events whose order is to be told apart
NEVER_S = 120.0  # when a server goes on that nobody waits for

QUICK = Timeouts(connect_s=PATIENCE_S, headers_s=0.4, first_token_s=0.4, silence_s=0.4)
SLOW = Timeouts(connect_s=PATIENCE_S, headers_s=PATIENCE_S, first_token_s=PATIENCE_S, silence_s=PATIENCE_S)
PATIENT = Patience(SLOW)
QUICK_ONCE_IT_SPEAKS = Patience(replace(SLOW, silence_s=0.4))


def body(*sends: bytes, status: int = 200, kind: str = "text/event-stream", **more: object) -> Script:
    return Script(tuple((0.0, data) for data in sends), status, {"Content-Type": kind}, **more)  # type: ignore[arg-type]


def comments(until_s: float, *then: bytes) -> Script:
    times = [count / 10 for count in range(round(until_s * 10))]
    return Script((*((at_s, COMMENT) for at_s in times), *((until_s, data) for data in then)))


OK = chat_stream(["a", "b"], 0.05, 0.01, usage=(30, 10, 2))
BIG = b'data: {"choices": [{"delta": {"content": "%b"}}]}\n\n' % (b"x" * 1_000_000)
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
    (
        "half-a-header",
        Script(((0.0, b"HTTP/1.0 200 OK\r\nX: "),), framing="raw"),
        PATIENT,
        Outcome.EMPTY_STREAM,
        "event",
    ),
    ("reset-in-mid-stream", Script(((0.0, EVENT), (0.1, b"")), ending="reset"), PATIENT, Outcome.RESET, "reset"),
    ("no-http", Script(((0.0, b"SSH-2.0-OpenSSH_9.9\r\n"),), framing="raw"), PATIENT, Outcome.BAD_PROTOCOL, "not HTTP"),
    ("404-json", body(b'{"error": "no model"}', status=404), PATIENT, Outcome.HTTP_ERROR, "no model"),
    ("503-html", body(HTML, status=503, kind="text/html"), PATIENT, Outcome.HTTP_ERROR, "503"),
    ("500-nothing", body(status=500), PATIENT, Outcome.HTTP_ERROR, "500"),
    ("302-elsewhere", body(status=302), PATIENT, Outcome.HTTP_ERROR, "302"),
    (
        "503-that-hangs",
        body(b"busy", status=503, ending="hang"),
        Patience(replace(SLOW, first_token_s=0.4), counts_from_headers=True),
        Outcome.HTTP_ERROR,
        "",
    ),
    ("an-error-event", body(EVENT, b'data: {"error": "gone"}\n\n'), PATIENT, Outcome.ERROR_IN_STREAM, "gone"),
    ("an-event-named-error", body(b"event: error\ndata: oh\n\n"), PATIENT, Outcome.ERROR_IN_STREAM, "oh"),
    ("json-error-with-200", body(b'{"error": {"message": "full"}}'), PATIENT, Outcome.ERROR_IN_STREAM, "full"),
    ("no-headers", Script((), framing="raw", ending="hang"), Patience(QUICK), Outcome.FIRST_TOKEN_TIMEOUT, "0.4 s"),
    ("no-token", body(ending="hang"), Patience(QUICK), Outcome.FIRST_TOKEN_TIMEOUT, "0.4 s"),
    ("stall", body(EVENT, ending="hang"), QUICK_ONCE_IT_SPEAKS, Outcome.STALLED, "0.4 s"),
    (
        "stall-with-comments",
        Script(((0.0, EVENT), *comments(NEVER_S).sends)),
        QUICK_ONCE_IT_SPEAKS,
        Outcome.STALLED,
        "0.4 s",
    ),
    ("only-comments", comments(NEVER_S, EVENT, FINISH, DONE), Patience(QUICK), Outcome.FIRST_TOKEN_TIMEOUT, "0.4 s"),
    (
        "comments-that-cease",
        replace(comments(0.5), ending="hang"),
        Patience(QUICK, True),
        Outcome.FIRST_TOKEN_TIMEOUT,
        "0.4 s",
    ),
    (
        "no-end",
        Script(tuple((count / 10, EVENT) for count in range(round(NEVER_S * 10)))),
        Patience(replace(SLOW, turn_s=0.4)),
        Outcome.TURN_TIMEOUT,
        "0.4 s",
    ),
    ("html-with-200", body(HTML, kind="text/html"), PATIENT, Outcome.BAD_PROTOCOL, "no event stream"),
    ("json-with-200", body(b'{"id": 1}'), PATIENT, Outcome.BAD_PROTOCOL, "no event stream"),
    (
        "bad-utf-8",
        body(b'data: {"choices": [{"delta": {"content": "\xff\xfe"}}]}\n\n'),
        PATIENT,
        Outcome.BAD_PROTOCOL,
        "",
    ),
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
    (
        "left-before-headers",
        Script((), framing="raw", ending="hang"),
        Patience(SLOW, leave=Leave(0.3)),
        Outcome.ABANDONED,
        "",
    ),
    (
        "left-after-chunks",
        body(*[EVENT] * 5, ending="hang"),
        Patience(SLOW, leave=Leave(None, 3)),
        Outcome.ABANDONED,
        "",
    ),
    (
        "left-in-prefill",
        Script(((0.0, b""), (0.2, COMMENT), (NEVER_S, EVENT)), ending="hang"),
        Patience(SLOW, leave=Leave(in_prefill=True)),
        Outcome.ABANDONED,
        "planned",
    ),
    (
        "not-left-before-it",
        body(ending="hang"),
        Patience(QUICK, leave=Leave(in_prefill=True)),
        Outcome.FIRST_TOKEN_TIMEOUT,
        "",
    ),
    ("no-prefill-to-leave", OK, Patience(SLOW, leave=Leave(in_prefill=True)), Outcome.OK, ""),
    (
        "left-in-a-tool-call",
        chat_stream(["a"], 0.1, 0.1, tool_calls=[("read", {})], tool_s=NEVER_S),
        Patience(SLOW, leave=Leave(after_silence_s=0.4)),
        Outcome.ABANDONED,
        "planned",
    ),
    (
        "headers-and-no-token",
        body(ending="hang"),
        Patience(replace(SLOW, headers_s=None, first_token_s=0.4), counts_from_headers=True),
        Outcome.FIRST_TOKEN_TIMEOUT,
        "no token within 0.4 s of the headers",
    ),
]

# the same, on the clock that is fast-forwarded
PLAYED: list[tuple[str, Script, Patience, Outcome, str]] = [
    ("left-after-seconds", body(EVENT, ending="hang"), Patience(SLOW, leave=Leave(0.3)), Outcome.ABANDONED, "planned"),
    ("comments-that-count", comments(1.0, EVENT, FINISH, DONE), Patience(QUICK, True), Outcome.OK, ""),
    (
        "a-silence-too-short-to-leave",
        chat_stream(["a", "b"], 0.8, 0.1, tool_calls=[("read", {})], tool_s=0.2),
        Patience(SLOW, leave=Leave(after_silence_s=0.6)),
        Outcome.OK,
        "",
    ),
    (
        "headers-late-then-a-token",
        Script(((0.6, EVENT), (0.6, FINISH), (0.6, DONE)), headers_s=0.3),
        Patience(replace(SLOW, first_token_s=0.45), counts_from_headers=True),
        Outcome.OK,
        "",
    ),
]


def ask(
    url: str, patience: Patience, sent: bytes = b"{}", api: Api = "chat", is_streamed: bool = True
) -> tuple[Exchange, Outcome, str | None]:
    exchange = Exchange(perf_counter(), api, reader=StreamReader() if is_streamed else BodyReader())
    perform(exchange, resolve(url), {"X-Who": "me"}, sent, patience, lambda _: None)
    return exchange, *classify(exchange.ending, exchange.http_status, exchange.answer)


Asked = tuple[Exchange, Outcome, str | None]


def played(script: Script, patience: Patience = PATIENT, is_streamed: bool = True) -> Asked:
    """What comes of it on a clock of its own, on which every exchange begins at 0 s."""
    exchange = Exchange(0.0, reader=StreamReader() if is_streamed else BodyReader())
    with playing(script):
        perform(exchange, resolve("http://127.0.0.1:9"), {"X-Who": "me"}, b"{}", patience, lambda _: None)
    return exchange, *classify(exchange.ending, exchange.http_status, exchange.answer)


@pytest.fixture(scope="module")
def asked() -> dict[str, Asked]:
    """Every case asked at once, since most of them only wait."""
    scripts = [replace(script, path=f"/{name}/v1/chat/completions") for name, script, *_ in CASES]
    with ReplayServer(scripts) as server, ThreadPoolExecutor(16) as pool:
        running = {name: pool.submit(ask, f"{server.url}/{name}", patience) for name, _, patience, *_ in CASES}
        found = {name: future.result() for name, future in running.items()}
    return found | {name: played(script, patience) for name, script, patience, *_ in PLAYED}


BOTH = [*CASES, *PLAYED]


@pytest.mark.parametrize(("name", "outcome", "words"), [pytest.param(*row[::3], row[4], id=row[0]) for row in BOTH])
def test_outcome(asked: dict[str, Asked], name: str, outcome: Outcome, words: str) -> None:
    _, got, error = asked[name]
    assert got is outcome, error
    assert (error is None) == (outcome is Outcome.OK)
    assert words in (error or "")
    assert len(error or "") < 300


@pytest.mark.parametrize("name", [row[0] for row in BOTH])
def test_what_did_not_happen_is_unknown_and_what_did_is_in_order(asked: dict[str, Asked], name: str) -> None:
    exchange, outcome, _ = asked[name]
    answer = exchange.answer
    stamps = [exchange.connect_s, exchange.sent_s, exchange.headers_s, answer.first_token_s, answer.last_token_s]
    known = [stamp for stamp in stamps if stamp is not None]
    assert known == stamps[: len(known)], "something is known though what comes before it is not"
    assert known == sorted(known)
    assert (exchange.http_status is None) == (exchange.headers_s is None)
    assert (answer.first_token_s is None) == (answer.chunks == 0)
    assert exchange.request_bytes == 2
    if outcome is Outcome.OK:
        assert len(known) == len(stamps)


def test_every_outcome_is_met_here_or_made_elsewhere() -> None:
    elsewhere = {Outcome.CUT, Outcome.CAPPED, Outcome.REFUSED, Outcome.CONNECT_TIMEOUT}
    assert {outcome for _, _, _, outcome, _ in BOTH} | elsewhere == set(Outcome)


def test_the_whole_megabyte_is_read(asked: dict[str, Asked]) -> None:
    for name in ("a-megabyte", "a-megabyte-in-chunks"):
        assert "".join(asked[name][0].answer.content) == "x" * 1_000_000


def test_what_is_left_behind_when_the_behaviour_leaves(asked: dict[str, Asked]) -> None:
    assert asked["left-after-chunks"][0].answer.chunks >= 3
    assert asked["left-after-seconds"][0].answer.content == ["a"]


def test_nobody_listens() -> None:
    with ReplayServer([OK]) as server:
        url = server.url
    exchange, outcome, error = ask(url, PATIENT)
    assert (outcome, exchange.connect_s, exchange.request_bytes) == (Outcome.REFUSED, None, 0)
    assert "refused" in (error or "")


def test_nobody_takes_the_connection() -> None:
    """A backlog that is full: the kernel answers nothing, as a machine that sleeps does."""
    with ExitStack() as stack:
        listener = stack.enter_context(closing(socket.create_server(("127.0.0.1", 0), backlog=0)))
        for _ in range(3):
            waiting = stack.enter_context(closing(socket.socket()))
            waiting.setblocking(False)
            with suppress(BlockingIOError):
                waiting.connect(listener.getsockname())
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        exchange, outcome, error = ask(url, Patience(replace(SLOW, connect_s=0.3)))
    assert (outcome, exchange.connect_s) == (Outcome.CONNECT_TIMEOUT, None)
    assert "0.3 s" in (error or "")


def test_the_system_gives_up_before_the_client(monkeypatch: pytest.MonkeyPatch) -> None:
    def unheard(sock: socket.socket, address: object) -> None:
        raise TimeoutError(110, "Connection timed out")

    monkeypatch.setattr(socket.socket, "connect", unheard)
    _, outcome, error = ask("http://127.0.0.1:9", PATIENT)
    assert outcome is Outcome.CONNECT_TIMEOUT
    assert "timed out" in (error or "")


def test_a_refusal_that_does_not_wait_for_the_prompt_is_read() -> None:
    refusal = body(b'{"error": "too large"}', status=413, read_body=False)
    with ReplayServer([refusal]) as server:
        exchange, outcome, error = ask(server.url, PATIENT)
    assert (outcome, exchange.http_status) == (Outcome.HTTP_ERROR, 413)
    assert "too large" in (error or "")


def test_a_server_that_never_reads_a_large_prompt_is_given_up() -> None:
    with ReplayServer([Script((), framing="raw", ending="hang", read_body=False)]) as server:
        exchange, outcome, _ = ask(server.url, Patience(QUICK), b"x" * 30_000_000)
    assert (outcome, exchange.sent_s) == (Outcome.FIRST_TOKEN_TIMEOUT, None)


@pytest.mark.parametrize("limit", ["headers_s", "first_token_s"])
def test_the_words_name_the_limit_that_passed(limit: str) -> None:
    with ReplayServer([Script((), framing="raw", ending="hang")]) as server:
        _, outcome, error = ask(server.url, Patience(replace(SLOW, **{limit: 0.3})))
    assert outcome is Outcome.FIRST_TOKEN_TIMEOUT
    assert "0.3 s" in (error or "")


# What a model that repeats itself, or a hostile server, may send.
DEEP: list[tuple[str, bytes]] = [
    ("an event", b'data: {"choices": %b}\n\n' % (b"[" * 100_000)),
    ("a body", b"[" * 100_000),
]


@pytest.mark.parametrize("sent", [pytest.param(row[1], id=row[0]) for row in DEEP])
def test_json_that_is_nested_too_deeply_is_an_outcome(sent: bytes) -> None:
    with ReplayServer([body(sent)]) as server:
        assert ask(server.url, PATIENT)[1] is Outcome.BAD_PROTOCOL


# -- what goes out


def test_one_post_with_the_bytes_as_they_are() -> None:
    with ReplayServer([replace(OK, path="/v1/chat/completions")]) as server:
        exchange, outcome, _ = ask(server.url, PATIENT, '{"text": "naïve"}'.encode())
    (request,) = server.requests()
    assert outcome is Outcome.OK
    assert (request.method, request.path) == ("POST", "/v1/chat/completions")
    assert request.body == '{"text": "naïve"}'.encode()
    assert request.headers["content-type"] == "application/json"
    assert request.headers["x-who"] == "me"
    assert exchange.request_bytes == len(request.body)


# base address, path asked for
PATHS = [("", "/v1/chat/completions"), ("/", "/v1/chat/completions"), ("/proxy/mlx", "/proxy/mlx/v1/chat/completions")]


@pytest.mark.parametrize(("below", "path"), PATHS)
def test_the_path_below_the_base(below: str, path: str) -> None:
    assert resolve(f"http://127.0.0.1:1{below}").path("chat") == path


def test_a_name_is_resolved_to_ipv4_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a machine that has both, mlx_lm.server listens on IPv4 alone."""
    six = (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", 8080, 0, 0))
    four = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 8080))
    for found in ([six, four], [four, six]):
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, found=found, **__: found)
        target = resolve("http://mac1:8080")
        assert (target.family, target.address) == (socket.AF_INET, ("127.0.0.1", 8080))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [six])
    assert resolve("http://mac1:8080").address == ("::1", 8080)


# -- when it came: on the clock that is fast-forwarded, to the event; on a real one, never before it was sent


def token(field: str) -> bytes:
    text = {"content": f'"{STAMP}"', "reasoning": f'"{STAMP}"'}.get(field, f'[{{"function": {{"name": "{STAMP}"}}}}]')
    return b'data: {"choices": [{"delta": {"%b": %b}}]}\n\n' % (field.encode(), text.encode())


EVENTS = (
    b'data: {"choices": [{"delta": {"role": "assistant", "content": ""}}]}\n\n',
    b": keepalive 10/20\n\n",
    b": keepalive 20/20\n\n",
    b'data: {"choices": [{"delta": {}}]}\n\n',
    token("reasoning"),
    token("content"),
    token("content"),
    token("tool_calls"),
    FINISH,
    DONE,
)
TOKENS = (4, 5, 6, 7)
FRAMINGS: tuple[Framing, ...] = ("until_close", "chunked", "length")


@pytest.mark.parametrize("framing", FRAMINGS)
def test_each_stamp_is_of_the_right_event(framing: Framing) -> None:
    at_s = [GAP_S * place for place in range(1, len(EVENTS) + 1)]
    stamped = Script(tuple(zip(at_s, EVENTS, strict=True)), framing=framing, headers_s=GAP_S / 2)
    exchange, outcome, _ = played(stamped)
    answer = exchange.answer
    assert outcome is Outcome.OK
    assert exchange.headers_s == pytest.approx(GAP_S / 2)
    assert [answer.first_progress_s, answer.prefill_end_s] == pytest.approx([at_s[1], at_s[2]])
    assert [answer.first_token_s, answer.first_answer_s] == pytest.approx([at_s[4], at_s[5]])
    assert [answer.last_token_s, answer.last_byte_s] == pytest.approx([at_s[7], at_s[9]])
    assert [answer.stall_s, answer.tool_silence_s] == pytest.approx([GAP_S, GAP_S])
    assert (sum(answer.itl_hist.values()), answer.chunks, answer.first_channel) == (2, 4, "reasoning")


@pytest.mark.parametrize("framing", FRAMINGS)
def test_no_token_is_read_before_it_was_sent(framing: Framing) -> None:
    """The server's own stamps are of the same clock."""
    script = Script(tuple((place / 50, event) for place, event in enumerate(EVENTS)), framing=framing)
    with ReplayServer([script], stamp=True) as server:
        exchange, _, _ = ask(server.url, PATIENT)
    answer = exchange.answer
    texts = [*answer.reasoning, *answer.content, *(call.name for call in answer.tool_calls.values())]
    sent_s = [int(text) / 1e9 - exchange.started for text in texts]
    assert len(sent_s) == len(TOKENS)
    assert (answer.first_token_s or 0) >= sent_s[0]
    assert (answer.first_answer_s or 0) >= sent_s[1]
    assert (answer.last_token_s or 0) >= sent_s[-1]


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("place", TOKENS)
def test_a_token_is_seen_before_the_next_one_is_sent(framing: Framing, place: int) -> None:
    """Which never comes: whoever reads one token behind would wait for it, and leave for want of it."""
    script = body(*EVENTS[: place + 1], framing=framing, ending="hang")
    whole = {"Content-Type": "text/event-stream", "Content-Length": "100000"}
    script = replace(script, headers=whole) if framing == "length" else script
    chunks = TOKENS.index(place) + 1
    waits = replace(SLOW, first_token_s=30.0, silence_s=30.0)
    with ReplayServer([script]) as server:
        exchange, outcome, error = ask(server.url, Patience(waits, leave=Leave(None, chunks)))
    assert (outcome, exchange.answer.chunks) == (Outcome.ABANDONED, chunks), error


# -- answers that are not streamed, and text completions

WHOLE = chat_answer("a", 0.3, tool_calls=[("read", {"path": "a"})], usage=(30, 10, 2))
JSON = WHOLE.sends[0][1]
LONGER = {"Content-Type": "application/json", "Content-Length": str(len(JSON) + 10)}
ONCE = Patience(Timeouts(connect_s=PATIENCE_S, headers_s=0.4, first_token_s=0.4, silence_s=0.1))

# name (it is the path too), script, patience, outcome, a word of its error
WHOLE_CASES: list[tuple[str, Script, Patience, Outcome, str]] = [
    ("whole", WHOLE, PATIENT, Outcome.OK, ""),
    ("whole-until-close", body(JSON, kind="application/json"), PATIENT, Outcome.OK, ""),
    ("whole-in-chunks", body(JSON[:50], JSON[50:], framing="chunked"), PATIENT, Outcome.OK, ""),
    ("whole-and-kept-open", body(JSON, framing="length", ending="hang"), PATIENT, Outcome.OK, ""),
    (
        "half",
        Script(((0.0, JSON),), headers=LONGER),
        PATIENT,
        Outcome.TRUNCATED,
        "before its announced length",
    ),
    ("half-a-chunk", body(JSON[:50], framing="chunked", ending="cut"), PATIENT, Outcome.TRUNCATED, "length"),
    ("reset", Script(((0.0, JSON[:50]), (0.1, b"")), headers=LONGER, ending="reset"), PATIENT, Outcome.RESET, "reset"),
    ("html", body(HTML, kind="text/html"), PATIENT, Outcome.BAD_PROTOCOL, "not JSON"),
    ("a-stream", OK, PATIENT, Outcome.BAD_PROTOCOL, "not JSON"),
    ("broken", body(JSON[:-1] + b"]"), PATIENT, Outcome.BAD_PROTOCOL, "not JSON"),
    ("nothing", body(framing="length"), PATIENT, Outcome.EMPTY_STREAM, "an empty body"),
    ("error-with-200", body(b'{"error": {"message": "full"}}'), PATIENT, Outcome.ERROR_IN_STREAM, "full"),
    ("404", body(b'{"error": "no model"}', status=404), PATIENT, Outcome.HTTP_ERROR, "no model"),
    ("404-in-half-a-body", replace(WHOLE, status=404, headers=LONGER), PATIENT, Outcome.HTTP_ERROR, "404"),
    ("late", chat_answer("a", NEVER_S), ONCE, Outcome.FIRST_TOKEN_TIMEOUT, "0.4 s"),
    ("late-body", body(JSON[:50], ending="hang"), ONCE, Outcome.FIRST_TOKEN_TIMEOUT, "0.4 s"),
    ("trickling", Script(tuple((n / 10, b" ") for n in range(1200))), ONCE, Outcome.FIRST_TOKEN_TIMEOUT, "0.4 s"),
    ("left", chat_answer("a", NEVER_S), Patience(SLOW, leave=Leave(after_s=0.3)), Outcome.ABANDONED, "planned"),
]

# the same, on the clock that is fast-forwarded
WHOLE_PLAYED: list[tuple[str, Script, Patience, Outcome, str]] = [
    ("a-gap-is-no-stall", Script(((0.0, JSON[:50]), (0.25, JSON[50:]))), ONCE, Outcome.OK, ""),
    (
        "trickling-read-on",
        Script((*((n / 10, b" ") for n in range(9)), (0.9, JSON))),
        replace(ONCE, comments_reset=True),
        Outcome.OK,
        "",
    ),
]
WHOLE_BOTH = [*WHOLE_CASES, *WHOLE_PLAYED]


@pytest.fixture(scope="module")
def whole() -> dict[str, Asked]:
    scripts = [replace(script, path=f"/{name}/v1/chat/completions") for name, script, *_ in WHOLE_CASES]
    with ReplayServer(scripts) as server, ThreadPoolExecutor(16) as pool:
        running = {
            name: pool.submit(ask, f"{server.url}/{name}", patience, is_streamed=False)
            for name, _, patience, *_ in WHOLE_CASES
        }
        found = {name: future.result() for name, future in running.items()}
    return found | {name: played(script, patience, False) for name, script, patience, *_ in WHOLE_PLAYED}


@pytest.mark.parametrize(
    ("name", "outcome", "words"), [pytest.param(*row[::3], row[4], id=row[0]) for row in WHOLE_BOTH]
)
def test_outcome_without_a_stream(whole: dict[str, Asked], name: str, outcome: Outcome, words: str) -> None:
    exchange, got, error = whole[name]
    assert got is outcome, error
    assert words in (error or "")
    answer = exchange.answer
    assert (answer.stall_s, answer.itl_hist, answer.tool_silence_s) == (None, {}, None)
    assert answer.first_token_s == answer.first_answer_s == answer.last_token_s
    assert (answer.first_token_s is None) == (answer.chunks == 0) == (outcome is not Outcome.OK)


def test_without_a_stream_the_only_token_is_the_end() -> None:
    exchange, _, _ = played(Script(((0.0, JSON[:50]), (0.5, JSON[50:]))), is_streamed=False)
    assert [exchange.headers_s, exchange.answer.first_token_s] == pytest.approx([0.0, 0.5])


def test_without_a_stream_whoever_waits_for_the_first_token_is_told() -> None:
    noticed: list[float | None] = []
    exchange = Exchange(perf_counter(), reader=BodyReader())
    with ReplayServer([Script(((0.0, JSON[:50]), (0.1, JSON[50:])))]) as server:
        perform(
            exchange, resolve(server.url), {}, b"{}", PATIENT, lambda seen: noticed.append(seen.answer.first_token_s)
        )
    (request,) = server.requests()
    assert request.headers["accept"] == "application/json"
    assert noticed[-1] == exchange.answer.first_token_s
    assert noticed[-1] is not None
    assert noticed[:-1] == [None] * (len(noticed) - 1)


def test_a_text_completion_is_asked_for_at_its_own_path() -> None:
    script = completion_stream(["a", "b"], 0.2, 0.1, prefill=[(5, 9, 0.0), (9, 9, 0.1)], usage=(9, 0, 2))
    with ReplayServer([replace(script, path="/v1/completions")]) as server:
        exchange, outcome, _ = ask(server.url, PATIENT, api="completions")
    (request,) = server.requests()
    assert (outcome, request.path, request.headers["accept"]) == (Outcome.OK, "/v1/completions", "text/event-stream")
    assert exchange.answer.content == ["a", "b"]
    assert len(exchange.answer.progress) == 2


def test_leaving_in_prefill_is_leaving_before_the_first_token(asked: dict[str, Asked]) -> None:
    answer = asked["left-in-prefill"][0].answer
    assert (len(answer.progress), answer.first_token_s) == (1, None)


def test_leaving_in_a_tool_call_keeps_what_was_said(asked: dict[str, Asked]) -> None:
    answer = asked["left-in-a-tool-call"][0].answer
    assert (answer.content, answer.tool_calls) == (["a"], {})
