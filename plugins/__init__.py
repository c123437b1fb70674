"""Behaviours, profiles and listeners, all found through entry points; the built-ins use the same door."""
