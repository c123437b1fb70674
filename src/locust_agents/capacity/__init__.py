"""The search for how many agents, or which largest value of a key, keep the limits."""
