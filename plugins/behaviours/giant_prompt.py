"""One very long prompt and a short answer: the turn that everybody else waits for."""

from locust_agents.plugins.api import HUMAN_GAP, Agent, Session, behaviour


@behaviour
def giant_prompt(agent: Agent, prompt_tokens: int = 65536, answer_tokens: int = 128) -> Session:
    """Sends a prompt of `prompt_tokens` in all (system and tools included), reads the answer, rests, ends."""
    tokens = max(1, prompt_tokens - agent.preamble_tokens)
    yield agent.user("Here is the whole repository. Which module is risky?", tokens=tokens, answer_tokens=answer_tokens)
    yield agent.pause(agent.draw(HUMAN_GAP))
