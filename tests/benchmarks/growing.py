"""A conversation of 60 turns and 100k tokens, as the benchmark of its cost grows it: over the wire, and by itself."""

from collections.abc import Iterator

from locust_agents.answers.stream import Answer, ToolCall
from locust_agents.outcome import Outcome
from locust_agents.plan import MODEL
from locust_agents.plugins import registry
from locust_agents.plugins.api import Agent, Say, Session, Turn, behaviour
from locust_agents.prompts import preambles
from locust_agents.prompts.dialogue import Dialogue, Style
from locust_agents.prompts.sizing import Calibration, Sizer
from tests.benchmarks.clocks import Moment, now

TURNS = 60
TOKENS = 100_000

# What is left of a turn's share after the preamble, the answer and the template.
_RESULT_TOKENS = (TOKENS - 6724) / TURNS - 20
_CALL = ToolCall("call-0", "read", '{"filePath": "src/app.py"}')

yielded: list[Moment] = []
"""When `long_session` gave its last turn to the driver."""


@behaviour
def long_session(agent: Agent) -> Session:
    """Turns with a tool result each; notes when it yields the last one."""
    reply = yield agent.user("Find the fault.", tokens=_RESULT_TOKENS)
    for _ in range(TURNS - 2):
        reply = yield agent.tool_results(reply, tokens=_RESULT_TOKENS)
    yielded.append(now())
    yield agent.tool_results(reply, tokens=_RESULT_TOKENS)


def parts(number: int) -> tuple[Moment, Moment]:
    """What it takes to make and append the last message, and to build the body around it; no server is asked."""
    calibration = Calibration("")
    profile = registry.profile("opencode")
    style = Style(profile, preambles.calibrated(profile, MODEL, 1.0, calibration))
    agent = Agent("grower", f"grower#{number}", str(number))
    dialogue = Dialogue(agent, style, Sizer(calibration))
    for turn in _turns(agent):
        begun = now()
        dialogue.say(turn.says)
        said = now()
        dialogue.body(8192)
        built = now()
        dialogue.hear(Answer(content=["Next."], tool_calls={0: _CALL}), Outcome.OK, 0.1)
    return said.since(begun), built.since(said)


def _turns(agent: Agent) -> Iterator[Turn]:
    yield agent.user("Find the fault.", tokens=_RESULT_TOKENS)
    for _ in range(TURNS - 1):
        yield Turn(agent, (Say("", _RESULT_TOKENS, _CALL),))
