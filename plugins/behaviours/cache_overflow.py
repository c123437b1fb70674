"""More histories than the server's prompt cache has entries, in turn: each finds that the others pushed it out."""

from locust_agents.plugins.api import HUMAN_TEXT, TOOL_GAP, Agent, Reply, Session, behaviour


@behaviour
def cache_overflow(agent: Agent, histories: int = 12, tokens: int = 20_000, rounds: int = 3) -> Session:
    """Keeps `histories` conversations with prompts from `tokens` on, and goes round them `rounds` times.

    mlx_lm.server keeps 10 entries unless it is told otherwise: two more push out each before its turn comes again.
    """
    talks = [agent.child() for _ in range(histories)]
    for number in range(rounds):
        for talk in talks:
            told = talk.draw(HUMAN_TEXT) if number else max(1.0, tokens - talk.preamble_tokens)
            reply: Reply = yield talk.user("And what about this?", tokens=told)
            if not reply.ok:
                return
            yield agent.pause(agent.draw(TOOL_GAP))
