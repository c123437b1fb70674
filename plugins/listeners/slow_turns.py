"""A line for each turn that waited too long, while the run goes on."""

import sys

from locust_agents.plugins.api import TurnRecord


class SlowTurns:
    """Prints a line for each turn that waited more than `over_s` for its first token."""

    def __init__(self, over_s: float = 10.0) -> None:
        self._over_s = over_s

    def on_turn(self, record: TurnRecord) -> None:
        """Those that never got one are judged by the end of their wait."""
        if record.sent_s is None:
            return
        waited_s = record.end_s - record.sent_s if record.ttft_s is None else record.ttft_s
        if waited_s <= self._over_s:
            return
        wait = f"{'> ' if record.ttft_s is None else ''}{waited_s:.1f} s to its first token"
        size = "" if record.prompt_tokens is None else f", {record.prompt_tokens:,} tokens"
        print(f"slow    {record.agent} turn {record.turn} ({record.kind}): {wait}{size}", file=sys.stderr)
