"""Looking around in a repository: a search, what it found read file by file, and again."""

from locust_agents.plugins.api import HUMAN_GAP, HUMAN_TEXT, TOOL_GAP, Agent, Reply, Session, behaviour

# Mean results in 254 autonomous Claude Code sessions (timetobuildbob's blog): grep 1.3k and read 4.1k characters, here
# at 4.4 characters a token.
_SEARCH_TOKENS = 295
_READ_TOKENS = 930


@behaviour
def explore_repo(agent: Agent, searches: int = 3, reads: int = 4) -> Session:
    """Searches `searches` times, reads `reads` files after each search, and says how it all hangs together."""
    reply: Reply = yield agent.user("How does this code base work?", tokens=agent.draw(HUMAN_TEXT))
    for step in range(searches * (1 + reads)):
        if not reply.ok:
            return
        yield agent.pause(agent.draw(TOOL_GAP))
        mean = _SEARCH_TOKENS if step % (1 + reads) == 0 else _READ_TOKENS
        reply = yield agent.tool_results(reply, tokens=agent.rng.expovariate(1 / mean))
    if reply.ok:
        yield agent.pause(agent.draw(HUMAN_GAP))
