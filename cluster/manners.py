"""Decides how we come to a server that somebody else runs: who it is, what it has loaded, whether others use it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from locust_agents.cluster import http_calls
from locust_agents.cluster.health import PAGE, PAGE_BYTES
from locust_agents.cluster.http_calls import UNHEARD
from locust_agents.errors import ClusterError, ScenarioError

# Headers of an idle mlx_lm.server come within its loop's 0.1 s wait; behind a prefill step or a batch they come later.
_QUEUE_S = 0.5
_PATIENCE_S = 30.0


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a server showed of itself. `queue_s` is the wait for headers of the first turn, of one token."""

    software: str
    is_mlx: bool
    model: str | None
    queue_s: float

    @property
    def is_busy(self) -> bool:
        """Somebody else's turns were in the way."""
        return self.queue_s >= _QUEUE_S


def line(url: str, greeting: Greeting) -> str:
    """The one line before any load."""
    busy = "others use it now" if greeting.is_busy else "idle"
    queued = f"a turn of one token queued {greeting.queue_s:.2f} s"
    return f"{url} is {greeting.software}, answers as {greeting.model or 'no model'}, {busy} ({queued})"


def objection(greeting: Greeting, shared_ok: bool) -> str | None:
    """Why the load must not begin, None where it may."""
    if greeting.is_busy and not shared_ok:
        return (
            f"others use this server (a turn of one token waited {greeting.queue_s:.1f} s): ask them, then give"
            " --shared-ok, or come back when it is idle"
        )
    return None


def software(url: str, model: str | None, headers: Mapping[str, str]) -> tuple[str, bool]:
    """What serves there, and whether it is mlx_lm.server, from one GET; raises ClusterError where nothing answers.

    Raises ScenarioError where it is another server and no model was named: another name than the one that it has
    loaded makes some servers load weights.
    """
    name, is_mlx = _software(url, headers)
    if model is None and not is_mlx:
        raise ScenarioError(
            f"server.attach.model: {url} is {name}, not mlx_lm.server, so the name of the model that it has loaded is"
            " needed: attach: {url: …, model: …}"
        )
    return name, is_mlx


def _software(url: str, headers: Mapping[str, str]) -> tuple[str, bool]:
    """mlx_lm.server has no name of its own: it is Python's own server, and its /health says exactly this."""
    try:
        page = http_calls.get(url, PAGE, _PATIENCE_S, headers, PAGE_BYTES)
    except UNHEARD as error:
        raise ClusterError(f"{url} does not answer ({http_calls.why(error)}): see that it runs") from error
    is_mlx = page.server.startswith("BaseHTTP/") and _json(page.body).get("status") in ("ok", "unavailable")
    return ("mlx_lm.server" if is_mlx else page.server or "a server without a name"), is_mlx


def _json(data: bytes | str) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
