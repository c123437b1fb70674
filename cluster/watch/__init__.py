"""Whether a server that is silent works or hangs, and which turn made it hang."""
