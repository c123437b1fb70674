"""The session loop: a human says something, the model calls tools until it has an answer, the human reads it."""

from locust_agents.draws import Table
from locust_agents.plugins.api import (
    FINAL_ANSWER,
    HUMAN_GAP,
    HUMAN_TEXT,
    TOOL_CALL,
    TOOL_GAP,
    TOOL_RESULT,
    Agent,
    Reply,
    Session,
    behaviour,
)
from locust_agents.plugins.behaviours.title_call import side_calls
from locust_agents.session_shape import loops


@behaviour
def coding_session(
    agent: Agent, human_turns: int | None = None, loop_length: int | None = None, drawn_answers: bool = False
) -> Session:
    """A session as measured: messages, model calls for each, sizes and gaps are drawn from Claude Code's traces.

    `drawn_answers` limits each answer to a drawn size, where a model says too much or too little to be like a real one.
    """
    yield from side_calls(agent)
    for calls in loops(agent.rng, human_turns, loop_length):
        size = _answer(agent, calls == 1, drawn_answers)
        reply: Reply = yield agent.user("Now do this, please.", agent.draw(HUMAN_TEXT), size)
        for left in reversed(range(calls - 1)):
            if not reply.ok:
                return
            yield agent.pause(agent.draw(TOOL_GAP))
            size = _answer(agent, left == 0, drawn_answers)
            reply = yield agent.tool_results(reply, agent.draw(TOOL_RESULT), size)
        if not reply.ok:
            return
        yield agent.pause(agent.draw(HUMAN_GAP))


def _answer(agent: Agent, ends_loop: bool, is_drawn: bool) -> int | None:
    table: Table = FINAL_ANSWER if ends_loop else TOOL_CALL
    return round(agent.draw(table)) if is_drawn else None
