"""Every way a turn, or a run, can end, in runs side by side; what came of them is printed as JSON."""

import locust  # noqa: F401, I001 (first: it patches the standard library)

from dataclasses import replace
from typing import Any

import gevent
from locust.env import Environment
from locust.event import Events

from many_runs import Case, run_all  # type: ignore[import-not-found]

from locust_agents.cluster.replay import ReplayServer, Script, chat_stream
from locust_agents.prompts.dialogue import Style
from locust_agents.locustfiles.driver import Driver
from locust_agents.locustfiles.swarm import Swarm
from locust_agents.locustfiles.turn_taking import Leaves, Manner
from locust_agents.patience import Timeouts
from locust_agents.plan import RunPlan
from locust_agents.plugins.api import Agent, Session, behaviour
from locust_agents.profile import Profile
from locust_agents.records import TurnRecord
from locust_agents.scenarios.model import Scenario, Server
from locust_agents.prompts.sizing import Calibration

QUICK = Profile("quick", "P", "here", 50, 60, ("read",), 64, timeouts=Timeouts(5.0, 0.4, 0.4, 0.4))
FOOLED = replace(QUICK, name="fooled", comments_reset=True)
PATIENT = replace(QUICK, name="patient", timeouts=Timeouts(5.0, 60.0, 60.0, 60.0))

EVENT = b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n'
FINISH = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"
HTML = b"<html>\n\n<body>busy</body></html>\n"
OK = chat_stream(["a", "b"], 0.02, 0.01, usage=(200, 0, 2))
SLOW = chat_stream(["a", "b", "c"], 0.05, 60.0, usage=(200, 0, 3))
UNHURRIED = chat_stream(["a", "b", "c"], 0.05, 1.0, usage=(200, 0, 3))
COMMENTS = Script(tuple((count / 10, b": keepalive 1/2\n\n") for count in range(8)))


def at_once(*sends: bytes, status: int = 200, **more: Any) -> Script:
    """All bytes in the first moment."""
    return Script(tuple((0.0, data) for data in sends), status, **more)


# outcome, what the server does
ENDINGS: list[tuple[str, Script]] = [
    ("reset", Script((), framing="raw", ending="reset")),
    ("reset", Script(((0.0, EVENT), (0.1, b"")), ending="reset")),
    ("first_token_timeout", Script((), framing="raw", ending="hang")),
    ("first_token_timeout", at_once(ending="hang")),
    ("stalled", at_once(EVENT, ending="hang")),
    ("first_token_timeout", COMMENTS),
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


@behaviour
def meet_them_all(agent: Agent) -> Session:
    """A turn for each ending, whatever came before."""
    for _ in ENDINGS:
        yield agent.user("Next.")


@behaviour
def listen(agent: Agent) -> Session:
    """Two turns."""
    yield agent.user("One.")
    yield agent.user("Two.")


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
        run.join(10)
        swarm.close()
    return {"ended": run.value, "outcomes": [str(record.outcome) for record in kept]}


def main() -> None:
    """All of them."""
    answers = [script for _, script in ENDINGS]
    cut = {"duration": "1s", "drain": "0s"}
    cases = [
        Case("endings", {"a": meet_them_all}, answers, QUICK),
        Case("fooled", {"a": listen}, [Script((*COMMENTS.sends, *OK.later(0.8).sends)), COMMENTS], FOOLED),
        Case("cut", {"a": crowd}, [OK, SLOW], PATIENT, cut),
        Case("cut-before-headers", {"a": short}, [Script((), framing="raw", ending="hang")], PATIENT, cut),
        Case("forgotten", {"a": forget}, [UNHURRIED, OK], PATIENT),
        Case("drained", {"a": busy}, [OK.later(0.5)], PATIENT, {"duration": "1200ms", "drain": "20s"}),
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
