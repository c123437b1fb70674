"""Coding agents as Locust users, every streamed answer timed to its first token."""

from locust_agents.run_scenario import run_scenario

__version__ = "0.1.0"

__all__ = ["__version__", "run_scenario"]
