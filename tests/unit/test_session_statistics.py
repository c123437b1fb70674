"""2,000 generated sessions against the traces they are drawn from: medians and p90 within 5 %.

The source's figures are of all 692 sessions, fresh or continued. Of the 373 fresh ones alone only the calls of a
session are known (68 and 186): they are not used, as they do not go with messages and loops of all.

Not tested, as they follow from what is:
- a prompt's growth after a human message (747 and 3,594 here, 550 and 2,755 there), and with it that of any request
  (709 and 3,761; 659 and 3,604): it is the sum of an answer and a text, which are drawn apart here and were not
  independent there; both parts hold, so their sum cannot;
- prompts: sums of these sizes behind a profile's own preamble, up to its own compaction. Many of the traces begin in
  the middle of a session, with 92k tokens on average.
"""

from collections import defaultdict
from itertools import pairwise
from random import Random
from statistics import median, quantiles
from typing import Any

import pytest

from locust_agents.forecast import dry_sizes
from locust_agents.forecast.session_plan import Terms
from locust_agents.plugins import registry
from locust_agents.plugins.api import Agent, Pause, Reply, Turn
from locust_agents.plugins.behaviours.coding_session import coding_session
from locust_agents.plugins.behaviours.sub_agents import sub_agents
from locust_agents.plugins.testing import play, reply

PROFILE, DRAWN = registry.profile("claude-code"), Terms(outputs="drawn")
SESSIONS = 2000
SEED = 3
# One sample of 2,000 strays by some 3 % (standard error) in what a session has once; 20,000 are in test_session_shape.

# Claude Code traces of github.com/callanjfox/kv-cache-tester: p50, p90.
MEASURED: list[tuple[str, float, float]] = [
    ("human messages of a session", 4, 27),
    ("calls of a session", 44, 148.9),
    ("calls for a human message", 2, 15),
    ("new tool result, tokens", 297, 3042),
    ("new human text, tokens", 196, 2057.5),
    ("growth of a prompt by a tool result, tokens", 682, 3740),
    ("answer that calls a tool, tokens", 209, 843),
    ("answer that ends a loop, tokens", 346, 1349.4),
    ("gap before a tool result, s", 9, 76),
    ("gap before a human message, s", 122, 1414),
]


def steps(number: int) -> list[Any]:
    agent = Agent("a/0.0", f"a/0.0#{number}", f"{SEED} a/0.{number} 0")
    session, answer = coding_session(agent), reply("So.", "read")
    taken: list[Any] = []
    result: Reply | None = None
    while True:
        try:
            step = session.send(result)
        except StopIteration:
            return taken
        taken.append(step)
        result = answer if isinstance(step, Turn) else None


def is_humans(turn: Turn) -> bool:
    return turn.says[0].answers is None


@pytest.fixture(scope="module")
def found() -> dict[str, list[float]]:
    values: dict[str, list[float]] = defaultdict(list)
    rng = Random(SEED)
    for number in range(SESSIONS):
        taken = steps(number)
        turns = [step for step in taken if isinstance(step, Turn)]
        starts = [place for place, turn in enumerate(turns) if is_humans(turn)] + [len(turns)]
        values["human messages of a session"].append(len(starts) - 1)
        values["calls of a session"].append(len(turns))
        said = [dry_sizes.answer(rng, turn, PROFILE, DRAWN)[0] for turn in turns]
        for place, turn in enumerate(turns):
            heard = "new human text, tokens" if is_humans(turn) else "new tool result, tokens"
            values[heard].append(sum(say.tokens or 0.0 for say in turn.says))
            if not is_humans(turn):
                grown = values[heard][-1] + said[place - 1]
                values["growth of a prompt by a tool result, tokens"].append(grown)
            ends = place + 1 in starts
            values[f"answer that {'ends a loop' if ends else 'calls a tool'}, tokens"].append(said[place])
        values["calls for a human message"] += [end - start for start, end in pairwise(starts)]
        for pause, after in zip(taken, [*taken[1:], None], strict=True):
            if isinstance(pause, Pause):
                tool = isinstance(after, Turn) and not is_humans(after)
                values[f"gap before a {'tool result' if tool else 'human message'}, s"].append(pause.seconds)
    return values


@pytest.mark.parametrize(("name", "p50", "p90"), MEASURED, ids=lambda value: value if isinstance(value, str) else "")
def test_medians_and_p90(found: dict[str, list[float]], name: str, p50: float, p90: float) -> None:
    values = found[name]
    assert len(values) >= SESSIONS
    assert median(values) == pytest.approx(p50, rel=0.05)
    assert quantiles(values, n=10)[8] == pytest.approx(p90, rel=0.05)


def test_sub_agents_are_as_those_of_the_traces() -> None:
    # 63 sub-agents: 11 and 17 calls, the longest prompt 69,923 and 95,936 tokens
    profile = registry.profile("claude-code")
    calls: list[int] = []
    prompts: list[float] = []
    for number in range(SESSIONS):
        turns = [
            turn for turn in play(sub_agents, n=1, seed=f"{SEED} {number}", profile=profile).turns if turn.agent.role
        ]
        calls.append(len(turns))
        said = sum(say.tokens or 0.0 for turn in turns for say in turn.says)
        answers = 416 * (len(turns) - 1)  # the mean of the traces' tool-call steps
        prompts.append(turns[0].agent.preamble_tokens + said + answers)
    assert median(calls) == pytest.approx(11, rel=0.05)
    assert quantiles(calls, n=10)[8] == pytest.approx(17, rel=0.05)
    assert median(prompts) == pytest.approx(69_923, rel=0.05)
    assert quantiles(prompts, n=10)[8] == pytest.approx(95_936, rel=0.05)
