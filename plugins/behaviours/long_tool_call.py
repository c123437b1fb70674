"""A file written in one tool call: minutes without a byte, since a server sends a call when it is complete."""

from locust_agents.plugins.api import HUMAN_GAP, HUMAN_TEXT, TOOL_GAP, Agent, Reply, Session, behaviour

# "written: 180 lines", what an edit tool returns; an assumption.
_DONE_TOKENS = 20


@behaviour
def long_tool_call(agent: Agent, least_tokens: int = 2000, most_tokens: int = 8000, files: int = 2) -> Session:
    """Asks for `files` new files, each answer up to a drawn size between `least_tokens` and `most_tokens`.

    Between p95 of a tool-call step in the kv-cache-tester traces (1.4k) and the largest (16.7k); 4k at 20 tokens/s are
    200 s of silence.
    """
    reply: Reply = yield agent.user(
        "Write the whole module to a file, with its tests.",
        agent.draw(HUMAN_TEXT),
        _drawn(agent, least_tokens, most_tokens),
    )
    for left in reversed(range(files)):
        if not reply.ok:
            return
        yield agent.pause(agent.draw(TOOL_GAP))
        limit = _drawn(agent, least_tokens, most_tokens) if left else None
        reply = yield agent.tool_results(reply, _DONE_TOKENS, limit)
    if reply.ok:
        yield agent.pause(agent.draw(HUMAN_GAP))


def _drawn(agent: Agent, least: int, most: int) -> int:
    return round(agent.rng.uniform(least, most))
