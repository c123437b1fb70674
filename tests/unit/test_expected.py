"""What the server could have found in its cache."""

import pytest

from locust_agents.misses import expected
from locust_agents.misses.expected import Prefixes, Twin


def test_a_prefix_is_ready_when_its_first_prefill_has_ended() -> None:
    prefixes = Prefixes()
    assert not prefixes.was_ready("opencode", 1e9)
    prefixes.prefilled("opencode", 20.0)
    prefixes.prefilled("opencode", 10.0)
    prefixes.prefilled("opencode", 30.0)
    assert [prefixes.was_ready("opencode", at_s) for at_s in (9.9, 10.0, 10.1)] == [False, True, True]
    assert not prefixes.was_ready("another", 1e9)


STARTS = (("opencode […", 900), ("opencode [a]", 1500))
OTHERS = (("opencode […", 900), ("opencode [b]", 1500))


@pytest.mark.parametrize(
    ("taken_s", "wanted", "remark"),
    [
        (9.9, 0, "nothing was ready"),
        (10.0, 900, "another session's start up to where they differ"),
        (20.0, 1500, "the whole start"),
    ],
)
def test_a_first_turn_expects_the_longest_start_that_was_ready(taken_s: float, wanted: int, remark: str) -> None:
    prefixes = Prefixes()
    prefixes.computed("other", OTHERS, 10.0)
    prefixes.computed("same", STARTS, 20.0)
    assert prefixes.shared(STARTS, taken_s) == wanted, remark


def test_a_start_of_unknown_size_makes_the_expectation_unknown() -> None:
    prefixes = Prefixes()
    prefixes.computed("a", [("p", None)], 1.0)
    assert prefixes.shared([("p", None)], 2.0) is None
    assert prefixes.shared([("q", None)], 2.0) == 0


@pytest.mark.parametrize(
    ("session", "starts", "taken_s", "wanted", "remark"),
    [
        ("b", STARTS, 5.0, Twin("a", 1500), "a is computing it"),
        ("b", OTHERS, 5.0, Twin("a", 900), "as far as they are the same"),
        ("b", (("cline", 700),), 5.0, None, "another start"),
        ("b", STARTS, 0.5, None, "a had not begun"),
        ("b", STARTS, 1.0, None, "a began at that moment"),
        ("a", STARTS, 5.0, None, "nobody is one's own twin"),
        ("b", STARTS, 10.1, Twin("a", 1500), "it ended just before, and may not have been stored"),
        ("b", STARTS, 10.5, None, "it had ended"),
    ],
)
def test_a_twin(session: str, starts: expected.Starts, taken_s: float, wanted: Twin | None, remark: str) -> None:
    prefixes = Prefixes()
    prefixes.taken("a", STARTS, 1.0)
    prefixes.computed("a", STARTS, 10.0)
    assert prefixes.twin(session, starts, taken_s) == wanted, remark


def test_a_twin_that_left_in_prefill_was_one_until_then() -> None:
    prefixes = Prefixes()
    prefixes.taken("a", STARTS, 1.0)
    assert prefixes.twin("b", STARTS, 99.0) == Twin("a", 1500)
    prefixes.over("a", 7.0)
    assert [prefixes.twin("b", STARTS, at_s) for at_s in (6.9, 7.3)] == [Twin("a", 1500), None]


def test_of_a_start_that_is_ready_nobody_is_a_twin() -> None:
    prefixes = Prefixes()
    prefixes.computed("a", STARTS, 1.0)
    prefixes.taken("b", STARTS, 2.0)
    assert prefixes.twin("c", STARTS, 3.0) is None


def test_prefills_of_a_long_run_are_forgotten() -> None:
    prefixes = Prefixes()
    for number in range(1000):
        prefixes.taken(f"{number}", STARTS, number)
    assert prefixes.twin("x", STARTS, 1.0) is None
    assert prefixes.twin("x", STARTS, 1001.0) is not None


def test_the_head_of_the_profile_s_request_before() -> None:
    prefixes = Prefixes()
    heads = [prefixes.head_before(name, head) for name, head in [("p", b"1"), ("q", b"2"), ("p", b"3"), ("p", b"3")]]
    assert heads == [None, None, b"1", b"3"]


@pytest.mark.parametrize(
    ("preamble_tokens", "was_ready", "wanted", "remark"),
    [
        (1500, True, 1500, "the shared start"),
        (1500, False, 0, "a twin is still computing it, or nobody has begun"),
        (None, False, 0, "nothing to be found, whatever its size"),
        (None, True, None, "there is something, of unknown size"),
    ],
)
def test_a_first_turn(preamble_tokens: int | None, was_ready: bool, wanted: int | None, remark: str) -> None:
    prefixes, starts = Prefixes(), (("opencode", preamble_tokens),)
    if was_ready:
        prefixes.computed("another", starts, 1.0)
    assert prefixes.shared(starts, 2.0) == wanted, remark


@pytest.mark.parametrize(
    ("prompt", "completion", "kept", "wanted", "remark"),
    [
        (100, 20, True, 120, "live: prompt and answer"),
        (100, 20, False, 100, "scripted, or not ended properly: the prompt"),
        (100, None, True, 100, "the answer's size is not known"),
        (None, None, True, None, "nothing is known"),
        (None, 20, True, None, "an answer without its prompt says nothing"),
    ],
)
def test_a_later_turn(prompt: int | None, completion: int | None, kept: bool, wanted: int | None, remark: str) -> None:
    assert expected.continued(prompt, completion, kept) == wanted, remark
