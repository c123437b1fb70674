"""How long each product's client waits for a server that stalls in one phase, on a clock that is fast-forwarded."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from locust_agents import retry
from locust_agents.answers.stream import StreamReader
from locust_agents.answers.whole_answer import BodyReader
from locust_agents.cluster.replay import Script, chat_answer
from locust_agents.locustfiles.transport import Exchange, perform, resolve
from locust_agents.outcome import Outcome, classify
from locust_agents.patience import Leave, Patience, Timeouts
from locust_agents.plugins.profiles import shipped
from locust_agents.profile import Profile
from locust_agents.retry import Ended
from tests.integration.fast_clock import FastClock, playing

EVENT = b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n'
END = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
LONG_S = 1600.0  # what the real clients were watched for
SOON_S = 50.0

TIMED_OUT, STALLED, OK = Outcome.FIRST_TOKEN_TIMEOUT, Outcome.STALLED, Outcome.OK

# what the server does, in seconds after the request
NO_HEADERS = Script(((LONG_S, EVENT), (LONG_S, END)), headers_s=LONG_S)
NO_TOKEN = Script(((LONG_S, EVENT), (LONG_S, END)), headers_s=SOON_S)
SILENT = Script(((SOON_S, EVENT), (LONG_S, EVENT), (LONG_S, END)), headers_s=SOON_S)
COMMENTS = Script(
    (*((SOON_S + 10 * n, b": keepalive %d/200\n\n" % n) for n in range(1, 151)), (LONG_S, EVENT), (LONG_S, END)),
    headers_s=SOON_S,
)
COMMENTS_CEASE = Script(((SOON_S, b""), (90.0, b": keepalive 1/9\n\n")), headers_s=SOON_S, ending="hang")
COMMENTS_AMID = Script(
    (
        (SOON_S, EVENT),
        *((SOON_S + 10 * n, b": keepalive %d/200\n\n" % n) for n in range(1, 151)),
        (LONG_S, EVENT),
        (LONG_S, END),
    ),
    headers_s=SOON_S,
)
# all at its end, as without a stream
LATE = chat_answer("a", LONG_S)
TRICKLE = Script((*((10.0 * n, b" ") for n in range(160)), (LONG_S, LATE.sends[0][1])))


def patience_of(profile: Profile) -> Patience:
    return Patience(profile.timeouts, profile.comments_reset, counts_from_headers=True)


def ask(clock: FastClock, profile: Profile, patience: Patience) -> tuple[Exchange, Outcome, str | None]:
    exchange = Exchange(clock.now_s, reader=StreamReader() if profile.stream else BodyReader())
    perform(exchange, resolve("http://127.0.0.1:8080"), {}, b"{}", patience, lambda _: None)
    return exchange, *classify(exchange.ending, exchange.http_status, exchange.answer)


# profile, server, the second of its end, outcome, words
CASES: list[tuple[str, Script, float, Outcome, str | None]] = [
    ("qwen-code", NO_HEADERS, 120.0, TIMED_OUT, "no headers within 120.0 s"),
    ("qwen-code", NO_TOKEN, SOON_S + 240.0, TIMED_OUT, "no token within 240.0 s of the headers"),
    ("qwen-code", SILENT, SOON_S + 240.0, STALLED, "no token for 240.0 s"),
    ("qwen-code", COMMENTS, SOON_S + 240.0, TIMED_OUT, "no token within 240.0 s of the headers"),
    ("qwen-code", COMMENTS_AMID, SOON_S + 240.0, STALLED, "no token for 240.0 s"),
    ("opencode", NO_HEADERS, 300.0, TIMED_OUT, "no headers within 300.0 s"),
    ("opencode", NO_TOKEN, SOON_S + 300.0, TIMED_OUT, "no byte for 300.0 s, and no token yet"),
    ("opencode", SILENT, SOON_S + 300.0, STALLED, "no byte for 300.0 s"),
    ("opencode", COMMENTS, LONG_S, OK, None),
    ("opencode", COMMENTS_CEASE, 90.0 + 300.0, TIMED_OUT, "no byte for 300.0 s, and no token yet"),
    ("opencode", COMMENTS_AMID, LONG_S, OK, None),
    ("codex", NO_HEADERS, LONG_S, OK, None),
    ("codex", NO_TOKEN, SOON_S + 300.0, TIMED_OUT, "no token within 300.0 s of the headers"),
    ("codex", SILENT, SOON_S + 300.0, STALLED, "no token for 300.0 s"),
    ("codex", COMMENTS, SOON_S + 300.0, TIMED_OUT, "no token within 300.0 s of the headers"),
    ("cline", NO_HEADERS, 300.0, TIMED_OUT, "no headers within 300.0 s"),
    ("cline", NO_TOKEN, SOON_S + 300.0, TIMED_OUT, "no byte for 300.0 s, and no token yet"),
    ("cline", COMMENTS, LONG_S, OK, None),
    ("continue", NO_HEADERS, 600.0, TIMED_OUT, "no headers within 600.0 s"),
    ("continue", NO_TOKEN, LONG_S, OK, None),
    ("continue", SILENT, LONG_S, OK, None),
    ("pi", NO_HEADERS, 600.0, TIMED_OUT, "no headers within 600.0 s"),
    ("pi", NO_TOKEN, LONG_S, OK, None),
    ("aider", NO_HEADERS, 600.0, TIMED_OUT, "no headers within 600.0 s"),
    ("aider", NO_TOKEN, SOON_S + 600.0, TIMED_OUT, "no byte for 600.0 s, and no token yet"),
    ("aider", COMMENTS, LONG_S, OK, None),
    ("mini-swe-agent", LATE, 600.0, TIMED_OUT, "no headers within 600.0 s"),
    ("mini-swe-agent", chat_answer("a", 599.0), 599.0, OK, None),
    ("mini-swe-agent", TRICKLE, 600.0, TIMED_OUT, "no token within 600.0 s of the headers"),
    ("openhands", LATE, 300.0, TIMED_OUT, "no headers within 300.0 s"),
]


@pytest.mark.parametrize(("name", "script", "end_s", "outcome", "words"), CASES)
def test_a_client_gives_up_when_the_real_one_does(
    name: str, script: Script, end_s: float, outcome: Outcome, words: str | None
) -> None:
    profile = shipped(name)
    with playing(script) as clock:
        _, found, error = ask(clock, profile, patience_of(profile))
        assert (found, error) == (outcome, words)
        assert clock.now_s == pytest.approx(end_s, abs=0.01)


@pytest.mark.parametrize(
    ("timeouts", "end_s", "words", "remark"),
    [
        (Timeouts(first_token_s=60.0), 60.0, "no token within 60.0 s", "a limit of one's own begins with the request"),
        (Timeouts(headers_s=30.0), 30.0, "no headers within 30.0 s", "that of the headers is the sooner one"),
        (Timeouts(None, None, None, None, 90.0), 90.0, "no end within 90.0 s", "the whole turn"),
    ],
)
def test_limits_that_a_scenario_sets(timeouts: Timeouts, end_s: float, words: str, remark: str) -> None:
    with playing(NO_HEADERS) as clock:
        _, _, error = ask(clock, shipped("qwen-code"), Patience(timeouts))
        assert error == words, remark
        assert clock.now_s == pytest.approx(end_s, abs=0.01), remark


@pytest.mark.parametrize(
    ("leave", "script", "end_s", "remark"),
    [
        (Leave(in_prefill=True), COMMENTS, SOON_S + 10.0, "at the first comment"),
        (Leave(after_silence_s=40.0), SILENT, SOON_S + 40.0, "in the silence of a tool call"),
        (Leave(after_silence_s=40.0), COMMENTS_AMID, SOON_S + 40.0, "comments are no words"),
        (Leave(after_s=20.0), NO_HEADERS, 20.0, "before the headers"),
    ],
)
def test_a_behaviour_that_leaves(leave: Leave, script: Script, end_s: float, remark: str) -> None:
    profile = shipped("opencode")
    with playing(script) as clock:
        _, outcome, _ = ask(clock, profile, replace(patience_of(profile), leave=leave))
        assert outcome is Outcome.ABANDONED, remark
        assert clock.now_s == pytest.approx(end_s, abs=0.01), remark


def attempts(name: str, script: Script, until_s: float = math.inf) -> tuple[Sequence[Ended], float]:
    """Every attempt that begins before `until_s`, and the second at which the last one ended."""
    profile, ended = shipped(name), list[Ended]()
    with playing(script) as clock:
        wait_s: float | None = 0.0
        while wait_s is not None and clock.now_s + wait_s < until_s:
            clock.wait_until(clock.now_s + wait_s)
            exchange, outcome, _ = ask(clock, profile, patience_of(profile))
            ended.append(Ended(outcome, exchange.http_status, exchange.answer.first_token_s is not None))
            wait_s = retry.wait_s(profile, ended)
        return ended, clock.now_s


def test_qwen_code_keeps_asking_a_server_that_says_nothing() -> None:
    ended, _ = attempts("qwen-code", NO_HEADERS, LONG_S)
    assert {one.outcome for one in ended} == {TIMED_OUT}
    assert len(ended) >= 13


def test_cline_asks_once() -> None:
    ended, end_s = attempts("cline", NO_TOKEN)
    assert len(ended) == 1
    assert end_s == pytest.approx(SOON_S + 300.0, abs=0.01)
