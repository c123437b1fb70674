"""Numbers and turns that a master hands out: exact, however Locust spreads the slots and whoever goes."""

import random

import pytest

from locust_agents.grants import Grants
from locust_agents.seats import Seat, Seats, Wish


def numbers(*told: dict[int, Seat]) -> list[tuple[str, int]]:
    return sorted((seat.entry, seat.number) for seats in told for seat in seats.values())


def test_one_process_counts_as_its_slots_come() -> None:
    slots: dict[int, Wish] = {0: ("a", 0.0), 1: ("b", 0.0), 2: ("a", 0.0), 3: ("b", 30.0)}
    assert Seats().tell("", slots) == {
        0: Seat("a", 0, 0),
        1: Seat("b", 0, 1),
        2: Seat("a", 1, 2),
        3: Seat("b", 1, 0),
    }


@pytest.mark.parametrize(
    ("spread", "remark"),
    [
        (["aaaa", ""], "all on one worker"),
        (["aaa", "a"], "uneven"),
        (["ab", "ab"], "even"),
        (["aaaa", "bbbb"], "each worker has one entry, as Locust deals two entries to two workers"),
        (["a", "b", "ab"], "three"),
    ],
)
def test_numbers_have_no_gap(spread: list[str], remark: str) -> None:
    seats, told = Seats(), []
    for worker, entries in enumerate(spread):
        told.append(seats.tell(f"worker {worker}", {slot: (entry, 0.0) for slot, entry in enumerate(entries)}))
    everybody = "".join(spread)
    wanted = [(entry, number) for entry in "ab" for number in range(everybody.count(entry))]
    assert numbers(*told) == wanted, remark
    assert sorted(seat.place for one in told for seat in one.values()) == list(range(len(everybody)))


def test_told_again_they_stay_as_they_are() -> None:
    seats, slots = Seats(), {0: ("a", 0.0), 1: ("a", 0.0)}
    first = seats.tell("one", slots)
    seats.tell("two", {0: ("a", 0.0)})
    assert seats.tell("one", slots) == first


def test_who_left_is_followed_by_the_next() -> None:
    seats = Seats()
    seats.tell("one", {0: ("a", 0.0), 1: ("a", 0.0)})
    seats.tell("two", {0: ("a", 0.0)})
    seats.tell("one", {1: ("a", 0.0)})
    assert numbers(seats.tell("two", {0: ("a", 0.0), 1: ("a", 0.0)})) == [("a", 0), ("a", 2)]


def test_the_seats_of_a_worker_that_is_gone_are_free() -> None:
    seats = Seats()
    seats.tell("one", {0: ("a", 0.0), 1: ("a", 0.0)})
    seats.tell("two", {0: ("a", 0.0)})
    assert seats.numbers() == {"a": [0, 1, 2]}
    seats.keep_only({"two", "three"})
    assert seats.numbers() == {"a": [2]}
    assert numbers(seats.tell("three", {7: ("a", 0.0)})) == [("a", 0)]
    assert (seats.slots("one"), seats.slots("two")) == (0, 1)


@pytest.mark.parametrize("seed", range(20))
def test_all_turns_are_started_and_no_more(seed: int) -> None:
    """Workers with few slots or none, which ask now and then, start exactly what there is together."""
    rng, turns = random.Random(seed), random.Random(seed).choice([1, 2, 7, 100])
    grants, slots = Grants(turns), {"one": rng.randrange(4), "two": rng.randrange(1, 4), "three": 0}
    started, granted = dict.fromkeys(slots, 0), dict.fromkeys(slots, 0)
    for _ in range(5000):
        worker = rng.choice(list(slots))
        if rng.random() < 0.5:
            granted[worker] = grants.ask(worker, started[worker], slots[worker])
        elif slots[worker] and started[worker] < granted[worker]:
            started[worker] += 1
    assert sum(started.values()) == turns
    assert grants.left == 0


def test_a_grant_is_never_taken_back() -> None:
    grants = Grants(10)
    assert grants.ask("one", 0, 2) == 4
    assert grants.ask("one", 1, 0) == 4


def test_what_a_lost_worker_did_not_start_goes_to_the_others() -> None:
    grants = Grants(5)
    assert grants.ask("one", 0, 2) == 4
    assert grants.ask("two", 0, 2) == 1
    grants.ask("one", 1, 2)
    grants.keep_only({"two"})
    assert grants.left == 3
    assert grants.ask("two", 1, 2) == 4
