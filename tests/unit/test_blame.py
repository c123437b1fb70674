"""What only the writer of turns.jsonl can blame: who stored what since, how much the cache holds, whom workers ran."""

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

import pytest

from locust_agents import records
from locust_agents.cluster.options.cache_entries import PromptCache
from locust_agents.misses.blame import Blamer, OpenTurn
from locust_agents.records import TurnRecord

START = 1000
FOUR = PromptCache(entries=4, trimmable=True)
HYBRID = PromptCache(entries=10, trimmable=False)


def turn(session: str, at: float, prompt: int, cached: int, expected: int, **values: Any) -> TurnRecord:
    """An ok turn that was taken 0.1 s after its start, prefilled at 0.3 s and over after a second; 20 tokens long."""
    base = {"outcome": "ok", "kind": "later", "entry": "e", "profile": "p", "epoch": 1, "end_s": 1.0, "headers_s": 0.1}
    base |= {"prefill_end_s": 0.3, "first_token_s": 0.4, "completion_tokens": 20, "finish_reason": "stop", "turn": 1}
    base |= {"session": session, "wall_time": at, "prompt_tokens": prompt, "cached_tokens": cached}
    return records.from_line(json.dumps({**base, "expected_tokens": expected, **values}))


def first(session: str, at: float, cached: int = START, **values: Any) -> TurnRecord:
    return turn(session, at, 1200, cached, START, **{"kind": "first", "turn": 0, **values})


def rounds(agents: int, times: int, cached: int | None = None) -> list[TurnRecord]:
    """Agents that take turns, each of 100 new tokens; `cached` None finds everything."""
    made = []
    for number in range(times):
        for agent in range(agents):
            at, prompt = 10.0 * number + agent, 1200 + 120 * number
            expected = START if number == 0 else prompt - 100
            found = START if number == 0 else expected if cached is None else cached
            made.append(turn(f"s{agent}", at, prompt, found, expected, kind="later" if number else "first"))
    return made


def causes(blamer: Blamer, turns: Sequence[TurnRecord]) -> list[str | None]:
    return [blamer.take(one).miss for one in turns]


def test_what_was_found_is_left_as_it_is() -> None:
    turns = rounds(agents=4, times=3)
    blamer = Blamer(FOUR, {"p": START})
    assert [blamer.take(one) for one in turns] == turns


def test_more_agents_than_the_cache_holds() -> None:
    turns = rounds(agents=5, times=3, cached=START)
    blamer = Blamer(FOUR, {"p": START})
    found = [blamer.take(one) for one in turns][5:]
    assert {one.miss for one in found} == {"evicted"}
    assert found[-1].miss_detail == "the cache holds 4 entries, and 4 of other sessions came since"


def test_as_many_agents_as_the_cache_holds_are_no_reason() -> None:
    turns = rounds(agents=4, times=2, cached=START)
    assert set(causes(Blamer(FOUR, {"p": START}), turns)[4:]) == {"unexplained"}


def test_one_agent_that_takes_many_turns_fills_one_entry() -> None:
    mine = turn("me", 0.0, 1200, START, START)
    others = [turn("s", 2.0 * number, 1200 + 120 * number, 1200 + 120 * number - 100, 0) for number in range(1, 9)]
    blamer = Blamer(FOUR, {"p": START})
    assert causes(blamer, [mine, *others, turn("me", 30.0, 1400, START, 1220)])[-1] == "unexplained"


def test_turns_whose_answers_were_not_sent_back_fill_an_entry_each() -> None:
    mine = turn("me", 0.0, 1200, START, START)
    scripted = [turn("s", 2.0 * number, 1200 + 120 * number, 1080 + 120 * number, 0) for number in range(1, 6)]
    blamer = Blamer(FOUR, {"p": START})
    assert causes(blamer, [mine, *scripted, turn("me", 30.0, 1400, START, 1220)])[-1] == "evicted"


def test_what_was_stored_while_the_turn_was_computed_came_too_late_to_evict_it() -> None:
    mine = turn("me", 0.0, 1200, START, START)
    others = [turn(f"s{number}", 20.0 + number / 10, 1200, START, START) for number in range(6)]
    slow = turn("me", 15.0, 1400, START, 1220, end_s=20.0)
    assert causes(Blamer(FOUR, {"p": START}), [mine, *others, slow])[-1] == "unexplained"


def test_a_first_turn_whose_start_nobody_has_any_more() -> None:
    others = [turn(f"s{number}", 2.0 + number, 1200, 900, 900, profile="q") for number in range(4)]
    turns = [first("a", 0.0), *others, first("b", 20.0, cached=4)]
    assert causes(Blamer(FOUR, {"p": START, "q": 900}), turns)[-1] == "evicted"
    assert causes(Blamer(FOUR, {"p": START, "q": 900}), [*turns[:3], turns[-1]])[-1] == "unexplained"


def test_a_cache_that_cannot_be_cut_back() -> None:
    turns = rounds(agents=8, times=2, cached=START)
    assert causes(Blamer(HYBRID, {"p": START}), turns[8:])[0] == "unexplained", "nothing was stored yet"
    assert set(causes(Blamer(HYBRID, {"p": START}), turns)[8:]) == {"untrimmable"}


def test_a_window_is_no_hindrance_until_it_is_full() -> None:
    windowed = dataclasses.replace(HYBRID, window_tokens=1200)
    turns = rounds(agents=8, times=2, cached=START)
    assert windowed.can_be_cut(1199)
    assert set(causes(Blamer(windowed, {"p": START}), turns)[8:]) == {"untrimmable"}
    wide = dataclasses.replace(HYBRID, window_tokens=4096)
    assert set(causes(Blamer(wide, {"p": START}), turns)[8:]) == {"unexplained"}, "seven entries of ten"


def test_a_template_that_writes_the_answer_otherwise() -> None:
    turns = [first("a", 0.0), turn("a", 2.0, 1320, 1199, 1220), turn("a", 4.0, 1440, 1319, 1340)]
    assert causes(Blamer(FOUR, {"p": START}), turns) == [None, "template", "template"]


def test_what_the_agents_process_said_stands() -> None:
    changed = turn("a", 2.0, 1320, 4, 1220, miss="volatile_text", miss_detail="system, byte 7")
    blamer = Blamer(FOUR, {"p": START})
    assert causes(blamer, [first("a", 0.0)])
    assert blamer.take(changed) is changed


def test_what_it_said_beside_is_kept() -> None:
    remark = "message 3 (user), byte 7: “a” became “b”, but of some 1,100 tokens ahead of it 4 were found"
    blamer = Blamer(FOUR, {"p": START})
    blamer.take(first("a", 0.0))
    found = blamer.take(turn("a", 2.0, 1320, 4, 1220, miss_detail=remark))
    assert found.miss == "unexplained"
    assert found.miss_detail == f"{remark}, 0 entries came since, for a cache of 4"


def test_a_new_start_of_the_server_has_an_empty_cache() -> None:
    turns = [*rounds(agents=5, times=1), first("n", 20.0, epoch=2), turn("n", 22.0, 1320, START, 1220, epoch=2)]
    late = turn("s0", 23.0, 1320, START, 1220)
    blamer = Blamer(FOUR, {"p": START})
    assert causes(blamer, turns)[-1] == "unexplained"
    assert blamer.take(late) is late, "a line of the start before"


@pytest.mark.parametrize(
    ("taken_s", "wanted", "remark"),
    [(0.05, "first", "before its twin"), (0.2, "not_stored_yet", "beside it"), (0.6, "first", "after it had ended")],
)
def test_a_twin_of_another_worker(taken_s: float, wanted: str, remark: str) -> None:
    twin = first("a", 100.0, cached=0, worker=0, miss="first", expected_tokens=0)
    mine = first("b", 100.0, cached=0, worker=1, miss="first", expected_tokens=0, headers_s=taken_s)
    assert causes(Blamer(FOUR, {"p": START}), [twin, mine]) == ["first", wanted], remark


@pytest.mark.parametrize(
    ("open_turn", "wanted", "remark"),
    [
        (OpenTurn("b", "e", 99.9), "not_stored_yet", "it was sent before"),
        (OpenTurn("b", "e", 100.5), "first", "it was sent after"),
        (OpenTurn("b", "f", 99.9), "first", "of another entry"),
        (OpenTurn("a", "e", 99.9), "first", "itself"),
    ],
)
def test_a_twin_that_is_still_in_prefill(open_turn: OpenTurn, wanted: str, remark: str) -> None:
    mine = first("a", 100.0, cached=0, miss="first", expected_tokens=0)
    assert Blamer(FOUR, {"p": START}).take(mine, [open_turn]).miss == wanted, remark


def test_the_log_that_never_saw_the_cache_full_rules_eviction_out() -> None:
    turns = rounds(agents=5, times=2, cached=START)
    blamer = Blamer(FOUR, {"p": START})
    blamer.heard(2, {"assistant": (2, 0.1), "user": (0, 0.0), "system": (0, 0.0)})
    slow = dataclasses.replace(turns[-1], end_s=4.0)
    assert causes(blamer, [*turns[:-1], slow])[-1] == "unexplained"
    assert causes(Blamer(FOUR, {"p": START}), [*turns[:-1], slow])[-1] == "evicted", "without a log"
    blamer.heard(4, {"assistant": (4, 0.1), "user": (0, 0.0), "system": (0, 0.0)})
    assert causes(blamer, rounds(agents=5, times=3, cached=START)[10:])[-1] == "evicted"


def test_prompts_of_turns_under_way_take_their_place_too() -> None:
    turns = rounds(agents=3, times=2, cached=START)
    blamer = Blamer(FOUR, {"p": START})
    assert causes(blamer, turns)[-1] == "unexplained"
    blamer = Blamer(FOUR, {"p": START})
    blamer.heard(4, {"assistant": (2, 0.1), "user": (2, 0.1), "system": (0, 0.0)})
    assert causes(blamer, turns)[-1] == "evicted"


def test_of_a_server_that_is_not_ours_the_log_tells_how_much_it_holds() -> None:
    turns = rounds(agents=8, times=2, cached=START)
    blamer = Blamer(PromptCache(), {"p": START})
    assert causes(blamer, turns)[-1] == "unexplained"
    blamer = Blamer(PromptCache(), {"p": START})
    blamer.heard(4, {"assistant": (4, 0.1)})
    found = [blamer.take(one) for one in turns][-1]
    assert (found.miss, found.miss_detail) == (
        "evicted",
        "the cache holds 4 entries, and 7 of other sessions came since",
    )


def test_it_hears_what_is_noted_of_the_log_and_passes_it_on() -> None:
    noted: list[tuple[str, Any]] = []
    blamer = Blamer(PromptCache(), {"p": START})
    note = blamer.listening(lambda event, fields: noted.append((event, fields)))
    told: list[tuple[str, dict[str, Any]]] = [
        ("cache", {"sequences": 4, "size_gb": 0.1, "by_type": {"assistant": (4, 0.1)}}),
        ("memory", {"used": 5}),
    ]
    for event, fields in told:
        note(event, fields)
    assert noted == told
    assert causes(blamer, rounds(agents=8, times=2, cached=START))[-1] == "evicted"


def test_a_limit_in_bytes_shows_in_the_log() -> None:
    turns = rounds(agents=8, times=2, cached=START)
    limited = PromptCache(entries=20, has_byte_limit=True, trimmable=True)
    assert causes(Blamer(limited, {"p": START}), turns)[-1] == "unexplained"
    blamer = Blamer(limited, {"p": START})
    blamer.heard(3, {"assistant": (3, 2.0)})
    assert causes(blamer, turns)[-1] == "evicted"


@pytest.mark.parametrize("values", [{"cached_tokens": None}, {"expected_tokens": None}])
def test_nothing_is_said_where_nothing_is_known(values: dict[str, Any]) -> None:
    record = turn("a", 0.0, 1320, 0, 1220, **values)
    assert Blamer(FOUR).take(record) is record


def test_turns_that_the_server_never_took_change_nothing() -> None:
    refused = turn("s", 5.0, 0, 0, 0, outcome="refused", headers_s=None, prompt_tokens=None, cached_tokens=None)
    turns = [first("a", 0.0), *[dataclasses.replace(refused, session=f"s{n}") for n in range(9)]]
    assert causes(Blamer(FOUR, {"p": START}), [*turns, turn("a", 9.0, 1320, START, 1220)])[-1] == "unexplained"


def test_a_long_run_is_not_kept() -> None:
    blamer = Blamer(FOUR, {"p": START})
    for number in range(6000):
        blamer.take(first(f"s{number}", float(number)))
    assert len(blamer._sessions) <= 4096
    assert len(blamer._turns._turns) <= 2048
