"""Hostfiles of mlx.launch, read as it reads them and checked before anything starts."""
