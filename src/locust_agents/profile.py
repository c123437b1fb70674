"""A profile: what one agent product puts on the wire, and how patient its client is."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from locust_agents.messages import ReasoningReplay
from locust_agents.patience import Timeouts


@dataclass(frozen=True, slots=True)
class Profile:
    """Token counts are of the o200k vocabulary, as measured; a run scales them, and sizes them by the server's own.

    `max_tokens` is None where the product sends none. `retry_waits_s` are the waits before the second, third, …
    attempt of a turn that met a connection error. `comments_reset` tells whether `: keepalive` restarts its timeouts.
    """

    name: str
    product: str
    source: str
    system_tokens: int
    tool_tokens: int
    tools: tuple[str, ...]
    max_tokens: int | None
    parameters: Mapping[str, object] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    reasoning_replay: ReasoningReplay = "none"
    tool_result_cap_tokens: int | None = None
    timeouts: Timeouts = Timeouts()
    comments_reset: bool = False
    retry_waits_s: tuple[float, ...] = ()
