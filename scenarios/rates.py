"""How often something arrives, as a scenario writes it, and how a warm-up says how long it is."""

import re

from locust_agents.scenarios import units

A_RATE = "a rate such as 0.2/s, 12/min or 40/h"
A_WARM_UP = "a warm-up such as 30s or 20 turns"
RATE_PATTERN = r"^ *\d+(\.\d*)?([eE][+-]?\d+)? *[kKM]? */ *(s|min|m|h) *$"
TURNS_PATTERN = r"^ *(\d+|\d+(\.\d+)? *[kKM]) *turns? *$"

_PER_S = {"s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}


def rate(value: object) -> float:
    """Return how many arrive in a second; a number without its unit would be guessed at, so it is refused."""
    amount, slash, unit = value.partition("/") if isinstance(value, str) else ("", "", "")
    if not slash or unit.strip() not in _PER_S:
        raise units.wrong(A_RATE, value)
    try:
        per_s = units.number(amount) / _PER_S[unit.strip()]
    except ValueError:
        raise units.wrong(A_RATE, value) from None
    if per_s <= 0:
        raise ValueError("must be more than 0")
    return per_s


def rate_text(per_s: float) -> str:
    """Return the text from which `rate` reads exactly the same number."""
    return f"{per_s!r}/s"


def warm_up(value: object) -> dict[str, object]:
    """Return the key and the value that a warm-up's short form stands for: {for: 30s} or {turns: 20}."""
    turns = re.fullmatch(r"(.*?)\s*turns?", value.strip()) if isinstance(value, str) else None
    try:
        if turns is not None:
            return {"turns": units.count(turns[1])}
        return {"for": units.duration(value)}
    except ValueError as error:
        raise error if "negative" in str(error) else units.wrong(A_WARM_UP, value) from None
