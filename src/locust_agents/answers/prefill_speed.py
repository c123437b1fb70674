"""How fast a prompt was read, from the comments that a server sends when it has computed a step of it."""

from collections.abc import Sequence

from locust_agents.answers.stream import Progress


def of(progress: Sequence[Progress], sent_s: float | None) -> tuple[float | None, bool]:
    """Tokens/s between the first and the last comment; with one comment only a lower bound (True).

    mlx_lm.server reads a prompt's last token in a step of its own, which takes about as long as any: it says nothing of
    a prompt's speed, and is left out. The bound counts from the request: headers may come late, and then together with
    the first comment.
    """
    steps = list(progress)
    while len(steps) > 1 and steps[-1].done - steps[-2].done <= 1:
        del steps[-1]
    if not steps or sent_s is None:
        return None, False
    first, last = steps[0], steps[-1]
    if last.at_s > first.at_s and last.done > first.done:
        return (last.done - first.done) / (last.at_s - first.at_s), False
    return last.done / (last.at_s - sent_s), True
