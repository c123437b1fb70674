"""Every way a turn, or a run, can end, in runs side by side; what came of them is printed as JSON."""

import locust  # noqa: F401, I001 (first: it patches the standard library)

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gevent
from locust.env import Environment
from locust.event import Events

from many_runs import Case, run_all, until  # type: ignore[import-not-found]

from locust_agents.cluster.replay import ReplayServer, Script, chat_stream
from locust_agents.prompts.dialogue import Style
from locust_agents.locustfiles.conductor import Conductor
from locust_agents.locustfiles.driver import Driver
from locust_agents.locustfiles.swarm import Swarm
from locust_agents.locustfiles.session_values import Leaves, Manner
from locust_agents.patience import Timeouts
from locust_agents.plan import RunPlan
from locust_agents.plugins.api import Agent, Session, behaviour
from locust_agents.profile import Profile
from locust_agents.records import TurnRecord
from locust_agents.scenarios.model import Scenario, Server
from locust_agents.prompts.sizing import Calibration

PATIENT = Profile("patient", "P", "here", 50, 60, ("read",), 64, timeouts=Timeouts(60.0, 60.0, 60.0, 60.0))
# What is answered in time must not depend on how quick this machine is: only who waits in vain has short limits.
QUICK = replace(PATIENT, name="quick", timeouts=Timeouts(60.0, 0.4, 0.4, 60.0))
CURT = replace(PATIENT, name="curt", timeouts=Timeouts(60.0, 60.0, 60.0, 0.4))
FOOLED = replace(PATIENT, name="fooled", comments_reset=True, timeouts=Timeouts(60.0, 60.0, 0.4, 0.4))

EVENT = b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n'
FINISH = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"
HTML = b"<html>\n\n<body>busy</body></html>\n"
OK = chat_stream(["a", "b"], 0.02, 0.01, usage=(200, 0, 2))
SLOW = chat_stream(["a", "b", "c"], 0.05, 60.0, usage=(200, 0, 3))
UNHURRIED = chat_stream(["a", "b", "c"], 0.05, 1.0, usage=(200, 0, 3))
COMMENTS = Script(tuple((count / 10, b": keepalive 1/2\n\n") for count in range(8)))
ENDLESS_COMMENTS = Script(tuple((count / 10, b": keepalive 1/2\n\n") for count in range(600)), ending="hang")
# Comments that a client waits through may come too late for it now and then: so often it asks.
TRIES = 30


def at_once(*sends: bytes, status: int = 200, **more: Any) -> Script:
    """All bytes in the first moment."""
    return Script(tuple((0.0, data) for data in sends), status, **more)


# outcome, what the server does
ENDINGS: list[tuple[str, Script]] = [
    ("reset", Script((), framing="raw", ending="reset")),
    ("reset", Script(((0.0, EVENT), (0.1, b"")), ending="reset")),
    ("http_error", at_once(b'{"error": "no"}', status=404)),
    ("http_error", at_once(HTML, status=503)),
    ("bad_protocol", at_once(HTML)),
    ("empty_stream", at_once()),
    ("error_in_stream", at_once(b'{"error": "no"}')),
    ("truncated", at_once(EVENT, EVENT[:20])),
    ("ok", at_once(*(data.replace(b"\n", b"\r\n") for data in (EVENT, FINISH, DONE)))),
    ("ok", at_once(EVENT.replace(b'"a"', b'"%b"' % (b"x" * 1_000_000)), FINISH, DONE)),
    ("bad_protocol", at_once(EVENT.replace(b'"a"', b'"\xff"'))),
    ("truncated", at_once(EVENT, EVENT, framing="chunked", ending="cut")),
    ("truncated", at_once(EVENT)),
    ("ok", at_once(EVENT.replace(b'"a"', b'"\\ud83d"'), FINISH, DONE)),
    ("ok", OK),
]
IN_VAIN = [Script((), framing="raw", ending="hang"), at_once(ending="hang"), ENDLESS_COMMENTS]


@behaviour
def meet_them_all(agent: Agent) -> Session:
    """A turn for each ending, whatever came before."""
    for _ in ENDINGS:
        yield agent.user("Next.")


@behaviour
def wait_in_vain(agent: Agent) -> Session:
    """A turn for each way to say nothing."""
    for _ in IN_VAIN:
        yield agent.user("Next.")


@behaviour
def hear_a_word(agent: Agent) -> Session:
    """Asks until it is answered."""
    yield from until(agent, "ok", "Next.", TRIES)


@behaviour
def hear_no_word(agent: Agent) -> Session:
    """Asks until it has waited for an answer to its end."""
    yield from until(agent, "empty_stream", "Next.", TRIES)


def wait(child: Agent) -> Session:
    """One turn."""
    yield child.user("Wait.")


@behaviour
def crowd(agent: Agent) -> Session:
    """A side and two sub-agents that are all in mid-stream when the run ends."""
    yield agent.user("One.")
    yield agent.side(wait(agent.child()))
    yield agent.spawn([wait(agent.child()), wait(agent.child())])


@behaviour
def forget(agent: Agent) -> Session:
    """Ends while its side session is in mid-stream."""
    yield agent.side(wait(agent.child()))
    yield agent.pause(0.3)
    yield agent.user("One.")


@behaviour
def busy(agent: Agent) -> Session:
    """Turns without an end."""
    while True:
        yield agent.user("Next.")


@behaviour
def short(agent: Agent) -> Session:
    """One turn a session."""
    yield agent.user("Next.")


def cut_while_joined() -> dict[str, Any]:
    """A worker is told to cut open turns while a parent waits for its sub-agents."""
    kept: list[TurnRecord] = []
    with ReplayServer([SLOW]) as server:
        plan = RunPlan("run", "", server.url, Calibration(""))
        swarm = Swarm(plan, Scenario(name="x", server=Server(), swarm={}), Environment(events=Events()), kept.append)
        style = Style(PATIENT, swarm.preamble(PATIENT, 1.0))
        driver = Driver(swarm, Manner("a", "b", style, PATIENT.timeouts), lambda: False)
        agent = Agent("a/0.0", "a/0.0#0", "1")

        def parent() -> Session:
            replies = yield agent.spawn([wait(agent.child()), wait(agent.child())])
            assert all(reply.ok for reply in replies)

        def drive() -> str:
            try:
                return str(driver.run(parent()))
            except Leaves:
                return "left"

        run = gevent.spawn(drive)
        while len(swarm.open) < 2 or any(turn.exchange.answer.first_token_s is None for turn in swarm.open.values()):
            gevent.sleep(0.02)
        swarm.drain(cut=True)
        run.join(60)
        swarm.close()
    return {"ended": run.value, "outcomes": [str(record.outcome) for record in kept]}


def draining(is_so: Callable[[Swarm], bool]) -> Callable[[Conductor], bool]:
    """Ends a run as its time does, at the moment when it is so."""

    def part(conductor: Conductor) -> bool:
        assert conductor.swarm is not None
        if is_so(conductor.swarm):
            conductor.drain()
        return conductor.until is not None

    return part


def are_in_stream(swarm: Swarm) -> bool:
    """All three."""
    return len(swarm.open) == 3 and all(turn.exchange.answer.chunks for turn in swarm.open.values())


def are_sent(swarm: Swarm) -> bool:
    """And not answered."""
    return any(turn.exchange.sent_s is not None for turn in swarm.open.values())


def is_at_third(swarm: Swarm) -> bool:
    """Two turns are over, and one is open."""
    return swarm.opened_ever == 3 and are_sent(swarm)


def main() -> None:
    """All of them."""
    answers = [script for _, script in ENDINGS]
    cut = {"drain": "0s"}
    silence = Script((), framing="raw", ending="hang")
    cases = [
        Case("endings", {"a": meet_them_all}, answers, PATIENT),
        Case("in-vain", {"a": wait_in_vain}, IN_VAIN, QUICK),
        Case("in-silence", {"a": short}, [at_once(EVENT, ending="hang")], CURT),
        Case("fooled", {"a": hear_a_word}, [Script((*COMMENTS.sends, *OK.later(0.8).sends))], FOOLED),
        Case("fooled-in-vain", {"a": hear_no_word}, [COMMENTS], FOOLED),
        Case("cut", {"a": crowd}, [OK, SLOW], PATIENT, cut, meddle=draining(are_in_stream)),
        Case("cut-before-headers", {"a": short}, [silence], PATIENT, cut, meddle=draining(are_sent)),
        Case("forgotten", {"a": forget}, [UNHURRIED, OK], PATIENT),
        Case("drained", {"a": busy}, [OK.later(0.5)], PATIENT, {"drain": "60s"}, meddle=draining(is_at_third)),
        Case("turns", {"a": busy}, [OK], PATIENT, {"turns": 5}, agents=2),
        Case("sessions", {"a": short}, [OK], PATIENT, {"sessions": 3}, agents=2),
        Case(
            "refused-at-once", {"a": short}, [at_once(status=503)], QUICK, {"sessions": 100_000, "duration": "1500ms"}
        ),
    ]
    joined = gevent.spawn(cut_while_joined)
    run_all(cases, {"endings": [outcome for outcome, _ in ENDINGS], "joined": joined})


if __name__ == "__main__":
    main()
