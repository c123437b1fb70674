"""Makes `python -m tests.benchmarks` and its imports resolve; the tests themselves need no package."""
