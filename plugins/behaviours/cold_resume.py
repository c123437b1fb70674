"""An old session taken up again: its whole history has to be read, since no cache has any of it."""

from locust_agents.draws_elsewhere import COLD_HISTORY
from locust_agents.plugins.api import HUMAN_GAP, HUMAN_TEXT, TOOL_GAP, TOOL_RESULT, Agent, Reply, Session, behaviour


@behaviour
def cold_resume(agent: Agent, history_tokens: int | None = None, resumes: int = 2, steps: int = 3) -> Session:
    """Takes up a history of `history_tokens` (drawn: TraceLab's cold steps) `resumes` times, `steps` turns each.

    A draw is cut at 0.9 of the profile's window, where clients compact. `resumes` and `steps` are assumptions.
    """
    window = 200_000 if agent.profile is None else agent.profile.window_tokens
    size = agent.draw(COLD_HISTORY) if history_tokens is None else history_tokens
    told = max(1.0, min(size, 0.9 * window) - agent.preamble_tokens)
    for _ in range(resumes):
        reply: Reply = yield agent.user("Where were we? Go on.", tokens=told).fresh()
        told = agent.draw(HUMAN_TEXT)
        for _ in range(steps):
            if not reply.ok:
                return
            yield agent.pause(agent.draw(TOOL_GAP))
            reply = yield agent.tool_results(reply, tokens=agent.draw(TOOL_RESULT))
        if not reply.ok:
            return
        yield agent.pause(agent.draw(HUMAN_GAP))
