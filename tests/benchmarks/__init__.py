"""Figures that are measured and printed, never asserted: each module is one benchmark, or a part of several."""
