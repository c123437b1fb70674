"""Someone who presses Esc: in the prefill, in the answer, in a tool call; and sends the same again at once."""

from locust_agents.plugins.api import HUMAN_GAP, HUMAN_TEXT, Agent, Reply, Session, behaviour


@behaviour
def impatient(
    agent: Agent, prompts: int = 3, tokens: int | None = None, after_chunks: int = 20, after_silence_s: float = 10.0
) -> Session:
    """Sends `prompts` prompts; leaves each in prefill, after `after_chunks`, in silence; then waits for the answer.

    `tokens` of each prompt are drawn unless given. How long such people wait is an assumption.
    """
    for _ in range(prompts):
        turn = agent.user("Quickly now.", tokens=agent.draw(HUMAN_TEXT) if tokens is None else tokens)
        again = agent.again()
        ways = (
            turn.leave(in_prefill=True),
            again.leave(after_chunks=after_chunks),
            again.leave(after_silence_s=after_silence_s),
            again,
        )
        for way in ways:
            reply: Reply = yield way
            if reply.outcome.is_failure:
                return
        yield agent.pause(agent.draw(HUMAN_GAP))
