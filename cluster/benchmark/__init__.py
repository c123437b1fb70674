"""mlx_lm's own benchmark on the ranks, before the server."""
