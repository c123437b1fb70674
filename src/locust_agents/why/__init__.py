"""Why the worst turns waited, in a sentence each."""
