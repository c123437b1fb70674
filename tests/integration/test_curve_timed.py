"""Prompts timed on a clock that is fast-forwarded, exactly, and on a real server, whose cache must stay cold."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from locust_agents.cluster import supervisor
from locust_agents.cluster.launch_spec import LaunchSpec
from locust_agents.cluster.replay import Script, chat_stream
from locust_agents.cluster.supervisor import Cluster
from locust_agents.cluster.tiny import model
from locust_agents.forecast import last_curve
from locust_agents.forecast.prefill_curve import Curve, Speed, through
from locust_agents.locustfiles import calibration, curve
from locust_agents.locustfiles.asking import Peer
from locust_agents.locustfiles.curve import Timing
from locust_agents.locustfiles.transport import resolve
from locust_agents.plan import MODEL
from locust_agents.plugins import registry
from locust_agents.prompts.sizing import Calibration
from tests.integration.fast_clock import playing
from tests.patience import PATIENCE_S

EXACT = Calibration("", measured=True)
Notes = list[tuple[str, Mapping[str, Any]]]
NOWHERE = "http://127.0.0.1:9"  # every connection is played


def peer(url: str) -> Peer:
    return Peer(resolve(url), MODEL)


def answer(tokens: int, prefill_s: float, headers_s: float = 0.0, cached: int = 0) -> Script:
    """One token of an answer to a prompt of so many tokens, as mlx_lm.server times it."""
    end_s = headers_s + prefill_s
    step = (tokens - cached, tokens - cached, end_s - 0.01)
    usage = (tokens, cached, 1)
    return chat_stream(["a"], end_s, 0, headers_s=headers_s, prefill=[step], usage=usage, finish="length")


REFUSED = Script(((0.0, b'{"error": "too long"}'),), status=404, headers={"Content-Type": "application/json"})
TEN_A_SECOND = chat_stream([*"abcdefghij"], 0.1, 0.1, usage=(60, 0, 10), finish="length")
LONG_S, SHORT_S = 1.2, 0.2  # above and below what is timed twice


def timed(*scripts: Script, sizes: tuple[int, ...], **more: Any) -> tuple[Curve | None, Notes, list[bytes]]:
    notes: Notes = []
    with playing(*scripts) as clock:
        timing = Timing(peer(NOWHERE), EXACT, lambda *note: notes.append(note), **more)
        found = curve.measure(timing, sizes)
        return found, notes, [bytes(request).partition(b"\r\n\r\n")[2] for request in clock.requests]


def words(body: bytes) -> str:
    (message,) = json.loads(body)["messages"]
    return str(message["content"])


def test_prefill_is_from_headers_to_the_first_token_of_what_was_computed() -> None:
    made, notes, bodies = timed(answer(1000, LONG_S, headers_s=0.6, cached=40), sizes=(900,))
    assert made is not None
    ((tokens, took_s),) = made.points
    assert tokens == 960
    assert took_s == pytest.approx(LONG_S)
    assert [event for event, _ in notes] == ["timing"]
    assert json.loads(bodies[0])["max_tokens"] == 1
    assert (json.loads(bodies[0])["stream"], json.loads(bodies[0])["model"]) == (True, MODEL)
    assert len(words(bodies[0])) * EXACT.tokens_per_char == pytest.approx(900 - 9, abs=5)


def test_a_short_prompt_is_timed_twice_and_the_shorter_counts() -> None:
    made, _, bodies = timed(answer(100, 0.6), answer(101, SHORT_S), answer(9, 9), sizes=(100,))
    assert made is not None
    assert [tokens for tokens, _ in made.points] == [101]
    assert len(bodies) == 2


def test_no_two_prompts_begin_alike() -> None:
    _, _, bodies = timed(answer(100, SHORT_S), sizes=(100, 200, 300))
    openings = [words(body)[:20] for body in bodies]
    assert len(openings) == len(set(openings)) == 6


def test_sizes_go_up_and_what_would_take_too_long_is_made_smaller() -> None:
    made, notes, _ = timed(answer(1000, LONG_S), answer(2500, LONG_S), sizes=(9_000_000, 1000), within_s=LONG_S + 2.0)
    asked = [fields["wanted_tokens"] for _, fields in notes]
    assert asked[0] == 1000
    assert 1200 < asked[1] < 2500
    assert made is not None
    assert len(made.points) == 2


@pytest.mark.parametrize("budget_s", [0.1, 2.05 * LONG_S])
def test_a_size_that_the_budget_makes_like_the_one_before_is_left_out(budget_s: float) -> None:
    made, notes, _ = timed(answer(1000, LONG_S), sizes=(1000, 2000), within_s=budget_s)
    assert [fields["wanted_tokens"] for _, fields in notes] == [1000]
    assert made is not None


# duration, budget
@pytest.mark.parametrize(("duration_s", "budget_s"), [(None, 60), (10, 5), (300, 30), (86_400, 60)])
def test_budget(duration_s: float | None, budget_s: float) -> None:
    assert curve.budget_s(duration_s) == budget_s


# remark, scripts, points
FAILING: list[tuple[str, tuple[Script, ...], int]] = [
    ("a prompt that is refused", (answer(100, LONG_S), REFUSED), 1),
    ("all are refused", (REFUSED,), 0),
    ("the server closes at once", (Script((), framing="raw"),), 0),
    ("HTML", (Script(((0.0, b"<html>"),)),), 0),
]


@pytest.mark.parametrize(("scripts", "points"), [pytest.param(*row[1:], id=row[0]) for row in FAILING])
def test_what_fails_is_noted_and_never_raised(scripts: tuple[Script, ...], points: int) -> None:
    made, notes, _ = timed(*scripts, sizes=(100, 200))
    assert (0 if made is None else len(made.points)) == points
    assert len([fields for _, fields in notes if fields["error"]]) == 2 - points
    json.dumps(notes)


@pytest.mark.parametrize(("usage", "tokens"), [((1000, 40, 1), 960), (None, 700)])
def test_without_comments_usage_counts_and_else_the_wanted_size(
    usage: tuple[int, int, int] | None, tokens: int
) -> None:
    made, _, _ = timed(chat_stream(["a"], LONG_S, 0, usage=usage, finish="length"), sizes=(700,))
    assert made is not None
    assert made.points[0][0] == tokens


def test_speed_is_noted_so_that_a_later_check_finds_it() -> None:
    notes: Notes = []
    said: list[str] = []
    with playing(answer(500, LONG_S), TEN_A_SECOND) as clock:
        asked = Peer(resolve(NOWHERE), MODEL, {"Authorization": "Bearer x"})
        found = curve.speed(Timing(asked, EXACT, lambda *note: notes.append(note), said.append), (500,))
        assert len(clock.requests) == 2
        assert all(b"\r\nAuthorization: Bearer x\r\n" in request for request in clock.requests)
    assert found.decode_tok_s == pytest.approx(10)
    event, fields = notes[-1]
    assert event == last_curve.EVENT
    assert found == Speed(through([(tokens, took_s) for tokens, took_s in fields["points"]]), fields["decode_tok_s"])
    assert said[0] == "timing a prompt of 500 tokens"
    assert said[-1].startswith("prefill timed: 500 tokens 1.20 s")


# remark, answer to both tries
UNTOLD: list[tuple[str, Script]] = [
    ("one token tells no speed", chat_stream(["a"], 0.1, 0.1, usage=(60, 0, 1))),
    ("nobody counts", chat_stream([*"abc"], 0.1, 0.1)),
    ("refused", REFUSED),
    ("all in one piece", chat_stream([*"abc"], 0.1, 0.0, usage=(60, 0, 3), finish="length")),
]


@pytest.mark.parametrize("script", [pytest.param(row[1], id=row[0]) for row in UNTOLD])
def test_no_decode_speed(script: Script) -> None:
    with playing(script) as clock:
        assert curve.decode_speed(Timing(peer(NOWHERE), EXACT, lambda *_: None)) is None
        assert len(clock.requests) == 2


def test_a_second_try_tells_the_decode_speed() -> None:
    with playing(UNTOLD[-1][1], TEN_A_SECOND):
        assert curve.decode_speed(Timing(peer(NOWHERE), EXACT, lambda *_: None)) == pytest.approx(10)


def test_nothing_is_noted_of_a_server_that_answers_nothing() -> None:
    notes: Notes = []
    with playing(REFUSED):
        timing = Timing(peer(NOWHERE), EXACT, lambda *note: notes.append(note))
        assert curve.speed(timing, (500,)) == Speed()
    assert [event for event, _ in notes] == ["timing"]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    spec = LaunchSpec("tiny", options={"prefill-step-size": 256}, ready_s=PATIENCE_S)
    folder = tmp_path_factory.mktemp("timed")
    made = supervisor.start(spec, model.ensure("tiny", print), folder, lambda _: None, lambda *_: None)
    try:
        yield made
    finally:
        made.stop()


def asked_for(url: str, calibrated: Calibration) -> Notes:
    notes: Notes = []
    made = curve.measure(Timing(peer(url), calibrated, lambda *note: notes.append(note)), (150, 300, 900))
    assert made is not None
    return notes


def test_a_real_server_computes_every_prompt_whole_at_its_size(cluster: Cluster) -> None:
    profiles = [(registry.profile("opencode"), 0.05)]
    calibrated = calibration.measure(peer(cluster.url), profiles, "", lambda *_: None)
    for _ in range(2):  # a second run on the same server, its cache kept, times the same
        timings = [fields for _, fields in asked_for(cluster.url, calibrated)]
        assert {fields["outcome"] for fields in timings} == {"ok"}
        for fields in timings:
            assert fields["computed_tokens"] == pytest.approx(fields["wanted_tokens"], rel=0.03, abs=25)
