"""Starts, watches and stops mlx_lm.server over its ranks, or finds one that runs already."""
