"""How a part tells what goes on, without knowing whom: a sentence for the person, an event for cluster.jsonl."""

from collections.abc import Callable, Mapping
from typing import Any

Say = Callable[[str], None]
Note = Callable[[str, Mapping[str, Any]], None]
"""The event's name and its fields; the clock and the epoch are put to it where it is written."""
