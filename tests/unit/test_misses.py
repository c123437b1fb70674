"""Why tokens were read again: one cause, the first whose evidence is there and explains what is missing."""

from typing import Any

import pytest

from locust_agents.misses import causes
from locust_agents.misses.causes import Evidence, decide, own
from locust_agents.misses.changed import Change
from locust_agents.misses.expected import Twin


def change(part: int, share: float = 0.0) -> Change:
    kind = "history_rewritten" if part else "volatile_text"
    return Change(part, 7, f"message {part} (user)" if part else "system", "old", "new", kind, share)  # type: ignore[arg-type]


# A later turn of a session whose last prompt had 3,000 tokens and an answer of 60, on a start of 1,500.
LATER: dict[str, Any] = {"prompt": 3300, "cached": 3060, "expected": 3060, "start": 1500, "prompt_before": 3000}
LATER |= {"epoch": 1, "epoch_before": 1, "prompts": (1700, 2400, 3000), "is_trimmable": True}
LATER |= {"entries": 10, "newer": 3, "turns_since": 3}
FIRST: dict[str, Any] = {"prompt": 1700, "cached": 0, "expected": 0, "start": 1500, "is_trimmable": True, "entries": 10}


@pytest.mark.parametrize(
    ("values", "remark"),
    [
        ({}, "all was found"),
        ({"cached": 3059}, "mlx_lm never takes the last token"),
        ({"cached": 3044}, "the seam between old and new"),
        ({"cached": 3200}, "more than was expected"),
        ({"cached": None}, "the server does not tell"),
        ({"expected": None}, "nobody counted"),
        ({"change": change(0)}, "bytes changed and it was found all the same"),
        ({"cached": 3060, "expected": 3060, "twin": Twin("b", 1500)}, "a twin of the start is no matter here"),
        (FIRST | {"expected": 1500, "cached": 1471, "prompt_before": None}, "a calibrated start is right to 2 %"),
        (FIRST | {"cached": 1490, "prompt_before": None}, "another worker had computed it"),
        (FIRST | {"cached": 1490, "prompt_before": None, "twin": Twin("b", 1500)}, "and its twin had ended"),
    ],
)
def test_no_miss(values: dict[str, Any], remark: str) -> None:
    assert decide(Evidence(**{**LATER, **values})) is None, remark


@pytest.mark.parametrize(
    ("values", "cause", "tokens", "remark"),
    [
        ({"cached": 3043, "prompts": ()}, "unexplained", 17, "one token more than the seam"),
        ({"cached": 4, "epoch": 2}, "restart", 3056, "another start of the server"),
        ({"cached": 4, "epoch": 2, "newer": 50, "change": change(0)}, "restart", 3056, "goes before all else"),
        ({"cached": 1500, "is_compacted": True, "change": change(1)}, "compaction", 1560, "a summary took its place"),
        ({"cached": 1500, "is_compacted": True}, "unexplained", 1560, "compacted, and no byte changed"),
        ({"cached": 6, "change": change(0)}, "volatile_text", 3054, "in the system text"),
        ({"cached": 1400, "change": change(0)}, "volatile_text", 1660, "at the end of the start"),
        ({"cached": 2300, "change": change(3, 0.6)}, "history_rewritten", 760, "found up to there"),
        ({"cached": 2900, "change": change(9, 1.0)}, "history_rewritten", 160, "only the end of it"),
        ({"cached": 2400, "change": change(0)}, "unexplained", 660, "a changed head with a history that was found"),
        ({"cached": 6, "change": change(9, 0.9)}, "unexplained", 3054, "the last message does not cost the whole"),
        ({"cached": 6, "change": change(9, 0.9), "newer": 12}, "evicted", 3054, "what cost it is another thing"),
        ({"cached": 1503, "newer": 10}, "evicted", 1557, "nothing of its own is left"),
        ({"cached": 1503, "newer": 8, "beside": 2}, "evicted", 1557, "turns under way hold entries too"),
        ({"cached": 1503, "newer": 9}, "unexplained", 1557, "the cache still held it"),
        ({"cached": 1503, "newer": 10, "was_full": False}, "unexplained", 1557, "the log saw room"),
        ({"cached": 1503, "newer": 10, "was_full": True}, "evicted", 1557, "the log saw it full"),
        ({"cached": 1503, "newer": 99, "entries": None}, "unexplained", 1557, "of an unknown number of entries"),
        ({"cached": 0, "newer": 0, "entries": 0}, "evicted", 3060, "a cache of nothing"),
        ({"cached": 2700, "newer": 10, "prompts": (1700, 3000)}, "unexplained", 360, "half a history is not evicted"),
        ({"cached": 1503, "newer": 10, "start": None}, "evicted", 1557, "the start's size is not known"),
        ({"cached": 2999}, "template", 61, "found up to the answer"),
        ({"cached": 3030}, "template", 30, "half of the answer was found"),
        ({"cached": 2989}, "template", 71, "an opened thought had been cut off the prompt"),
        ({"cached": 2401}, "template", 659, "an older answer's reasoning was dropped"),
        ({"cached": 2399, "newer": 10}, "template", 661, "an evicted history leaves no prompt of its own"),
        ({"cached": 2600}, "unexplained", 460, "no prompt ended there"),
        (
            {"cached": 6, "is_trimmable": False, "turns_since": 2},
            "untrimmable",
            3054,
            "two entries a turn, five of old",
        ),
        ({"cached": 6, "is_trimmable": False, "turns_since": 1}, "unexplained", 3054, "there was room for one"),
        (
            {"cached": 6, "is_trimmable": False, "turns_since": 1, "beside": 7},
            "untrimmable",
            3054,
            "the log saw more entries of old",
        ),
        ({"cached": 2399, "is_trimmable": False, "turns_since": 1}, "untrimmable", 661, "only an earlier end is left"),
        ({"cached": 1503, "is_trimmable": False, "newer": 10, "turns_since": 9}, "untrimmable", 1557, "before evicted"),
        ({"cached": 0, "is_trimmable": False, "newer": 0, "entries": 0}, "evicted", 3060, "nothing to be cut back"),
        (
            {"cached": 1503, "is_trimmable": False, "turns_since": 0, "change": change(9, 0.9)},
            "untrimmable",
            1557,
            "a change near the end costs all where nothing can be cut back",
        ),
        ({"cached": 1503, "is_trimmable": None, "turns_since": 9}, "unexplained", 1557, "not known is no evidence"),
    ],
)
def test_a_later_turn(values: dict[str, Any], cause: str, tokens: int, remark: str) -> None:
    found = decide(Evidence(**{**LATER, **values}))
    assert found is not None, remark
    assert (found.cause, found.tokens) == (cause, tokens), remark
    assert found.detail


@pytest.mark.parametrize(
    ("values", "cause", "tokens", "remark"),
    [
        ({}, "first", 1700, "nobody had computed any of it"),
        ({"prompt": None}, "first", None, "of unknown size"),
        ({"cached": 60}, "first", 1640, "the template's own words are in every prompt"),
        ({"twin": Twin("b", 1500)}, "not_stored_yet", 1500, "b is at it"),
        ({"twin": Twin("b", None)}, "not_stored_yet", None, "of unknown size"),
        (
            {"twin": Twin("b", 1500), "expected": 900, "cached": 901},
            "not_stored_yet",
            599,
            "b's is longer than was ready",
        ),
        ({"twin": Twin("b", 1500), "expected": 1500}, "not_stored_yet", 1500, "its end was seen just before"),
        ({"expected": 1500, "newer": 11}, "evicted", 1500, "all who had it are gone"),
        ({"expected": 1500, "newer": 1}, "unexplained", 1500, "they are not"),
        ({"expected": 1500, "cached": 40, "change": change(0)}, "volatile_text", 1460, "each session has its own head"),
        ({"left_tokens": 1024}, "left_in_prefill", 1024, "computed before, for nothing"),
        ({"left_tokens": 1024, "cached": 1000, "expected": 0}, "left_in_prefill", 24, "most of it had been stored"),
    ],
)
def test_a_first_turn(values: dict[str, Any], cause: str, tokens: int | None, remark: str) -> None:
    found = decide(Evidence(**{**FIRST, **values}))
    assert found is not None, remark
    assert (found.cause, found.tokens) == (cause, tokens), remark


def test_what_an_attempt_that_was_left_had_computed_is_read_again() -> None:
    again: dict[str, Any] = {"left_tokens": 4096}
    found = decide(Evidence(**LATER, **again))
    assert found == causes.Miss(
        "left_in_prefill", "an attempt that had prefilled 4,096 tokens was left before its first token", 4096
    )
    stored = {**LATER, "cached": 3060 + 4096}
    assert decide(Evidence(**stored, **again)) is None, "the server had kept it"


def test_who_sees_one_process_only_leaves_the_rest_open() -> None:
    found = own(Evidence(**{**LATER, "cached": 1503, "change": change(9, 0.9), "newer": 10}))
    assert found == causes.Miss(
        None,
        "message 9 (user), byte 7: “old” became “new”, but of some 2,850 tokens ahead of it 1,503 were found",
        1557,
    )
    assert own(Evidence(**{**LATER, "cached": 1503})) == causes.Miss(None, "the bytes only grew", 1557)


@pytest.mark.parametrize(
    ("values", "detail"),
    [
        ({"cached": 4, "epoch": 2}, "start 2 of the server answered, the turn before was answered by start 1"),
        ({"cached": 6, "change": change(0)}, "system, byte 7: “old” became “new”"),
        (
            {"cached": 1503, "newer": 10, "beside": 2},
            "the cache holds 10 entries, and 10 of other sessions came since, 2 of turns under way",
        ),
        (
            {"cached": 6, "is_trimmable": False, "turns_since": 7},
            "the model's cache cannot be cut back to an earlier token: a turn takes one or two of 10 entries, half of"
            " them old; 7 turns were stored since",
        ),
        (
            {"cached": 2999},
            "the bytes only grew; what was found ends with the prompt of 3,000 tokens: its answer is written otherwise"
            " now",
        ),
        (
            {"cached": 1503, "was_full": False, "left_tokens": 900},
            "the bytes only grew, an attempt was left since, 3 entries came since, for a cache of 10, which rank 0's"
            " log never saw full",
        ),
        (
            FIRST | {"prompt_before": None, "twin": Twin("fixers/0.1#0", 1500)},
            "fixers/0.1#0 was still prefilling the same start",
        ),
    ],
)
def test_the_evidence_in_words(values: dict[str, Any], detail: str) -> None:
    found = decide(Evidence(**{**LATER, **values}))
    assert found is not None
    assert found.detail == detail


def test_every_cause_is_in_the_list() -> None:
    assert set(causes.CAUSES) >= {"volatile_text", "history_rewritten", *causes._OWN, *causes._OF_CACHE}
    assert len(causes.CAUSES) == 11
