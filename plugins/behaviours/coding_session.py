"""The session loop: a human says something, the model calls tools until it has an answer, the human reads it."""

from locust_agents.plugins.api import HUMAN_GAP, HUMAN_TEXT, TOOL_GAP, TOOL_RESULT, Agent, Reply, Session, behaviour
from locust_agents.plugins.behaviours.title_call import side_calls
from locust_agents.session_shape import loops


@behaviour
def coding_session(agent: Agent, human_turns: int | None = None, loop_length: int | None = None) -> Session:
    """A session as measured: messages, model calls for each, sizes and gaps are drawn from Claude Code's traces."""
    yield from side_calls(agent)
    for calls in loops(agent.rng, human_turns, loop_length):
        turn = agent.user("Now do this, please.", agent.draw(HUMAN_TEXT))
        reply: Reply = yield turn.final() if calls == 1 else turn
        for left in reversed(range(calls - 1)):
            if not reply.ok:
                return
            yield agent.pause(agent.draw(TOOL_GAP))
            turn = agent.tool_results(reply, agent.draw(TOOL_RESULT))
            reply = yield turn if left else turn.final()
        if not reply.ok:
            return
        yield agent.pause(agent.draw(HUMAN_GAP))
