"""Decides what of a history is left when a client compacts it, and how it asks for the summary."""

from collections.abc import Sequence

from locust_agents.profile import Compaction
from locust_agents.prompts import conversation, messages
from locust_agents.prompts.conversation import Preamble


def last(history: Sequence[bytes], tokens: float, tokens_per_char: float) -> Sequence[bytes]:
    """The last messages that are no more than `tokens` together, from a user message on."""
    left = tokens
    kept = 0
    for place, message in enumerate(reversed(history), start=1):
        left -= len(message) * tokens_per_char
        if left < 0:
            break
        if messages.is_user(message):
            kept = place
    return history[len(history) - kept :]


def asking(
    rule: Compaction | None, preamble: Preamble, parts: Sequence[bytes], instruction: str, system_chars: float
) -> tuple[Preamble, tuple[bytes, ...]]:
    """The preamble and the parts of the call for a summary, in the product's way.

    `parts` are those of the plain next request; flattened ones do not end with the `instruction` yet.
    """
    if rule is None or rule.call == "same":
        return preamble, tuple(parts)
    if rule.call == "without_tools":
        bare = conversation.without_tools(preamble)
        return bare, (bare.head, *parts[1:])
    own = conversation.instructed(preamble, round(system_chars))
    return own, (own.head, messages.user(f"{messages.texts(parts[1:])}\n\n{instruction}"))
