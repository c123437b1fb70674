"""Decides the one prompt that any model answers the same way twice: alone before the load, and in the crowd."""

from locust_agents.prompts import request
from locust_agents.prompts.branch import Branch

_TOKENS = 64
# An answer of which every token is far ahead of the next best: rounding in a batch should not turn it.
_TEXT = "Write the numbers from one to thirty as English words, separated by commas, and nothing else."


def branch(model: str, nonce: str) -> Branch:
    """The request, the same bytes in every process of a run: temperature 0, no tools, a few tokens.

    The run's nonce keeps it out of what an earlier run left in the cache. In the crowd the prompt is usually found
    there, unless it was evicted: what is compared is the decoding among others, and how well the cache was kept. What
    the prefill of a long prompt among others does to an answer is for code words to tell.
    """
    text = f"# run {nonce}\n{_TEXT}" if nonce else _TEXT
    asked = request.question("identity", model, text, _TOKENS, temperature=0)
    return Branch(0, asked.preamble, asked)
