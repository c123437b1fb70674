"""The behaviours that ship, a generator in each file."""
