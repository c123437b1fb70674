"""What holds for every shipped behaviour, and two of them driven by hand; the others have a file each."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from locust_agents.answers.stream import ToolCall
from locust_agents.outcome import Outcome
from locust_agents.patience import Leave
from locust_agents.plugins import registry
from locust_agents.plugins.api import TOOL_RESULT, Agent, Behaviour, Pause, Reply, Session, Turn
from locust_agents.plugins.testing import play, reply

OK = Reply("so", (ToolCall("call-1", "read", "{}"),), Outcome.OK, 40, 0.2)
FAILED = Reply("", (), Outcome.STALLED)
# those that send their first two turns together
PAIRS = {"title_call", "mixed_pair"}


def ours() -> list[str]:
    found = registry.behaviours().items()
    return sorted(name for name, made in found if made.function.__module__.startswith("locust_agents."))


def shipped(name: str) -> Behaviour:
    return registry.behaviour(name)


def agent(number: int = 0) -> Agent:
    return Agent(f"a/0.{number}", f"a/0.{number}#0", f"1 a/0.{number} 0", preamble_tokens=6724.0)


def steps(session: Session, replies: Iterator[Reply]) -> list[Turn | Pause]:
    """Every step of a session, each turn answered with the next reply."""
    taken: list[Turn | Pause] = []
    result: Reply | None = None
    while True:
        try:
            step = session.send(result)
        except StopIteration:
            return taken
        assert isinstance(step, Turn | Pause), step
        taken.append(step)
        result = next(replies) if isinstance(step, Turn) else None


def always(reply: Reply) -> Iterator[Reply]:
    while True:
        yield reply


def turns(taken: list[Turn | Pause]) -> list[Turn]:
    return [step for step in taken if isinstance(step, Turn)]


def test_each_shipped_behaviour_has_a_test_named_after_it() -> None:
    texts = "".join(file.read_text() for file in Path(__file__).parent.glob("test_behaviour*.py"))
    assert len(ours()) >= 16
    assert [name for name in ours() if f"def test_{name}(" not in texts] == []


@pytest.mark.parametrize("name", ours())
def test_summary_says_what_it_does(name: str) -> None:
    assert 20 < len(shipped(name).summary) < 120


@pytest.mark.parametrize("name", ours())
def test_the_plan_depends_on_the_seed_alone(name: str) -> None:
    def plan(seed: str) -> list[object]:
        taken = play(shipped(name), seed=seed)
        said = [([say.tokens for say in turn.says], turn.answer_tokens, turn.patience) for turn in taken.turns]
        return [taken.pauses_s, said]

    assert plan("1") == plan("1")
    assert plan("1") != plan("2")


@pytest.mark.parametrize("name", ours())
def test_a_session_ends_after_a_turn_that_failed(name: str) -> None:
    stayed = [turn for turn in play(shipped(name), FAILED).turns if turn.patience == Leave()]
    assert len(stayed) == (2 if name in PAIRS else 1)


@pytest.mark.parametrize("name", ours())
def test_a_session_goes_on_where_the_model_calls_no_tool(name: str) -> None:
    assert len(play(shipped(name), reply("I am done.")).turns) == len(play(shipped(name)).turns)


def test_fix_failing_test() -> None:
    taken = steps(shipped("fix_failing_test")(agent(), reads=5, attempts=3), always(OK))
    first, *later = turns(taken)
    assert (first.says[0].answers, bool(first.says[0].text)) == (None, True)
    assert 5 + 1 <= len(later) <= 5 + 3
    assert all(say.answers is OK.tool_calls[0] for turn in later for say in turn.says)
    assert all(turn.agent is first.agent for turn in later)
    # each answer is waited for by a tool, and the session by a human at its end
    assert [type(step) for step in taken] == [Turn, *[Pause, Turn] * len(later), Pause]
    assert all(step.seconds > 0 for step in taken if isinstance(step, Pause))


def test_fix_failing_test_reads_what_tools_return() -> None:
    taken = [steps(shipped("fix_failing_test")(agent(number), reads=8, attempts=1), always(OK)) for number in range(60)]
    sizes = sorted(turn.says[0].tokens or 0 for one in taken for turn in turns(one)[1:9])
    low, high = TOOL_RESULT.values[2], TOOL_RESULT.values[4]
    assert low < sizes[len(sizes) // 2] < high


def test_fix_failing_test_tries_no_more_often_than_told() -> None:
    lengths = {
        len(turns(steps(shipped("fix_failing_test")(agent(number), reads=0, attempts=4), always(OK))))
        for number in range(40)
    }
    assert lengths == {1 + 1, 1 + 2, 1 + 3, 1 + 4}


def test_fix_failing_test_goes_on_without_calls() -> None:
    silent = Reply("I am done.", (), Outcome.OK)
    taken = turns(steps(shipped("fix_failing_test")(agent(), reads=2, attempts=1), always(silent)))
    assert len(taken) == 4
    assert all(say.answers is None for turn in taken for say in turn.says)


def test_fix_failing_test_stops_where_an_answer_fails() -> None:
    replies = iter([OK, OK, FAILED])
    assert len(turns(steps(shipped("fix_failing_test")(agent()), replies))) == 3


# preamble, prompt asked for, tokens of the message
GIANTS: list[tuple[str, float, int, float]] = [
    ("the prompt in all, system and tools included", 6724.0, 65536, 65536 - 6724),
    ("a bare profile", 0.0, 1000, 1000),
    ("less than the preamble has", 6724.0, 1000, 1),
]


@pytest.mark.parametrize(("preamble", "asked", "tokens"), [pytest.param(*row[1:], id=row[0]) for row in GIANTS])
def test_giant_prompt(preamble: float, asked: int, tokens: float) -> None:
    made = Agent("giant/0.0", "giant/0.0#0", "1", preamble_tokens=preamble)
    turn, rest = steps(shipped("giant_prompt")(made, prompt_tokens=asked, answer_tokens=9), always(OK))
    assert isinstance(turn, Turn)
    assert (turn.says[0].tokens, turn.answer_tokens) == (tokens, 9)
    assert isinstance(rest, Pause)
    assert rest.seconds > 0
