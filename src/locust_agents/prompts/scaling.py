"""Decides by how much the sizes of a profile's prompts are multiplied."""

from locust_agents.profile import Profile


def scale_of(profile: Profile, scale: float, context_tokens: int | None) -> float:
    """The scenario's `scale`, times what makes the profile's window one of `context_tokens`; a window never grows.

    One factor for every size, the bounds of compaction among them, so that a session keeps its shape.
    """
    if context_tokens is None:
        return scale
    return scale * min(1.0, context_tokens / profile.window_tokens)
