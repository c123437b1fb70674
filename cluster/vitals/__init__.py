"""What ranks and hosts use during a run, and when that must end it."""
