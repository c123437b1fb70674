"""A review: a whole diff at once, a few files around it, then a long answer."""

from locust_agents.plugins.api import HUMAN_GAP, TOOL_GAP, TOOL_RESULT, Agent, Reply, Session, behaviour


@behaviour
def review_diff(agent: Agent, diff_tokens: int = 6000, reads: int = 4) -> Session:
    """Sends a diff of `diff_tokens` to be judged; the model looks at `reads` places around it before it answers.

    Both defaults are assumptions: a pull request of some 500 lines at 12 tokens a line, and a look at a file each.
    """
    reply: Reply = yield agent.user("Review this diff: what is wrong, what is missing?", tokens=diff_tokens)
    for _ in range(reads):
        if not reply.ok:
            return
        yield agent.pause(agent.draw(TOOL_GAP))
        reply = yield agent.tool_results(reply, tokens=agent.draw(TOOL_RESULT))
    if reply.ok:
        yield agent.pause(agent.draw(HUMAN_GAP))
