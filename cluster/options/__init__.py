"""What mlx_lm.server and a model's files allow, checked before anything starts."""
