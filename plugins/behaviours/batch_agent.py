"""An agent without a human: one task, one tool after the other, until it is done."""

from locust_agents.draws_elsewhere import TOOL_LATENCY
from locust_agents.plugins.api import HUMAN_TEXT, TOOL_RESULT, Agent, Reply, Session, behaviour


@behaviour
def batch_agent(agent: Agent, least_steps: int = 26, most_steps: int = 64) -> Session:
    """Solves a task in `least_steps` to `most_steps` model calls; for profiles that do not stream, as mini-swe-agent.

    The bounds are mean lengths of public trajectory sets: nebius SWE-agent 26.4, SWE-rebench-OpenHands 64.3.
    """
    reply: Reply = yield agent.user("Solve this issue. Do not ask.", tokens=agent.draw(HUMAN_TEXT))
    for _ in range(agent.rng.randint(least_steps, max(least_steps, most_steps)) - 1):
        if not reply.ok:
            return
        yield agent.pause(agent.draw(TOOL_LATENCY))
        reply = yield agent.tool_results(reply, tokens=agent.draw(TOOL_RESULT))
