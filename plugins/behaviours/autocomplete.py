"""Completion while someone types: a request after each rest of the fingers, dropped at the next key."""

from locust_agents.draws_elsewhere import COMPLETION, KEY_GAP
from locust_agents.plugins.api import TOOL_GAP, Agent, Reply, Session, behaviour

# Continue's own settings, read in its source: a prompt of 1,024 tokens, 30 % of them before and 20 % behind the hole,
# sent 350 ms after the last key.
_BEFORE_TOKENS, _BEHIND_TOKENS = 307, 205
_DEBOUNCE_S = 0.35


@behaviour
def autocomplete(agent: Agent, bursts: int = 10, most_keys: int = 8) -> Session:
    """Types in `bursts` of up to `most_keys` requests; all but the last of a burst are left at the next key."""
    for _ in range(bursts):
        for left in reversed(range(agent.rng.randint(1, most_keys))):
            yield agent.pause(_DEBOUNCE_S, always=True)
            turn = agent.complete(_BEFORE_TOKENS, _BEHIND_TOKENS, round(agent.draw(COMPLETION)))
            reply: Reply = yield turn.leave(after_s=agent.draw(KEY_GAP)) if left else turn
            if reply.outcome.is_failure:
                return
        yield agent.pause(agent.draw(TOOL_GAP))
