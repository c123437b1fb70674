"""What `play` shows of a behaviour: every step in its order, with the replies that its test gave."""

import pytest

from locust_agents.errors import PluginError
from locust_agents.plugins import registry
from locust_agents.plugins.api import (
    Agent,
    Compact,
    Join,
    Outcome,
    Pause,
    Reply,
    Session,
    Side,
    Spawn,
    Turn,
    behaviour,
)
from locust_agents.plugins.testing import play, reply

heard: list[object] = []


@pytest.fixture(autouse=True)
def nothing_was_heard() -> None:
    heard.clear()


@behaviour
def everything(agent: Agent, turns: int = 1) -> Session:
    """One of each."""
    for _ in range(turns):
        heard.append((yield agent.user("One.", tokens=5)))
    heard.append((yield agent.pause(2.5)))
    handle = yield agent.side(child(agent.child(), 1))
    heard.append((yield agent.spawn([child(agent.child(), 2), child(agent.child(), 0)])))
    heard.append((yield agent.join([handle])))
    heard.append((yield agent.compact(10, 5)))
    heard.append((yield agent.user("Enough.").leave(after_s=1)))


def child(agent: Agent, turns: int) -> Session:
    for number in range(turns):
        yield agent.user(f"Child {number}.")


def test_every_step_in_its_order() -> None:
    steps = [type(step) for step in play(everything).steps]
    assert steps == [Turn, Pause, Side, Turn, Spawn, Turn, Turn, Join, Compact, Turn]


def test_turns_and_pauses() -> None:
    played = play(everything, turns=2)
    assert [turn.says[0].text for turn in played.turns[:2]] == ["One.", "One."]
    assert len(played.turns) == 2 + 1 + 2 + 1
    assert played.pauses_s == [2.5]


def test_replies_come_in_turn_and_the_last_for_ever() -> None:
    one, two, three = reply("1"), reply("2"), reply("3")
    play(everything, one, two, three, turns=3)
    assert heard[:3] == [one, two, three]
    assert heard[3:7] == [None, [three, None], [three], three]
    left = heard[7]
    assert isinstance(left, Reply)
    assert (left.outcome, left.ok) == (Outcome.ABANDONED, False)


def test_a_reply_that_calls_tools() -> None:
    made = reply("I look.", "read", "bash")
    assert [call.name for call in made.tool_calls] == ["read", "bash"]
    assert len({call.id for call in made.tool_calls}) == 2
    assert made.ok
    assert not reply(outcome=Outcome.STALLED).ok


def test_without_replies_a_file_is_read_each_time() -> None:
    play(everything)
    (call,) = heard[0].tool_calls  # type: ignore[attr-defined]
    assert call.name == "read"


@behaviour
def draws(agent: Agent) -> Session:
    yield agent.pause(agent.rng.random())
    heard.append((agent.profile, agent.preamble_tokens))


def test_draws_depend_on_the_seed_and_sizes_on_the_profile() -> None:
    assert play(draws).pauses_s == play(draws).pauses_s != play(draws, seed="2").pauses_s
    profile = registry.profile("opencode")
    play(draws, profile=profile)
    assert heard[-1] == (profile, profile.system_tokens + profile.tool_tokens)


@behaviour
def nonsense(agent: Agent) -> Session:
    yield agent.user("One.")
    yield "a break"  # type: ignore[misc]


@behaviour
def unborn(agent: Agent) -> Session:
    yield agent.spawn([child])  # type: ignore[list-item]


@behaviour
def endless(agent: Agent) -> Session:
    while True:
        yield agent.pause(0)


def test_what_is_no_step_is_told_with_its_line() -> None:
    line = nonsense.function.__code__.co_firstlineno + 3
    with pytest.raises(PluginError, match=rf"test_plugin_testing\.py:{line}: .*'a break', which is no step"):
        play(nonsense)
    with pytest.raises(
        PluginError, match=r"test_plugin_testing\.py:\d+: .*started <function child.*which is no session"
    ):
        play(unborn)


def test_a_behaviour_without_an_end_fails_its_test() -> None:
    with pytest.raises(AssertionError, match="'endless' has not ended"):
        play(endless)
