"""From tokens to characters, and what every turn teaches."""

import pytest

from locust_agents.prompts.sizing import FALLBACK_TOKENS_PER_CHAR, Calibration, Sizer


def sizer(turn_tokens: float = 4.0) -> Sizer:
    return Sizer(Calibration("n", tokens_per_char=0.25, message_tokens=5.0, turn_tokens=turn_tokens))


@pytest.mark.parametrize(
    ("tokens", "said_chars", "messages", "chars", "remark"),
    [
        (109.0, 0, 1, 400.0, "what the template adds is part of the wish"),
        (109.0, 100, 1, 300.0, "so is what is said besides"),
        (107.0, 0, 2, 400.0, "two messages share what a turn adds"),
        (9.0, 0, 1, 0.0, "the template alone"),
        (1.0, 0, 1, 0.0, "less than the template"),
        (10.0, 500, 1, 0.0, "said too much already"),
    ],
)
def test_chars(tokens: float, said_chars: int, messages: int, chars: float, remark: str) -> None:
    assert sizer().chars(tokens, said_chars, messages) == chars, remark


def test_without_a_calibration_it_guesses() -> None:
    assert Sizer(Calibration("n", message_tokens=0.0, turn_tokens=0.0)).chars(100.0) == 100 / FALLBACK_TOKENS_PER_CHAR


@pytest.mark.parametrize("true_per_char", [0.2, 0.25, 0.4, 0.9])
def test_long_texts_teach_the_slope(true_per_char: float) -> None:
    learner = sizer()
    for _ in range(60):
        learner.learn(4000, 1, round(4000 * true_per_char + 9))
    assert learner.tokens_per_char == pytest.approx(true_per_char, rel=0.01)
    assert learner.message_tokens == 5.0


def test_short_texts_teach_nothing() -> None:
    learner = sizer()
    for _ in range(400):
        learner.learn(200, 2, 500)
    assert (learner.message_tokens, learner.tokens_per_char) == (5.0, 0.25)


@pytest.mark.parametrize(("chars", "tokens"), [(4000, 4000), (4000, 600)])
def test_one_turn_teaches_some_of_what_it_missed_and_not_too_much(chars: int, tokens: int) -> None:
    learner = sizer()
    before = learner.chars(tokens) - chars
    learner.learn(chars, 1, tokens)
    after = learner.chars(tokens) - chars
    assert 0 < abs(after) < abs(before)
    assert after * before > 0


@pytest.mark.parametrize(
    ("chars", "messages", "tokens"), [(0, 0, 100), (0, 1, 0), (9000, 0, 100), (4000, 1, 1), (1500, 1, 0), (10, 1, 0)]
)
def test_nothing_that_a_server_counts_makes_sizes_impossible(chars: int, messages: int, tokens: int) -> None:
    learner = sizer()
    for _ in range(200):
        learner.learn(chars, messages, tokens)
    assert 0 < learner.chars(1000.0) <= 100_000
    assert learner.message_tokens >= 0


ESTIMATES: list[tuple[str, list[int], int | None, tuple[int, int] | None, int]] = [
    ("nothing is known: all by its size", [4000, 4000], None, None, 1944),
    ("the head was counted", [4000, 4000], 1200, None, 2174),
    ("a request was counted: only what is more is by its size", [4000, 4000, 400], 1200, (2000, 8000), 2097),
    ("a request that is shorter now", [4000, 3600], 1200, (2000, 8000), 1903),
]


@pytest.mark.parametrize(
    ("sizes", "start", "counted", "tokens"), [pytest.param(*row[1:], id=row[0]) for row in ESTIMATES]
)
def test_estimates_of_a_request(
    sizes: list[int], start: int | None, counted: tuple[int, int] | None, tokens: int
) -> None:
    assert sizer().prompt_tokens(sizes, start, counted) == tokens
