"""Decides what mlx_lm.server's prompt cache holds, and how many entries a later turn needs to find the one before."""

from collections.abc import Mapping
from dataclasses import dataclass

from locust_agents.cluster.options.known import OPTIONS, Scalar
from locust_agents.cluster.options.model_facts import ModelFacts

_SIZE, _BYTES = "prompt-cache-size", "prompt-cache-bytes"


@dataclass(frozen=True, slots=True)
class PromptCache:
    """A server's, None where something is not known. `has_byte_limit`: entries go also when all together are too big.

    A cache with a `window_tokens` can be cut back as long as what it holds is shorter than the window.
    """

    entries: int | None = None
    has_byte_limit: bool = False
    trimmable: bool | None = None
    window_tokens: int | None = None

    def can_be_cut(self, tokens: int) -> bool | None:
        """Whether an entry of so many tokens serves a prompt that shares only its beginning."""
        if self.trimmable is False and self.window_tokens is not None:
            return tokens < self.window_tokens
        return self.trimmable


def prompt_cache(options: Mapping[str, Scalar], is_ours: bool, model: ModelFacts | None) -> PromptCache:
    """Of a server with these options; what one that is not ours was started with is not known."""
    if not is_ours:
        return PromptCache()
    size = OPTIONS[_SIZE].default if options.get(_SIZE) is None else options[_SIZE]
    return PromptCache(
        entries=int(str(size)),
        has_byte_limit=options.get(_BYTES) is not None,
        trimmable=None if model is None else model.trimmable,
        window_tokens=None if model is None else model.sliding_window,
    )


def entries_needed(histories: int, starts: int, trimmable: bool | None) -> int:
    """Return the least `prompt-cache-size` that keeps every history; below it most turns read their whole prompt again.

    A cache that can be trimmed: one entry for each history, since storing a longer one drops its beginnings, and one
    for each start, for the session that begins before an old one is gone. One that cannot: the end of the prompt and
    the end of the answer are entries of their own, and so is each start; what is dropped first makes up for one.
    With None, unknown, it is taken to be trimmable.

    Source: mlx_lm/models/cache.py (LRUPromptCache) and server.py of mlx-lm 0.32.2. Measured there: 10 entries carry 8
    interleaved agents on qwen3; on qwen3_5 they carry 5 and fail at 6; 4 entries are too few for 8 on qwen3.
    A floor for turns that take turns: agents in no order and answers that the history words otherwise need some more.
    """
    if trimmable is False:
        return 2 * histories + starts - 1
    return histories + starts
