"""A test fails: explore, read files, edit, run the test, and again until it passes."""

from locust_agents.plugins.api import (
    HUMAN_GAP,
    HUMAN_TEXT,
    TOOL_GAP,
    TOOL_RESULT,
    Agent,
    Reply,
    Session,
    behaviour,
)

# What a test runner prints: a short traceback and the counts. An assumption, near the median tool result (297).
_TEST_OUTPUT_TOKENS = 400


@behaviour
def fix_failing_test(agent: Agent, reads: int = 8, attempts: int = 3) -> Session:
    """Reads `reads` files, then edits and runs the test up to `attempts` times; each step waits for its tool."""
    reply: Reply = yield agent.user("This test fails. Find out why and fix it.", tokens=agent.draw(HUMAN_TEXT))
    for _ in range(reads):
        if not reply.ok:
            return
        yield agent.pause(agent.draw(TOOL_GAP))
        reply = yield agent.tool_results(reply, tokens=agent.draw(TOOL_RESULT))
    for _ in range(attempts):
        if not reply.ok:
            return
        yield agent.pause(agent.draw(TOOL_GAP))
        reply = yield agent.tool_results(reply, tokens=_TEST_OUTPUT_TOKENS)
        if agent.rng.random() < 1 / attempts:
            break
    yield agent.pause(agent.draw(HUMAN_GAP))
