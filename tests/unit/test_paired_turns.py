"""Which turns of two runs stand for each other, and what is drawn as a whole."""

import json
from math import inf
from typing import Any

import pytest

from locust_agents import records
from locust_agents.compare import paired
from locust_agents.records import TurnRecord


def turn(session: str, number: int, prompt: int = 100, **values: Any) -> TurnRecord:
    base = {"outcome": "ok", "entry": "e", "agent": session[0], "session": session, "turn": number, "attempt": 1}
    return records.from_line(json.dumps({**base, "end_s": 1.0, "prompt_tokens": prompt, **values}))


def sessions(count: int, turns: int, name: str = "s", prompt: int = 100) -> list[TurnRecord]:
    return [turn(f"{name}{session}", number, prompt) for session in range(count) for number in range(turns)]


@pytest.mark.parametrize(
    ("a", "b", "units", "remark"),
    [
        (sessions(12, 3), sessions(12, 3), (12, 12, True), "sessions are pairs"),
        (sessions(12, 3), sessions(12, 3, "x"), (12, 12, False), "other names"),
        (sessions(12, 3), sessions(20, 3), (20, 20, True), "more sessions in B, whose partners are empty"),
        (sessions(12, 3), sessions(40, 3), (12, 40, False), "too few of B's turns correspond"),
        (sessions(4, 50), sessions(4, 50), (20, 20, True), "few sessions of the same work are cut into pieces"),
        (sessions(4, 50), sessions(4, 50, prompt=150), (4, 4, True), "not of other work"),
        (sessions(2, 50), sessions(2, 50), (2, 2, True), "and not of two sessions"),
        (sessions(4, 6), sessions(4, 6), (8, 8, True), "a piece has four turns"),
        (sessions(200, 1), sessions(200, 1), (128, 128, True), "no more units than a byte has codes for both"),
        ([], sessions(3, 1), (0, 3, False), "an entry of B alone"),
    ],
)
def test_design(a: list[TurnRecord], b: list[TurnRecord], units: tuple[int, int, bool], remark: str) -> None:
    found = paired.design(a, b)
    assert (found.units.of_a, found.units.of_b, found.units.paired) == units, remark


def test_codes_tell_runs_apart_and_keep_sessions_together() -> None:
    a, b = sessions(12, 3), sessions(12, 3)
    found = paired.design(a, b)
    assert found.piece_turns == inf
    assert {found.code(one, is_b=False) % 2 for one in a} == {0}
    assert [found.code(one, is_b=False) + 1 for one in a] == [found.code(one, is_b=True) for one in b]
    assert len({found.code(one, is_b=False) for one in a}) == 12


def test_turns_whose_place_is_taken_twice_are_no_pairs() -> None:
    a = [turn("s1", 0), turn("s1", 1), turn("s1", 1, attempt=2)]
    b = [turn("s1", 0), turn("s1", 0), turn("s1", 1), turn("s1", 1, attempt=2)]
    assert [(one.turn, one.attempt) for one, _ in paired.design(a, b).pairs] == [(1, 1), (1, 2)]


def test_pieces_of_a_session_are_drawn_together() -> None:
    found = paired.design(sessions(4, 50), sessions(4, 50))
    assert sorted(map(len, found.units.together)) == [5, 5, 5, 5]
    assert sorted(number for numbers in found.units.together for number in numbers) == list(range(20))
