"""A short and a long prompt sent together: the pair that killed servers with sliding-window caches."""

from locust_agents.plugins.api import HUMAN_GAP, Agent, Session, behaviour


@behaviour
def mixed_pair(
    agent: Agent, short_tokens: int = 500, least_tokens: int = 7000, most_tokens: int = 20000, pairs: int = 1
) -> Session:
    """Sends a prompt of `short_tokens` beside one of `least_tokens` to `most_tokens`, system and tools included.

    As a title call and a main request do: mlx-lm issues 742, 983 and 1035.
    """
    for _ in range(pairs):
        long_tokens = agent.rng.uniform(least_tokens, most_tokens)
        children = [(agent.child("title"), short_tokens), (agent.child(), long_tokens)]
        replies = yield agent.spawn([_one(child, tokens) for child, tokens in children])
        if not all(reply and reply.ok for reply in replies):
            return
        yield agent.pause(agent.draw(HUMAN_GAP))


def _one(agent: Agent, prompt_tokens: float) -> Session:
    yield agent.user("In a few words: what is this about?", tokens=max(1.0, prompt_tokens - agent.preamble_tokens))
