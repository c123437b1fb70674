"""Every step of a behaviour, each in a run of its own, all side by side; what came of them is printed as JSON."""

import locust  # noqa: F401, I001 (first: it patches the standard library)

from dataclasses import replace
from time import monotonic, time
from typing import Any

import gevent

from many_runs import Case, run_all  # type: ignore[import-not-found]

from locust_agents.cluster.replay import ReplayServer, Script, chat_stream
from locust_agents.patience import Timeouts
from locust_agents.plugins.api import Agent, Behaviour, Reply, Session, behaviour
from locust_agents.profile import Profile, Retries

PROFILE = Profile("p", "P", "here", 50, 60, ("read", "edit"), 64, headers={"x-session-id": "{session}"})
PATIENT = replace(PROFILE, name="patient", timeouts=Timeouts(60.0, 60.0, 60.0, 60.0))
RETRYING = replace(PROFILE, name="retrying", retries=Retries(connection_waits_s=(0.05, 0.05)))
SLOWLY = replace(PROFILE, name="slowly", retries=Retries(connection_waits_s=(1.5,)))

SEEN: dict[str, list[Any]] = {}
TICK_S = 0.02


def watch_the_loop() -> None:
    """Notes when it came round late, and by how many seconds."""
    while True:
        wanted = monotonic() + TICK_S
        gevent.sleep(TICK_S)
        if (late_s := monotonic() - wanted) > TICK_S:
            note("loop", [monotonic(), late_s])


def note(name: str, *values: object) -> None:
    """What a behaviour saw, for the test to read."""
    SEEN.setdefault(name, []).extend(values)


def words(reply: Reply) -> list[object]:
    """A reply as JSON."""
    calls = [call.id for call in reply.tool_calls]
    return [reply.text, calls, str(reply.outcome), reply.tokens, reply.first_token_s is not None]


def answer(text: str, prompt: int, calls: int = 0, completion: int = 5, **more: Any) -> Script:
    """A whole answer at once; each call has an id of its own."""
    tool_calls = [(("read", "edit")[place % 2], {"filePath": text}) for place in range(calls)]
    return chat_stream([text], 0.02, 0.0, tool_calls=tool_calls, usage=(prompt, 0, completion), **more)


def stamped(seconds: float) -> Script:
    """An answer that lasts so long, its first and last token being the server's own time."""
    return chat_stream(["@SENT_NS@ ", "@SENT_NS@"], 0.05, seconds, usage=(200, 0, 2))


GAP_S = 0.3
ROLE = b'data: {"choices": [{"delta": {"role": "assistant", "content": ""}}]}\n\n'
EMPTY = b'data: {"choices": [{"delta": {}}]}\n\n'
TOKEN = b'data: {"choices": [{"delta": {"content": "@SENT_NS@ "}}]}\n\n'
FINISH = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
SPACED = Script(tuple((GAP_S * (1 + place), data) for place, data in enumerate((ROLE, EMPTY, TOKEN, TOKEN, FINISH))))
RESET = Script((), framing="raw", ending="reset")


@behaviour
def talk(agent: Agent) -> Session:
    """User, results of two calls, results of no call, an own limit for the answer."""
    reply = yield agent.user("Fix it.", tokens=60)
    note("talk", words(reply))
    reply = yield agent.tool_results(reply, tokens=80)
    note("talk", words(reply))
    reply = yield agent.tool_results(reply, tokens=40)
    reply = yield agent.user("Bye.", answer_tokens=7)


@behaviour
def rest(agent: Agent) -> Session:
    """Pauses that are scaled, and capped."""
    for seconds in (20.0, 10_000.0, 0.0):
        yield agent.user("Next.")
        note("rest", (yield agent.pause(seconds)))
    yield agent.user("Next.")


@behaviour
def beside(agent: Agent) -> Session:
    """A side session from the first moment, and a second one later."""

    def title(child: Agent) -> Session:
        yield child.user("Make a title.")
        yield child.user("A shorter one.")

    first = yield agent.side(title(agent.child()))
    yield agent.user("Fix it.")
    second = yield agent.side(title(agent.child()))
    yield agent.user("Go on.")
    replies = yield agent.join([second, first])
    note("beside", [words(reply)[2] for reply in replies])


def explore(child: Agent, turns: int) -> Session:
    """A sub-agent whose last reply is told apart by its session."""
    for number in range(turns):
        reply = yield child.user(f"Look {number}.")
    if turns:
        note(child.session, reply.text)


@behaviour
def delegate(agent: Agent) -> Session:
    """Three sub-agents of different length, waited for."""
    yield agent.user("Fix it.")
    children = [agent.child() for _ in range(3)]
    replies = yield agent.spawn([explore(child, 3 - place) for place, child in enumerate(children)])
    note("delegate", [[child.session, reply.text] for child, reply in zip(children, replies, strict=True)])
    yield agent.user("Thanks.")


@behaviour
def delegate_and_go_on(agent: Agent) -> Session:
    """Sub-agents that run while their parent goes on; one of them has no turn, one has a sub-agent itself."""

    def nested(child: Agent) -> Session:
        yield child.user("Look.")
        replies = yield child.spawn([explore(child.child(), 1)])
        note("nested", len(replies))

    yield agent.user("Fix it.")
    children = [agent.child() for _ in range(3)]
    sessions = [nested(children[0]), explore(children[1], 1), explore(children[2], 0)]
    handles = yield agent.spawn(sessions, wait=False)
    yield agent.user("Meanwhile.")
    replies = yield agent.join(list(reversed(handles)))
    note("joined", [None if reply is None else str(reply.outcome) for reply in replies])
    again = yield agent.join(handles)
    note("joined", [None if reply is None else str(reply.outcome) for reply in again])


@behaviour
def leave(agent: Agent) -> Session:
    """Leaves by the clock and by chunks, and goes on."""
    reply = yield agent.user("One.").leave(after_s=0.4)
    note("leave", words(reply))
    reply = yield agent.user("Two.").leave(after_chunks=2)
    note("leave", words(reply))
    reply = yield agent.user("Three.")
    note("leave", words(reply))


@behaviour
def compact(agent: Agent) -> Session:
    """A history that is summarised, once in vain, and goes on."""
    for number in range(4):
        reply = yield agent.user(f"Question {number}.", tokens=60)
    reply = yield agent.compact(keep_tokens=150, summary_tokens=33)
    note("compact", words(reply))
    reply = yield agent.compact(keep_tokens=150, summary_tokens=33)
    note("compact", words(reply))
    reply = yield agent.tool_results(reply, tokens=40)
    yield agent.user("Go on.")


@behaviour
def child_in_line(agent: Agent) -> Session:
    """A second history in the same session."""
    child = agent.child()
    yield agent.user("Fix it.")
    yield child.user("Look.")
    yield child.user("Look again.")
    yield agent.user("Go on.")


@behaviour
def insist(agent: Agent) -> Session:
    """Turns that a profile retries, or does not."""
    for number in range(4):
        reply = yield agent.user(f"Try {number}.")
        note("insist", words(reply)[2])


@behaviour
def insist_at_last(agent: Agent) -> Session:
    """The last turn of a run, which is asked again."""
    yield agent.user("Try.")


@behaviour
def share(agent: Agent) -> Session:
    """A few turns of many agents."""
    for _ in range(3):
        yield agent.user("Fix it.", tokens=100)


@behaviour
def tell_time(agent: Agent) -> Session:
    """The server's time of each token."""
    for _ in range(2):
        reply = yield agent.user("When?")
        note("tell_time", [int(text) / 1e9 for text in reply.text.split()])
    note("clock", time() - monotonic())


@behaviour
def outlive(agent: Agent) -> Session:
    """A server that ends between two turns."""
    yield agent.user("One.")
    GOING.stop()
    reply = yield agent.user("Two.")
    note("outlive", words(reply)[2])


GOING = ReplayServer([answer("so", 200)])


def one(made: Behaviour, answers: list[Script], profile: Profile = PROFILE, agents: int = 1, **keys: object) -> Case:
    """A run of one entry, named after its behaviour."""
    name = made.name.replace("_", "-")
    return Case(name, {name: made}, answers, profile, keys, agents)


def main() -> None:
    """All of them."""
    GOING.start()
    SEEN["loop"] = []
    gevent.spawn(watch_the_loop)
    hang = replace(stamped(60.0), ending="hang")
    cases = [
        one(talk, [answer("so", 200, calls=2), answer("hm", 300), answer("hm", 400), answer("bye", 420)]),
        one(rest, [answer("so", 200)], gaps={"scale": 0.01, "cap": "400ms"}),
        one(beside, [stamped(0.5)], PATIENT),
        one(
            delegate,
            [answer("so", 200), *[stamped(0.5)] * 3, *(answer(f"r{n}", 200) for n in range(9))],
            PATIENT,
        ),
        one(delegate_and_go_on, [stamped(0.5)], PATIENT),
        one(leave, [hang, two_of_three(), answer("so", 260)], PATIENT),
        one(
            compact,
            [
                *(answer(f"Answer {n}.", 200 + 60 * n, calls=n % 2) for n in range(4)),
                RESET,
                answer("It is long.", 500),
                answer("so", 300),
                answer("so", 360),
            ],
        ),
        one(child_in_line, [answer("so", 200)]),
        one(
            insist,
            [RESET, RESET, answer("so", 200), RESET, RESET, RESET, Script((), 503), hang_up(), answer("x", 9)],
            RETRYING,
        ),
        one(insist_at_last, [RESET, answer("so", 200)], SLOWLY, turns=1),
        one(share, [answer("so", 200)], agents=3),
        one(share_scripted, [answer("so", 200)], agents=2, replies="scripted", outputs="drawn", scale=0.5),
        one(tell_time, [SPACED, replace(SPACED, framing="chunked")], PATIENT),
        Case("outlive", {"outlive": outlive}, [], PROFILE, server=GOING),
    ]
    try:
        run_all(cases, SEEN)
    finally:
        GOING.stop()


@behaviour
def share_scripted(agent: Agent) -> Session:
    """A few turns whose answers are the script's."""
    for _ in range(3):
        reply = yield agent.user("Fix it.", tokens=100)
        yield agent.tool_results(reply, tokens=100)


def two_of_three() -> Script:
    """A stream whose third token is not to come while anybody listens."""
    a, b, c, *_ = chat_stream(["a", "b", "c"], 0.02, 0.1).sends
    return Script((a, b, (60.0, c[1])), ending="hang")


def hang_up() -> Script:
    """A stream that is reset after a token."""
    return Script((*answer("so", 200).sends[:1], (0.1, b"")), ending="reset")


if __name__ == "__main__":
    main()
