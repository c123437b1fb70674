"""Decides what the server of a benchmark sends: streams of stamped events, spread evenly over the time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from locust_agents.cluster.replay import MLX_HEADERS, STAMP, Framing, Script, chat_stream

PATH = "/timed"
"""Below this path the server answers agents; all that comes before a load asks at the top, and gets `UNTIMED`."""

HEALTH = Script(((0.0, b'{"status": "ok"}'),), headers=MLX_HEADERS, path="/health")
"""What mlx_lm.server says of itself: by this it is known, and needs no model's name."""

UNTIMED = (HEALTH, chat_stream(["ok"], 0.0, 0.0))

_ENDPOINT = f"{PATH}/v1/chat/completions"
_FIRST_S = 0.02
# Multiples of the golden ratio spread any number of streams evenly over the time between two events.
_GOLDEN = 0.618034


@dataclass(frozen=True, slots=True)
class Load:
    """`streams` at once, each of `events` tokens, `gap_s` between two of them."""

    streams: int
    events: int
    gap_s: float
    framing: Framing = "until_close"

    @property
    def length_s(self) -> float:
        """Seconds from a request to the end of its answer."""
        return _FIRST_S + self.events * self.gap_s


def rolling(load: Load) -> Sequence[Script]:
    """For streams that follow one another without end: the first ones start spread over one stream's length.

    Ever after, first tokens come evenly in time, each amid all other streams.
    """
    script = _stream(load)
    offsets = (_phase(load, number) + number * load.length_s / load.streams for number in range(load.streams))
    return [*UNTIMED, *(script.later(offset) for offset in offsets), script]


def at_once(load: Load) -> Sequence[Script]:
    """For streams that run once, all at the same time: only the moments within a gap differ."""
    script = _stream(load)
    return [*UNTIMED, *(script.later(_phase(load, number)) for number in range(load.streams))]


def again(script: Script, times: int, then: Script) -> Sequence[Script]:
    """Answers `times` requests alike, and all later ones with `then`."""
    return [*UNTIMED, *([replace(script, path=_ENDPOINT)] * times), replace(then, path=_ENDPOINT)]


def _stream(load: Load) -> Script:
    # two comments before the first token, as mlx_lm.server sends them for a prompt of two prefill steps
    prefill = ((2048, 4096, _FIRST_S / 3), (4096, 4096, _FIRST_S * 2 / 3))
    script = chat_stream([STAMP] * load.events, _FIRST_S, load.gap_s, prefill=prefill)
    return replace(script, framing=load.framing, path=_ENDPOINT)


def _phase(load: Load, number: int) -> float:
    return (number * _GOLDEN) % 1.0 * load.gap_s
