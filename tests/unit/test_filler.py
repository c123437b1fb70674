"""Text of a wanted size: the same bytes in every process, and never the same start in two sessions."""

import hashlib
import itertools
import os
import random
import subprocess
import sys

import pytest

from locust_agents.patience import Timeouts
from locust_agents.plugins.api import Agent, Say
from locust_agents.profile import Profile
from locust_agents.prompts import filler
from locust_agents.prompts.conversation import preamble
from locust_agents.prompts.dialogue import Dialogue, Style
from locust_agents.prompts.sizing import Calibration, Sizer

SEEDS = range(20)


def made(chars: float, seed: object) -> str:
    return filler.text(chars, random.Random(str(seed)))


@pytest.mark.parametrize(
    ("chars", "tolerance"),
    [(0, 0), (-7, 0), (5, 5), (12, 12), (22, 6), (60, 6), (101, 6), (400.5, 6), (1000, 6), (25_000, 6), (100_000, 6)],
)
def test_the_size_is_the_wanted_one_but_for_a_few_characters(chars: float, tolerance: int) -> None:
    assert max(abs(len(made(chars, seed)) - max(0, chars)) for seed in SEEDS) <= tolerance


def test_it_is_made_of_whole_lines_of_the_pool() -> None:
    assert set(made(9000, 1).splitlines(keepends=True)) <= set(filler.pool())


def test_the_pool_has_lines_enough_that_look_like_code() -> None:
    pool = filler.pool()
    assert len(set(pool)) >= 1900
    assert all(line.isascii() and line.endswith("\n") and 20 < len(line) <= 60 for line in pool)


def test_every_shape_is_there_as_often() -> None:
    """What a token costs differs between shapes: a text must be a fair sample of them."""
    texts = "".join(made(5000, seed) for seed in SEEDS)
    starts = [sum(line.startswith(start) for line in texts.splitlines()) for start in ("def ", "class ", "from ")]
    assert max(starts) < 1.2 * min(starts)


def test_the_sample_is_about_as_long_as_wanted_and_has_every_shape() -> None:
    text = filler.sample(5000)
    assert len(text) == pytest.approx(5000, rel=0.05)
    assert all(start in text for start in ("def ", "class ", "from ", "for ", "if ", "raise ", "return "))


def test_another_process_makes_the_same() -> None:
    code = (
        "import hashlib, random; from locust_agents.prompts import filler\n"
        "text = filler.text(20000, random.Random('1 a')) + filler.sample(900) + filler.words(9, random.Random('w'))\n"
        "print(hashlib.sha256(text.encode()).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "4711"}
    printed = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    here = made(20_000, "1 a") + filler.sample(900) + filler.words(9, random.Random("w"))
    assert printed.stdout.strip() == hashlib.sha256(here.encode()).hexdigest()


def test_other_seeds_make_other_texts() -> None:
    texts = {made(4000, f"1 fixers/0.{agent}#{session}") for agent in range(8) for session in range(8)}
    assert len(texts) == 64


def test_words() -> None:
    rng = random.Random(1)
    said = filler.words(3, rng)
    assert len(said.split()) == 3
    assert said != filler.words(3, rng)


PROFILE = Profile("p", "P", "a test", 0, 0, ("read",), None, timeouts=Timeouts())


def first_message(agent: int, session: int, tokens: float) -> bytes:
    """What an agent's first request adds to the start that it shares with the others."""
    name = f"fixers/0.{agent}"
    one = Agent(name, f"{name}#{session}", f"1 {name} {session}")
    start = preamble("p", "m", None, (), {})
    dialogue = Dialogue(one, Style(PROFILE, start), Sizer(Calibration("n")))
    dialogue.say([Say("The test fails.", tokens)])
    return dialogue.body(None).removeprefix(start.head + b'{"role":"user","content":"')


@pytest.mark.parametrize("tokens", [1.0, 1000.0], ids=["tiny", "long"])
def test_no_two_agents_begin_with_the_same_line(tokens: float) -> None:
    lines = [first_message(agent, 0, tokens).partition(b"\\n")[0] for agent in range(16)]
    assert len(set(lines)) == len(lines)
    assert b"" not in lines


def test_no_two_sessions_share_more_than_a_line() -> None:
    texts = [first_message(agent, session, 1000.0) for agent, session in itertools.product(range(16), range(4))]
    starts = [text.split(b"\\n")[:2] for text in texts]
    assert len({tuple(start) for start in starts}) == len(texts)
