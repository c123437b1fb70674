"""The search for capacity, with made-up judges: monotone, noisy, contradictory, and at its ends."""

from collections.abc import Callable
from random import Random

import pytest

from locust_agents.capacity import search as capacity
from locust_agents.capacity.search import Found, Verdict

KEEPS, BREAKS, UNDECIDED = Verdict.KEEPS, Verdict.BREAKS, Verdict.UNDECIDED
Judge = Callable[[int], Verdict]


def search(lowest: int, highest: int, judge: Judge) -> tuple[list[int], Found]:
    known: dict[int, Verdict] = {}
    while (value := capacity.next_value(lowest, highest, known)) is not None:
        assert value not in known, "a value is tried once"
        assert lowest <= value <= highest
        known[value] = judge(value)
        assert len(known) <= capacity.most_steps(lowest, highest)
    return list(known), capacity.found(known)


def until(threshold: int, first_noisy: int | None = None) -> Judge:
    """Keeps up to the threshold, but for those from `first_noisy` up to it, which nobody can call."""

    def judge(value: int) -> Verdict:
        if value > threshold:
            return BREAKS
        return UNDECIDED if first_noisy is not None and value >= first_noisy else KEEPS

    return judge


@pytest.mark.parametrize("highest", range(2, 61))
def test_a_monotone_judge_is_found_out_exactly(highest: int) -> None:
    for lowest in range(1, highest):
        for threshold in range(lowest - 1, highest + 1):
            _, found = search(lowest, highest, until(threshold))
            assert found.keeps == (None if threshold < lowest else threshold)
            assert found.breaks == (None if threshold == highest else max(threshold + 1, lowest))
            assert found.undecided == found.odd == ()


# the judge, what is tried in which order, what is found
STORIES: list[tuple[str, Judge, list[int], Found]] = [
    ("doubled, then halved", until(6), [1, 2, 4, 8, 6, 7], Found(6, 7, (), ())),
    ("the smallest breaks: nothing else is tried", until(0), [1], Found(None, 1, (), ())),
    ("the largest keeps: nobody knows what breaks", until(32), [1, 2, 4, 8, 16, 32], Found(32, None, (), ())),
    ("an undecided one has its neighbours tried", until(6, 6), [1, 2, 4, 8, 6, 5, 7], Found(5, 7, (6,), ())),
    ("an undecided one on the way up is passed", until(5, 4), [1, 2, 4, 8, 3, 6, 5], Found(3, 6, (4, 5), ())),
    ("the smallest is undecided", until(1, 1), [1, 2], Found(None, 2, (1,), ())),
    (
        "all are undecided",
        lambda _: UNDECIDED,
        [1, 2, 4, 8, 16, 32],
        Found(None, None, (1, 2, 4, 8, 16, 32), ()),
    ),
    (
        "6 keeps and 3 does not: the smaller one is believed",
        lambda value: {4: UNDECIDED, 3: BREAKS, 8: BREAKS}.get(value, KEEPS),
        [1, 2, 4, 8, 3],
        Found(2, 3, (), ()),
    ),
]


@pytest.mark.parametrize(("judge", "tried", "found"), [pytest.param(*row[1:], id=row[0]) for row in STORIES])
def test_stories(judge: Judge, tried: list[int], found: Found) -> None:
    assert search(1, 32, judge) == (tried, found)


def test_one_that_keeps_above_one_that_breaks_is_odd_and_not_the_answer() -> None:
    known = {1: KEEPS, 2: KEEPS, 4: UNDECIDED, 6: KEEPS, 8: BREAKS, 3: BREAKS}
    assert capacity.found(known) == Found(2, 3, (), (6,))


@pytest.mark.parametrize("seed", range(300))
def test_whatever_a_judge_says_the_steps_are_bounded_and_what_is_found_was_measured(seed: int) -> None:
    random = Random(seed)
    lowest = random.randint(1, 40)
    highest = lowest + random.randint(1, 3000)
    said: dict[int, Verdict] = {}

    def judge(value: int) -> Verdict:
        said[value] = random.choice([KEEPS, BREAKS, UNDECIDED])
        return said[value]

    _, found = search(lowest, highest, judge)
    assert found.keeps is None or said[found.keeps] is KEEPS
    assert found.breaks is None or said[found.breaks] is BREAKS
    assert found.keeps is None or found.breaks is None or found.keeps < found.breaks


def test_large_values_are_found_within_a_thirty_second_part() -> None:
    tried, found = search(1024, 65536, until(23_456))
    assert found.keeps is not None
    assert found.breaks is not None
    assert found.keeps <= 23_456 < found.breaks <= found.keeps * 33 / 32
    assert len(tried) <= 13
