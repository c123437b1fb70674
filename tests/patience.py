"""What a slow machine may do to a test, which is to take long: no test fails because of that."""

import re

PATIENCE_S = 300.0
"""How long a test waits for what should come: what takes longer hangs."""

_BUSY = re.compile(r"doubt +(the client's own loop was|turns started) .* late, more than|doubt +the client used \d+ %")


def is_sound(status: int, printed: str) -> bool:
    """Whether a run ended with 0, or with 4 for nothing but a machine that was busy with other things."""
    doubts = re.findall(r"^ *doubt .*(?:\n {7,}.*)*", printed, re.MULTILINE)
    return status == 0 or (status == 4 and bool(doubts) and all(_BUSY.search(" ".join(one.split())) for one in doubts))
