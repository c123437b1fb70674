"""Decides what all draws of a session depend on: seed, entry, the agent's number and the session's, and no process."""


def of(seed: int, drawn_as: str, number: int, done: int) -> str:
    """Of agent `number`'s session after `done` others; a twin is `drawn_as` the entry that it repeats."""
    return f"{seed} {drawn_as}/0.{number} {done}"
