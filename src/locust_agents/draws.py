"""Sizes and gaps of real coding agents, drawn by inverse CDF through measured percentiles.

Source: the Claude Code traces of github.com/callanjfox/kv-cache-tester (Apache-2.0): 692 distinct
sessions, 45,542 requests; percentiles computed from them. Token counts are Anthropic's; gaps are whole seconds.
All 692 sessions are meant, also the 319 that go on from an earlier one: only of them all is every quantity known.
Between two percentiles the logarithm is interpolated; lognormal fits of the same data miss the medians by 20 to 40 %.
Nothing is drawn beyond p99 or below p5: those tails hold single requests.
"""

import bisect
import math
import random
from dataclasses import dataclass

_SHARES = (0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class Table:
    """The values at p5, p10, p25, p50, p75, p90, p95 and p99 of something measured."""

    name: str
    unit: str
    values: tuple[float, ...]


TOOL_RESULT = Table("new tool result", "tokens", (0, 0, 44, 297, 1038.75, 3042, 5763.15, 15752.63))
HUMAN_TEXT = Table("new human text", "tokens", (0, 4, 53, 196, 660, 2057.5, 4297.45, 12756.51))
TOOL_CALL = Table("answer that calls a tool", "tokens", (91, 107, 138, 209, 401, 843, 1414, 3478))
FINAL_ANSWER = Table("answer that ends a loop", "tokens", (67, 103, 180, 346, 616, 1349.4, 2214.1, 4751.7))
TOOL_GAP = Table("gap before a tool result", "s", (3, 4, 5, 9, 20, 76, 164, 907.38))
HUMAN_GAP = Table("gap before a human message", "s", (9, 16, 39, 122, 391, 1414, 3011.5, 6561.5))
LOOP_LENGTH = Table("model calls for one human message", "turns", (1, 1, 1, 2, 4, 15, 32.1, 75))
HUMAN_TURNS = Table("human messages of a session", "turns", (1, 1, 2, 4, 10.25, 27, 41.45, 101.45))
REQUESTS = Table("model calls of a session", "turns", (4, 7, 18, 44, 90, 148.9, 208.35, 331.08))
# Of the 63 sub-agents in them; most explore.
SUB_REQUESTS = Table("model calls of a sub-agent", "turns", (4, 5, 7, 11, 13, 17, 21.7, 24))
SUB_PROMPT = Table("longest prompt of a sub-agent", "tokens", (32173, 45501, 58650, 69923, 81282, 95936, 98059, 118670))


def at(table: Table, share: float) -> float:
    """The value that `share` of all do not exceed."""
    share = min(max(share, _SHARES[0]), _SHARES[-1])
    right = max(1, bisect.bisect_left(_SHARES, share))
    low, high = table.values[right - 1], table.values[right]
    part = (share - _SHARES[right - 1]) / (_SHARES[right] - _SHARES[right - 1])
    # log1p, because a tenth of all tool results are empty
    return math.expm1(math.log1p(low) + part * (math.log1p(high) - math.log1p(low)))


def draw(table: Table, rng: random.Random) -> float:
    """One value."""
    return at(table, rng.random())
