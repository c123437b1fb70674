"""Two runs, or two sweeps, beside each other: what differs, and what of that is noise."""
