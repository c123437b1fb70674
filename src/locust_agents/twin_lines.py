"""How it is said what an entry waited longer than the one whose draws it repeats: a paragraph of the table each."""

import re
import textwrap
from collections.abc import Sequence

from locust_agents.figures import Wait
from locust_agents.quantities import UNKNOWN, WIDTH, seconds
from locust_agents.twins import Pair, Pairs

_LABEL = "paired "


def lines(found: Sequence[Pairs]) -> list[str]:
    """In 80 columns; nothing where no entry is a twin."""
    return [
        f"{_LABEL if number == 0 else ' ' * len(_LABEL)}{line}"
        for one in found
        for number, line in enumerate(_wrapped(sentence(one)))
    ]


def sentence(one: Pairs) -> str:
    """In one line: "beside against alone: TTFT +1.24 s median (95 % interval +0.90 s to +1.60 s) over 27 pairs, …"."""
    who = f"{one.entry} against {one.repeats}: "
    if not one.pairs:
        return f"{who}no pair of turns, so nothing is told; let both run for longer"
    parts = [f"TTFT {_between(one.least_s, one.most_s)} median{_interval(one)} over {_counted(one)}"]
    parts += [f"worst {difference(one.worst[0])} ({place(one.worst[0])})"] if one.worst else []
    parts += [f"prompts of other sizes in {one.pairs - one.alike}"] if one.alike < one.pairs else []
    return who + ", ".join(parts)


def difference(pair: Pair) -> str:
    """By how much the twin waited longer; `>` or `<` where one of the two waits had not ended."""
    if pair.ttft.is_more and pair.twin_ttft.is_more:
        return UNKNOWN
    sign = "> " if pair.ttft.is_more else "< " if pair.twin_ttft.is_more else ""
    return sign + signed(pair.ttft.value - pair.twin_ttft.value)


def place(pair: Pair) -> str:
    """Which turn it was, by the numbers that both entries have in common."""
    session = "" if pair.session == "0" else f", session {pair.session}"
    again = f", attempt {pair.attempt}" if pair.attempt > 1 else ""
    return f"agent {pair.agent}{session}, turn {pair.turn}{again}"


def signed(value_s: float) -> str:
    """Seconds with their sign."""
    return f"{'−' if value_s < 0 else '+'}{seconds(Wait(abs(value_s)))}"


def _between(least_s: float | None, most_s: float | None) -> str:
    """A figure, or the bounds of one that waits which had not ended leave open."""
    if least_s is None or most_s is None:
        known = least_s if most_s is None else most_s
        return UNKNOWN if known is None else f"{'>' if most_s is None else '<'} {signed(known)}"
    return signed(least_s) if least_s == most_s else f"{signed(least_s)} to {signed(most_s)}"


def _interval(one: Pairs) -> str:
    low_s, high_s = one.low_s, one.high_s
    if low_s is None and high_s is None:
        return ""
    if low_s is None or high_s is None:
        return f" (95 % interval {_between(low_s, high_s)})"
    noise = ": noise" if low_s <= 0 <= high_s else ""
    return f" (95 % interval {signed(low_s)} to {signed(high_s)}{noise})"


def _counted(one: Pairs) -> str:
    pairs = f"{one.pairs} pair{'s' * (one.pairs != 1)}"
    few = f" of {one.sessions} session{'s' * (one.sessions != 1)}, too few for an interval"
    return pairs + few * one.is_few


def _wrapped(text: str) -> list[str]:
    """No line begins with a unit."""
    kept = re.sub(r"(?<=\d) (?=(?:s|ms|h|%)\b|%)", "\u00a0", text)
    return [line.replace("\u00a0", " ") for line in textwrap.wrap(kept, WIDTH - len(_LABEL))]
