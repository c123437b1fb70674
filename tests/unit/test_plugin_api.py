"""What a behaviour may yield and hold: steps are values, draws depend on the seed alone."""

import dataclasses
import inspect
import subprocess
import sys
from collections.abc import Callable

import pytest

from locust_agents.answers.stream import ToolCall
from locust_agents.outcome import Outcome
from locust_agents.patience import Leave
from locust_agents.plugins.api import (
    TOOL_GAP,
    TOOL_RESULT,
    Agent,
    Behaviour,
    Compact,
    Document,
    Handle,
    Hole,
    Join,
    Pause,
    Reply,
    Say,
    Session,
    Side,
    Spawn,
    Turn,
    behaviour,
)

READ, EDIT = ToolCall("call-1", "read", "{}"), ToolCall("call-2", "edit", "{}")


def agent(seed: str = "1 fixers/0.0 0") -> Agent:
    return Agent("fixers/0.0", "fixers/0.0#0", seed, preamble_tokens=100.0)


def reply(*calls: ToolCall) -> Reply:
    return Reply("so", calls, Outcome.OK)


@behaviour
def explore(agent: Agent, reads: int = 8, depth: "int | None" = None) -> Session:
    """Reads.

    More of it.
    """
    for _ in range(reads):
        yield agent.user("read", tokens=10)
    yield agent.pause(float(depth or 0))


ME = agent()
FILE = Document("src/app.py", 2000, version=2)
SESSION = explore(ME)
STEPS: list[tuple[str, object, object]] = [
    ("user", ME.user("hi"), Turn(ME, (Say("hi"),))),
    ("user of a size", ME.user("hi", tokens=200), Turn(ME, (Say("hi", 200),))),
    ("user with a limit for the answer", ME.user("hi", 200, answer_tokens=8), Turn(ME, (Say("hi", 200),), 8)),
    ("one call", ME.tool_results(reply(READ), 300), Turn(ME, (Say("", 300, READ),), no_call=False)),
    (
        "two calls share the tokens",
        ME.tool_results(reply(READ, EDIT), 300),
        Turn(ME, (Say("", 150, READ), Say("", 150, EDIT)), no_call=False),
    ),
    (
        "a limit for the answer",
        ME.tool_results(reply(READ), 300, answer_tokens=8),
        Turn(ME, (Say("", 300, READ),), 8, no_call=False),
    ),
    ("an answer that ends a loop", ME.user("hi").final(), Turn(ME, (Say("hi"),), ends_loop=True)),
    ("leave in prefill", ME.user("hi").leave(in_prefill=True), Turn(ME, (Say("hi"),), None, Leave(in_prefill=True))),
    (
        "leave in silence",
        ME.user("hi").leave(after_silence_s=2.0),
        Turn(ME, (Say("hi"),), None, Leave(after_silence_s=2.0)),
    ),
    ("files before it", ME.user("hi").showing(FILE), Turn(ME, (Say("hi"),), documents=(FILE,))),
    ("an old session", ME.user("hi").fresh(), Turn(ME, (Say("hi"),), is_fresh=True)),
    ("once more", ME.again(), Turn(ME, (), is_again=True)),
    ("a hole", ME.complete(300, 60, 20), Turn(ME, (), 20, hole=Hole(300, 60))),
    ("the client's own time", ME.pause(1.5, always=True), Pause(1.5, True)),
    ("leave by the clock", ME.user("hi").leave(after_s=8), Turn(ME, (Say("hi"),), None, Leave(8, None))),
    ("leave by chunks", ME.user("hi").leave(after_chunks=5), Turn(ME, (Say("hi"),), None, Leave(None, 5))),
    ("pause", ME.pause(2.5), Pause(2.5)),
    ("compact", ME.compact(keep_tokens=4000, summary_tokens=800), Compact(ME, 4000, 800)),
    ("side", ME.side(SESSION), Side(SESSION)),
    ("spawn waits unless told otherwise", ME.spawn([SESSION]), Spawn((SESSION,), True)),
    ("spawn and go on", ME.spawn([SESSION, SESSION], wait=False), Spawn((SESSION, SESSION), False)),
    ("spawn nobody", ME.spawn([]), Spawn((), True)),
    ("join", ME.join([Handle(2), Handle(0)]), Join((Handle(2), Handle(0)))),
]


@pytest.mark.parametrize(("step", "wanted"), [pytest.param(*row[1:], id=row[0]) for row in STEPS])
def test_step(step: object, wanted: object) -> None:
    assert step == wanted


def test_results_of_no_call_are_a_message_of_the_same_size() -> None:
    (say,) = ME.tool_results(reply(), 300, answer_tokens=8).says
    assert (say.tokens, say.answers) == (300, None)
    assert say.text


def test_steps_cannot_be_changed() -> None:
    turn = ME.user("hi")
    with pytest.raises(dataclasses.FrozenInstanceError):
        turn.answer_tokens = 8  # type: ignore[misc]
    assert turn.leave(after_s=1) is not turn
    assert turn.patience == Leave()


@pytest.mark.parametrize("outcome", list(Outcome))
def test_only_a_proper_end_is_ok(outcome: Outcome) -> None:
    assert Reply("", (), outcome).ok == (outcome is Outcome.OK)


def test_draws_depend_on_the_seed_alone() -> None:
    def draws(made: Agent) -> list[float]:
        return [made.draw(TOOL_RESULT), made.draw(TOOL_GAP), made.rng.random()]

    assert draws(agent()) == draws(agent())
    assert draws(agent()) != draws(agent("2 fixers/0.0 0"))
    assert draws(agent().child()) == draws(agent().child())


def test_children_have_names_and_draws_of_their_own() -> None:
    made = agent()
    one, two = made.child(), made.child()
    below = one.child()
    assert [child.session for child in (one, two, below)] == ["fixers/0.0#0.1", "fixers/0.0#0.2", "fixers/0.0#0.1.1"]
    assert {child.name for child in (one, two, below)} == {made.name}
    assert {child.preamble_tokens for child in (one, two, below)} == {100.0}
    assert len({child.rng.random() for child in (made, one, two, below)}) == 4


def test_a_child_takes_nothing_from_the_draws_of_its_parent() -> None:
    with_child, without = agent(), agent()
    with_child.child()
    assert with_child.rng.random() == without.rng.random()


# -- @behaviour


def test_a_behaviour_is_a_frozen_object_with_what_a_scenario_may_set() -> None:
    assert isinstance(explore, Behaviour)
    assert explore.name == "explore"
    assert explore.summary == "Reads."
    assert {name: parameter.default for name, parameter in explore.parameters.items()} == {"reads": 8, "depth": None}
    assert explore.parameters["depth"].annotation == int | None  # written as text, read as a type
    with pytest.raises(dataclasses.FrozenInstanceError):
        explore.name = "other"  # type: ignore[misc]


def test_calling_it_starts_a_session() -> None:
    steps = list(explore(agent(), reads=2))
    assert [type(step) for step in steps] == [Turn, Turn, Pause]


def test_in_a_class_it_stays_a_behaviour() -> None:
    class Fixer:
        behaviour = explore

    assert Fixer().behaviour is explore


def test_without_a_docstring_its_summary_is_empty() -> None:
    @behaviour
    def silent(agent: Agent) -> Session:
        yield agent.pause(0)

    assert silent.summary == ""


def no_generator(agent: Agent) -> Session:
    return explore(agent)


def no_agent() -> Session:
    yield agent().pause(0)


@pytest.mark.parametrize("function", [no_generator, no_agent])
def test_what_is_no_behaviour_is_refused_by_name(function: Callable[..., Session]) -> None:
    with pytest.raises(TypeError, match=f"{function.__name__}.*generator function"):
        behaviour(function)


def test_the_surface_needs_neither_locust_nor_gevent_nor_mlx() -> None:
    code = "import sys, locust_agents.plugins.api; print({'locust', 'gevent', 'mlx', 'socket'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_parameter_may_be_anything_that_has_a_signature() -> None:
    @behaviour
    def odd(someone: Agent, *, reads: int) -> Session:
        yield someone.pause(reads)

    assert odd.parameters["reads"].default is inspect.Parameter.empty
    assert list(odd(agent(), reads=3)) == [Pause(3)]
