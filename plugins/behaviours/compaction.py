"""A session that outgrows a limit, is summarised and goes on; or whose summary does not help."""

from locust_agents.plugins.api import HUMAN_GAP, HUMAN_TEXT, TOOL_GAP, TOOL_RESULT, Agent, Reply, Session, behaviour

# Mean answer of a tool-call step in the kv-cache-tester traces: what a history grows by beside what it is told.
_ANSWER_TOKENS = 416
# Claude Code's first prompt after a compaction less its preamble, medians of the same traces: 34.0k - 13.0k.
_KEEP_TOKENS, _SUMMARY_TOKENS = 20_000, 1_000


@behaviour
def compaction(agent: Agent, limit_tokens: int = 50_000, times: int = 2, loops: bool = False) -> Session:
    """Works until its prompt has `limit_tokens`, summarises, goes on, `times` times; `loops`: to no avail, every time.

    The default limit is an assumption, below those of the profiles: what a client compacts by itself comes on top.
    With `loops` it is OpenCode told of a usage above its limit (on the wire, November 2026): every third request.
    """
    size = agent.preamble_tokens
    reply: Reply = yield agent.user("Move everything to the new interface.", tokens=agent.draw(HUMAN_TEXT))
    for _ in range(times):
        while reply.ok and size < limit_tokens:
            yield agent.pause(agent.draw(TOOL_GAP))
            tokens = agent.draw(TOOL_RESULT)
            reply = yield agent.tool_results(reply, tokens)
            size += tokens + _ANSWER_TOKENS
        if not reply.ok:
            return
        yield agent.compact(limit_tokens if loops else _KEEP_TOKENS, _SUMMARY_TOKENS)
        size = size if loops else agent.preamble_tokens + _KEEP_TOKENS + _SUMMARY_TOKENS
        reply = yield agent.user("Go on where you were.", tokens=20)
        if reply.ok:
            reply = yield agent.tool_results(reply, tokens=agent.draw(TOOL_RESULT))
    yield agent.pause(agent.draw(HUMAN_GAP))
