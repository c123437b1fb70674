"""What /health says while a run goes on: answers as data with a clock of their own, then a server that replays."""

import threading
import time
from collections.abc import Mapping

import pytest

from locust_agents.cluster import health
from locust_agents.cluster.replay import ReplayServer, Script
from locust_agents.cluster.watch.heartbeat import ANSWER_S, Heartbeat, Sign, State, judge
from tests.patience import PATIENCE_S

URL = "http://mac1:8080"
WELL, DEAD, UNWELL, REFUSED, SLOW, ABSENT = Sign


@pytest.mark.parametrize(
    ("signs", "verdict", "remark"),
    [
        ((WELL, WELL), None, "all is well"),
        ((WELL, DEAD), "generation thread died", "one word of mlx_lm.server's own is enough"),
        ((DEAD, WELL), "generation thread died", "what died stays dead"),
        ((REFUSED,), None, "one refusal may be a full backlog"),
        ((REFUSED, WELL, REFUSED), None, "not in a row"),
        ((REFUSED, SLOW, REFUSED), None, "silence in between is not a refusal"),
        ((REFUSED, REFUSED), "nothing listens at http://mac1:8080 any more (2 connections refused", "two in a row"),
        ((UNWELL,), None, "a gateway's hiccup"),
        ((REFUSED, UNWELL), "is out of order (/health said so 2 times in a row)", "turned away twice"),
        ((SLOW,) * 9, None, "a long prefill starves the threads that answer"),
        ((ABSENT,), None, "another server has no such page"),
    ],
)
def test_judge(signs: tuple[Sign, ...], verdict: str | None, remark: str) -> None:
    state = State()
    for sign in signs:
        state = judge(state, sign, URL)
    assert (verdict is None and state.verdict is None) or (verdict or "?") in str(state.verdict), remark
    assert "\n" not in str(state.verdict)


class Server:
    """Answers when the test says so; its clock is the test's too."""

    def __init__(self, *signs: Sign) -> None:
        self.now_s = 100.0
        self.signs = list(signs)
        self.answers = threading.Event()
        self.answers.set()
        self.asked_s: list[float] = []
        self.notes: list[tuple[str, Mapping[str, object]]] = []
        note = lambda event, fields: self.notes.append((event, fields))  # noqa: E731
        self.heartbeat = Heartbeat(URL, self.ask, note, lambda: self.now_s)

    def ask(self, seconds: float) -> Sign:
        assert seconds == ANSWER_S
        self.asked_s.append(self.now_s)
        assert self.answers.wait(30)
        return self.signs.pop(0)

    def look(self, at_s: float) -> str | None:
        """A look, and one more when the answer has come."""
        self.now_s = 100.0 + at_s
        verdict = self.heartbeat.look()
        if self.answers.is_set() and self.heartbeat._asking is not None:
            self.heartbeat._asking.join(30)
            verdict = self.heartbeat.look()
        return verdict


def test_it_is_asked_every_ten_seconds_and_the_first_time_not_at_once() -> None:
    server = Server(*[WELL] * 9)
    for at_s in range(31):
        assert server.look(at_s) is None
    assert server.asked_s == [110.0, 120.0, 130.0]
    assert server.notes == []


def test_a_look_never_waits_and_asks_one_question_at_a_time() -> None:
    server = Server(WELL, WELL)
    server.answers.clear()
    assert [server.look(at_s) for at_s in (10, 11, 25, 40)] == [None] * 4
    assert server.asked_s == [110.0]
    server.answers.set()
    server.look(41)
    server.look(42)
    assert server.asked_s == [110.0, 142.0]


def test_a_death_is_said_for_ever_and_noted_once() -> None:
    server = Server(DEAD, DEAD)
    [verdict, *others] = [server.look(at_s) for at_s in (10, 11, 20)]
    assert verdict is not None
    assert others == [verdict] * 2
    assert [(event, fields["says"]) for event, fields in server.notes] == [("health", "generation thread died")]


def test_a_slow_answer_is_noted_and_no_more() -> None:
    server = Server(SLOW, SLOW, WELL)
    assert [server.look(at_s) for at_s in (10, 20, 30)] == [None] * 3
    assert [fields["says"] for _, fields in server.notes] == ["no answer", "well"]


def test_who_has_no_such_page_is_not_asked_again() -> None:
    server = Server(ABSENT)
    assert [server.look(at_s) for at_s in (10, 20, 99)] == [None] * 3
    assert server.asked_s == [110.0]


def page(status: int, body: bytes, wait_s: float = 0.0) -> Script:
    return Script(((wait_s, body),), status=status, framing="length", path="/health", headers_s=wait_s)


@pytest.mark.parametrize(
    ("script", "sign"),
    [
        (page(200, b'{"status": "ok"}'), WELL),
        (page(503, b'{"status": "unavailable"}'), DEAD),
        (page(503, b"<h1>Service Unavailable</h1>"), UNWELL),
        (page(502, b"<h1>Bad Gateway</h1>"), UNWELL),
        (page(404, b"Not Found"), ABSENT),
        (page(200, b"", wait_s=60.0), SLOW),
        (Script((), framing="raw", ending="reset", path="/health"), SLOW),
    ],
)
def test_what_a_server_says(script: Script, sign: Sign) -> None:
    with ReplayServer([script]) as server:
        assert health.sign(server.url, 0.3 if sign is SLOW else 30.0, {"Authorization": "Bearer k"}) is sign
        patience_s = time.monotonic() + PATIENCE_S
        while not server.requests():  # who did not wait for the answer has not waited for that either
            assert time.monotonic() < patience_s
            time.sleep(0.01)
        [asked] = server.requests()
    assert (asked.path, asked.headers["authorization"]) == ("/health", "Bearer k")


def test_nobody_listens() -> None:
    with ReplayServer([page(200, b"")]) as server:
        url = server.url
    assert health.sign(url, 30.0) is REFUSED
