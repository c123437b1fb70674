"""What clients do around a turn: compact, cap, ask again, complain, not stream, fill a hole. Prints it as JSON."""

import locust  # noqa: F401, I001 (first: it patches the standard library)

from dataclasses import replace
from typing import Any

from many_runs import Case, run_all, until  # type: ignore[import-not-found]

from locust_agents.cluster.replay import Script, chat_answer, chat_stream, completion_stream
from locust_agents.locustfiles.conductor import Conductor
from locust_agents.outcome import Outcome
from locust_agents.patience import Timeouts
from locust_agents.plugins.api import Agent, Behaviour, Reply, Session, behaviour
from locust_agents.profile import Compaction, Profile, Reaction, Retries, Role

PROFILE = Profile("p", "P", "here", 50, 60, ("read",), 64)
RULE = Compaction(trigger_tokens=400, keep_tokens=60, summary_tokens=40, call="same")
COMPACTING = replace(PROFILE, name="compacting", compaction=RULE)
FLATTENING = replace(COMPACTING, name="flattening", compaction=replace(RULE, call="flattened", system_tokens=30))
STALLED = Retries(stall_waits_s=(0.05,), http_waits_s=(0.05,))
AGAIN = replace(PROFILE, name="again", retries=STALLED)
EMPTIED = replace(PROFILE, name="emptied", empty=Reaction("end", waits_s=(0.05, 0.05)))
COMPLAINING = replace(PROFILE, name="complaining", empty=Reaction("complain", complaint_tokens=30))
WHOLE = replace(PROFILE, name="whole", stream=False, include_usage=False, max_tokens_field="max_completion_tokens")
TYPING = replace(PROFILE, name="typing", api="completions", system_tokens=0, tool_tokens=0, tools=())
WAITING = replace(PROFILE, name="waiting", timeouts=Timeouts(60.0, 60.0, 2.0, 60.0))
ROLES = replace(PROFILE, name="roles", roles={"sub": Role(20, 30, ("look",), 16, retries=Retries())})

SEEN: dict[str, list[Any]] = {}
TRIES = 20


def answer(text: str, prompt: int, **more: Any) -> Script:
    """A whole answer at once."""
    return chat_stream([text] if text else [], 0.02, 0.0, usage=(prompt, 0, 5), **more)


@behaviour
def grow(agent: Agent) -> Session:
    """A history that grows by a hundred tokens a turn."""
    for number in range(7):
        reply: Reply = yield agent.user(f"Question {number}.", tokens=100)
        SEEN.setdefault("grow", []).append(reply.prompt_tokens)


@behaviour
def grow_flat(agent: Agent) -> Session:
    """The same for a client that sends its history as one text."""
    for number in range(5):
        yield agent.user(f"Question {number}.", tokens=100)


@behaviour
def too_long(agent: Agent) -> Session:
    """A turn over the cap between two that are not."""
    yield agent.user("One.", tokens=50)
    reply: Reply = yield agent.user("Two.", tokens=5000)
    SEEN.setdefault("too_long", []).append([str(reply.outcome), reply.ok])
    yield agent.user("Three.", tokens=50)


@behaviour
def room(agent: Agent) -> Session:
    """A turn over the cap, of a client that can make room."""
    for number in range(3):
        yield agent.user(f"Question {number}.", tokens=90)
    reply: Reply = yield agent.user("A long one.", tokens=200)
    SEEN.setdefault("room", []).append(str(reply.outcome))


@behaviour
def wait_in_vain(agent: Agent) -> Session:
    """A prefill that stops half way, a busy server, and an answer."""
    reply: Reply = yield agent.user("One.")
    SEEN.setdefault("wait_in_vain", []).append(reply.text)
    yield agent.user("Two.")


@behaviour
def wait(agent: Agent) -> Session:
    """A server that takes long to its headers, and then to its first token: asked until it answers in time."""
    yield from until(agent, "ok", "One.", TRIES)


@behaviour
def wait_less(agent: Agent) -> Session:
    """The same, asked until it does not."""
    yield from until(agent, "first_token_timeout", "One.", TRIES)


@behaviour
def hear_nothing(agent: Agent) -> Session:
    """Answers without a word."""
    reply: Reply = yield agent.user("One.")
    SEEN.setdefault("hear_nothing", []).append(str(reply.outcome))


@behaviour
def hear_nothing_and_complain(agent: Agent) -> Session:
    """Two answers without a word, then one."""
    reply: Reply = yield agent.user("One.")
    SEEN.setdefault("complain", []).append(reply.text)


@behaviour
def whole(agent: Agent) -> Session:
    """An answer that is not streamed."""
    reply: Reply = yield agent.user("One.", tokens=40)
    SEEN.setdefault("whole", []).append([reply.text, len(reply.tool_calls), reply.tokens])
    yield agent.tool_results(reply, tokens=40)


@behaviour
def fill(agent: Agent) -> Session:
    """A hole, and one that nothing fits into."""
    for _ in range(2):
        reply: Reply = yield agent.complete(200, 40, answer_tokens=9)
        SEEN.setdefault("fill", []).append([reply.text, str(reply.outcome)])


@behaviour
def delegate(agent: Agent) -> Session:
    """A sub-agent behind its own system prompt."""

    def look(child: Agent) -> Session:
        yield child.user("Look.", tokens=20)

    yield agent.user("One.", tokens=20)
    yield agent.spawn([look(agent.child("sub"))])


@behaviour
def calls(agent: Agent) -> Session:
    """Calls of every kind, and results that no call asked for."""
    reply: Reply = yield agent.user("One.", tokens=20)
    reply = yield agent.tool_results(reply, tokens=40)
    yield agent.tool_results(reply, tokens=40)


def one(made: Behaviour, answers: list[Script], profile: Profile, **keys: object) -> Case:
    """A run of one entry, named after its behaviour."""
    name = made.name.replace("_", "-")
    return Case(name, {name: made}, answers, profile, keys)


def give_up_at_half(conductor: Conductor) -> bool:
    """Ends the turn that has heard of 512 tokens of its prompt and of no more, as its client's limit would."""
    assert conductor.swarm is not None
    for turn in conductor.swarm.open.values():
        if turn.exchange.answer.progress and turn.exchange.answer.progress[-1].done == 512:
            turn.exchange.give_up(Outcome.FIRST_TOKEN_TIMEOUT, "no token for too long")
            return True
    return False


def main() -> None:
    """All of them."""
    half = Script((*chat_stream(["x"], 5.0, 0.0, prefill=[(256, 900, 0.1), (512, 900, 0.2)]).sends[:2],), ending="hang")
    late = chat_stream(["so"], 2.7, 0.0, headers_s=1.7)
    bad = chat_stream(
        [],
        0.02,
        0.0,
        tool_calls=[("read", '{"filePath": '), ("rm", "{}"), ("read", {"path": 1}), ("read", {"filePath": "a"})],
        usage=(200, 0, 5),
    )
    run_all(
        [
            one(grow, [answer(f"Answer {n}.", 200 + 100 * n) for n in range(9)], COMPACTING),
            one(grow_flat, [answer(f"Answer {n}.", 200 + 100 * n) for n in range(9)], FLATTENING),
            one(too_long, [answer("so", 170), answer("so", 230)], PROFILE, cap_prompt=1000),
            one(
                room,
                [answer("so", 210), answer("so", 305), answer("so", 400), answer("In short.", 420), answer("so", 330)],
                replace(COMPACTING, name="roomy", compaction=replace(RULE, trigger_tokens=10_000)),
                cap_prompt=500,
            ),
            replace(one(wait_in_vain, [half, Script((), 503), answer("so", 200)], AGAIN), meddle=give_up_at_half),
            one(wait, [late], WAITING),
            one(wait_less, [late], WAITING, timeouts={"first_token": "2s"}),
            one(hear_nothing, [answer("", 200)], EMPTIED),
            one(hear_nothing_and_complain, [answer("", 200), answer("", 240), answer("at last", 280)], COMPLAINING),
            one(
                whole,
                [chat_answer("so", 0.05, tool_calls=[("read", {"filePath": "a"})], usage=(200, 0, 5))],
                WHOLE,
            ),
            replace(
                one(
                    fill,
                    [
                        completion_stream(["def"], 0.02, 0.0, usage=(240, 0, 3)),
                        completion_stream([], 0.02, 0.0, usage=(241, 0, 0)),
                    ],
                    TYPING,
                ),
                path="/v1/completions",
            ),
            one(delegate, [answer("so", 200)], ROLES),
            one(calls, [bad, answer("so", 300)], PROFILE),
        ],
        SEEN,
    )


if __name__ == "__main__":
    main()
