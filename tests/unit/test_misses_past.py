"""A session's own past: what the next turn is held against, whatever became of the attempts between."""

from typing import Any

from locust_agents.misses.causes import Miss
from locust_agents.misses.expected import Twin
from locust_agents.misses.past import Attempted, Past
from locust_agents.prompts import messages

HEAD = b'{"model":"m","messages":[' + messages.system("Date: 2026-11-30.")
PARTS = (HEAD, messages.user("Fix it."))
LONGER = (*PARTS, messages.assistant("I will."), messages.user("Go on."))


def attempt(
    parts: tuple[bytes, ...], prompt: int | None, cached: int | None, expected: int, **values: Any
) -> Attempted:
    base = {"kind": "later", "epoch": 1, "start": 1000}
    return Attempted(**{**base, "parts": parts, "prompt": prompt, "cached": cached, "expected": expected, **values})


FIRST = attempt(PARTS, 1200, 0, 0, kind="first")


def cause_of(found: Miss | None) -> str | None:
    return None if found is None else found.cause


def judged(*attempts: Attempted) -> Miss | None:
    """What is said of the last one."""
    past = Past()
    return [past.judge(one) for one in attempts][-1]


def test_a_session_that_is_found_again_and_again() -> None:
    assert cause_of(judged(FIRST)) == "first"
    assert judged(FIRST, attempt(LONGER, 1400, 1219, 1220)) is None


def test_the_bytes_are_held_against_the_turn_before() -> None:
    changed = (HEAD.replace(b"11-30", b"12-01"), *LONGER[1:])
    found = judged(FIRST, attempt(changed, 1400, 8, 1220))
    assert found is not None
    assert found.cause == "volatile_text"
    assert "11-30" in found.detail
    assert "12-01" in found.detail
    assert judged(FIRST, attempt(changed, 1400, 8, 1220), attempt(changed, 1500, 1400, 1400)) is None


def test_of_a_first_turn_the_head_is_held_against_another_session_s() -> None:
    other = HEAD.replace(b"11-30", b"12-01")
    first = attempt(PARTS, 1200, 8, 1000, kind="first")
    assert cause_of(judged(first)) is None
    assert cause_of(judged(attempt(PARTS, 1200, 8, 1000, kind="first", head_before=other))) == "volatile_text"
    assert cause_of(judged(attempt(PARTS, 1200, 8, 1000, kind="first", head_before=HEAD))) is None


def test_an_attempt_without_usage_is_no_turn_before() -> None:
    refused = attempt((HEAD.replace(b"11-30", b"12-01"), *LONGER[1:]), None, None, 1220)
    assert judged(FIRST, refused, attempt(LONGER, 1400, 1219, 1220)) is None
    missed = judged(FIRST, refused, attempt(LONGER, 1400, 8, 1220))
    assert missed == Miss(None, "the bytes only grew", 1212)


def test_what_was_left_in_prefill_is_read_again_by_the_next_that_is_answered() -> None:
    left = attempt(LONGER, None, None, 1220, done_tokens=150)
    sooner = attempt(LONGER, None, None, 1220, done_tokens=50)
    answered = attempt(LONGER, 1400, 1219, 1220)
    assert cause_of(judged(FIRST, left, answered)) == "left_in_prefill"
    assert judged(FIRST, left, sooner, answered) == Miss(
        "left_in_prefill", "an attempt that had prefilled 150 tokens was left before its first token", 150
    )
    assert judged(FIRST, left, answered, attempt(LONGER, 1400, 1399, 1400)) is None, "once"


def test_a_prompt_that_was_answered_in_part_says_where_it_was_left() -> None:
    left = attempt(LONGER, None, None, 1220, done_tokens=150, has_token=True)
    found = judged(FIRST, left, attempt(LONGER, 1400, 1219, 1220))
    assert found is not None
    assert found.detail.endswith("was left in its answer")


def test_another_start_of_the_server() -> None:
    assert cause_of(judged(FIRST, attempt(LONGER, 1400, 8, 1220, epoch=2))) == "restart"


def test_a_history_that_was_compacted() -> None:
    asked = attempt((*LONGER, messages.user("Summarise.")), 1500, 1400, 1400, kind="compaction")
    shortened = (HEAD, messages.user("A summary."), messages.user("Go on."))
    assert cause_of(judged(FIRST, asked, attempt(shortened, 1100, 40, 1000))) == "compaction"
    flat = attempt((HEAD.replace(b"Date", b"Task"), messages.user("Summarise all.")), 1500, 8, 1220, kind="compaction")
    assert cause_of(judged(FIRST, flat)) == "compaction"


def test_a_twin() -> None:
    assert cause_of(judged(attempt(PARTS, 1200, 0, 0, kind="first", twin=Twin("b", 1000)))) == "not_stored_yet"
