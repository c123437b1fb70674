"""The Agents tab in Locust's own page."""
