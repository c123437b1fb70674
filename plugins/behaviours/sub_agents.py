"""Delegating: sub-agents that share their system prompt start together, and may delegate further."""

from collections.abc import Sequence

from locust_agents.draws import SUB_PROMPT, SUB_REQUESTS
from locust_agents.plugins.api import (
    HUMAN_GAP,
    HUMAN_TEXT,
    TOOL_GAP,
    TOOL_RESULT,
    Agent,
    Handle,
    Reply,
    Session,
    behaviour,
)

# Most at once on a level: Qwen Code went 2, 4, 8, 16 with a model that always delegates, on the wire in November 2026.
_MOST = 16
# OpenCode starts its sub-agents so far apart, same measurement.
_APART_S = 0.1
# What a sub-agent is told: first prompt less system and tools of 63 sub-agents in kv-cache-tester, medians.
_TASK_TOKENS = 1612
# What a sub-agent's answers add to its own history, and its last one to its parent's: mean of the traces' steps.
_ANSWER_TOKENS = 416


@behaviour
def sub_agents(agent: Agent, n: int = 2, depth: int = 1, wait: bool | None = None) -> Session:
    """Starts `n` sub-agents (1 to 16), which start as many down to `depth` levels; waits for them, or goes on.

    `wait` unset: as the profile's product does. Nobody has more than the product allows, nor a level more than 16.
    """
    profile = agent.profile
    waits = wait if wait is not None else profile is None or profile.sub_agents != "go_on"
    most = min(max(1, n), _MOST, (profile and profile.most_sub_agents) or _MOST)
    reply: Reply = yield agent.user("Look into these parts, one agent each.", tokens=agent.draw(HUMAN_TEXT))
    if reply.ok:
        yield from _delegated(agent, reply, [most] * max(1, depth), waits, 1)
        yield agent.pause(agent.draw(HUMAN_GAP))


def _delegated(agent: Agent, reply: Reply, levels: Sequence[int], waits: bool, width: int) -> Session:
    """Sub-agents of one agent, of whose kind there are `width`; then their reports, as one message."""
    number = min(levels[0], _MOST // width)
    subs = [_sub(agent.child("sub"), place, levels[1:], waits, width * number) for place in range(number)]
    started: list[Handle] = yield agent.spawn(subs, wait=waits)
    if not waits:
        yield agent.pause(agent.draw(TOOL_GAP))
        reply = yield agent.tool_results(reply, tokens=agent.draw(TOOL_RESULT))
        yield agent.join(started)
    if reply.ok:
        yield agent.tool_results(reply, tokens=_ANSWER_TOKENS * number)


def _sub(agent: Agent, place: int, levels: Sequence[int], waits: bool, width: int) -> Session:
    """Reads until its prompt is as long as a real one's; `agent.preamble_tokens` is where it begins."""
    yield agent.pause(_APART_S * place, always=True)
    reply: Reply = yield agent.user("Find out how this part works and report.", tokens=_TASK_TOKENS)
    if reply.ok and levels and width < _MOST:
        yield from _delegated(agent, reply, levels, waits, width)
    steps = round(agent.draw(SUB_REQUESTS)) - 1
    grows = agent.draw(SUB_PROMPT) - agent.preamble_tokens - _TASK_TOKENS
    for _ in range(steps):
        if not reply.ok:
            return
        yield agent.pause(agent.draw(TOOL_GAP))
        reply = yield agent.tool_results(reply, tokens=max(0.0, grows / steps - _ANSWER_TOKENS))
