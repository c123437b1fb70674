"""How a turn looks to the watch: from what its stream said, from its record, and over the wire."""

import json

import pytest

from locust_agents import records
from locust_agents.answers.stream import StreamReader
from locust_agents.cluster.watch.look import OpenLook
from locust_agents.cluster.watch.turns import ended_look, from_plain, open_look, to_plain, unusual_fields
from locust_agents.outcome import Outcome

WHO = OpenLook("a/0.0", "a/0.0#1", 3, "later", 100.0, 100.5, unusual=("seed 7",))
TOKEN = b'data: {"choices": [{"delta": {"content": "x"}}]}\n\n'


def test_an_open_turn_before_its_headers() -> None:
    assert open_look(WHO, None, StreamReader().answer) == WHO


@pytest.mark.parametrize(
    ("reads", "moved_s", "phase", "steps", "remark"),
    [
        ([], 101.0, "prefill", (None, None), "headers"),
        ([(2.0, b": keepalive 0/900\n\n")], 102.0, "prefill", (0, 900), "served alone, it says so before it begins"),
        ([(2.0, b": keepalive 512/900\n\n")], 102.0, "prefill", (512, 900), "a step"),
        ([(2.0, b": ping\n\n")], 101.0, "prefill", (None, None), "a comment that tells of no work"),
        ([(2.0, b": keepalive 900/900\n\n")], 102.0, "decode", (900, 900), "prefill has ended"),
        ([(2.0, TOKEN), (3.0, TOKEN)], 103.0, "decode", (None, None), "tokens"),
        ([(2.0, TOKEN), (3.0, b": ping\n\n")], 102.0, "decode", (None, None), "tokens, and a comment of no work"),
    ],
)
def test_an_open_turn(
    reads: list[tuple[float, bytes]], moved_s: float, phase: str, steps: tuple[int | None, int | None], remark: str
) -> None:
    reader = StreamReader()
    for at_s, data in reads:
        reader.feed(data, at_s)
    look = open_look(WHO, 1.0, reader.answer)
    assert (look.moved_s, look.phase, (look.prefill_done, look.prefill_total)) == (moved_s, phase, steps), remark
    assert (look.agent, look.started_s, look.unusual) == ("a/0.0", 100.0, ("seed 7",))


def record(**values: object) -> records.TurnRecord:
    fields = {"agent": "a/0.0", "session": "a/0.0#1", "turn": 3, "kind": "later", "outcome": "stalled", "end_s": 9.0}
    return records.from_line(json.dumps(fields | values))


@pytest.mark.parametrize(
    ("values", "moved_s", "phase", "done", "remark"),
    [
        ({}, None, "queue", None, "never answered"),
        ({"headers_s": 1.0}, 92.0, "prefill", None, "headers"),
        (
            {"headers_s": 1.0, "first_progress_s": 2.0, "computed_tokens": 900},
            93.0,
            "prefill",
            900,
            "in mid-prefill, of which a record keeps what was done",
        ),
        ({"headers_s": 1.0, "first_token_s": 4.0, "last_token_s": 8.5}, 99.5, "decode", None, "tokens"),
    ],
)
def test_an_ended_turn(values: dict[str, object], moved_s: float | None, phase: str, done: int, remark: str) -> None:
    end = ended_look(record(sent_s=0.5, **values), 100.0, ("seed 7",))
    assert (end.turn.moved_s, end.turn.phase, end.turn.prefill_done) == (moved_s, phase, done), remark
    assert (end.outcome, end.ended_s, end.turn.started_s, end.turn.sent_s) == (Outcome.STALLED, 100.0, 91.0, 91.5)
    assert (end.turn.agent, end.turn.turn, end.turn.unusual) == ("a/0.0", 3, ("seed 7",))


def test_a_worker_has_another_clock() -> None:
    looks = (WHO, OpenLook("b", "b#0", 0, "first", 90.0, moved_s=95.0, phase="decode"))
    sent = json.loads(json.dumps(to_plain(looks, 110.0)))
    here, there = from_plain(sent, 1010.0)
    assert (here.started_s, here.sent_s, here.moved_s) == (1000.0, 1000.5, None)
    assert (there.started_s, there.sent_s, there.moved_s) == (990.0, None, 995.0)
    assert here.unusual == ("seed 7",)


@pytest.mark.parametrize(
    ("fields", "expected", "remark"),
    [
        ({}, (), "nothing"),
        ({"model": "m", "temperature": 0.7, "stream": True, "max_tokens": 5, "tools": [1]}, (), "what all agents send"),
        ({"model": "other"}, ("model other",), "another model"),
        ({"seed": 7, "logprobs": True}, ("seed 7", "logprobs True"), "both change how it is served"),
        ({"seed": None}, (), "not sent"),
        ({"logit_bias": dict.fromkeys(range(99), 1)}, ("logit_bias {0: 1, 1: 1, 2: 1, 3: 1, 4: 1",), "shortened"),
    ],
)
def test_unusual_fields(fields: dict[str, object], expected: tuple[str, ...], remark: str) -> None:
    assert unusual_fields(fields, "m") == expected, remark
