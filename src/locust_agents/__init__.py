"""Coding agents as Locust users, every streamed answer timed to its first token."""

__version__ = "0.1.0"
