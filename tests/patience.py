"""How long a test waits for what should come: what takes longer hangs. No test fails because a machine is slow."""

PATIENCE_S = 300.0
