"""Decides how many entries mlx_lm.server's prompt cache needs, for a later turn to find the turn before it."""


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
