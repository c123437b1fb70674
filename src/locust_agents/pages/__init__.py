"""The pages that a run, a sweep or a comparison leaves: HTML that asks nobody for anything."""
