import math
from collections.abc import Callable

import pytest

from locust_agents.scenarios import units

GOOD: list[tuple[str, Callable[[object], object], object, object]] = [
    ("seconds", units.duration, "90s", 90.0),
    ("minutes", units.duration, "2m", 120.0),
    ("hours", units.duration, "1h", 3600.0),
    ("milliseconds are not minutes", units.duration, "250ms", 0.25),
    ("units together", units.duration, "1m30s", 90.0),
    ("blanks are free", units.duration, " 1 m 30 s ", 90.0),
    ("fractions", units.duration, "1.5h", 5400.0),
    ("a plain number is seconds", units.duration, 20, 20.0),
    ("a number in quotes too", units.duration, "0.5", 0.5),
    ("zero", units.duration, 0, 0.0),
    ("a whole number", units.count, 65536, 65536),
    ("k is a thousand, also for tokens", units.count, "64k", 64_000),
    ("a fraction of k that is whole, where floats are not", units.count, "8.3k", 8_300),
    ("millions", units.count, "1.5M", 1_500_000),
    ("a float with k", units.number, "1.8k", 1800.0),
    ("an exponent that YAML leaves a text", units.number, "1e-3", 0.001),
    ("percent as a factor", units.factor, "5%", 0.05),
    ("more than the whole is a factor", units.factor, "150%", 1.5),
    ("percent as a share", units.share, "95%", 0.95),
    ("a share as a number", units.share, 0.95, 0.95),
    ("the whole", units.share, "100 %", 1.0),
]


@pytest.mark.parametrize(("read", "value", "worth"), [pytest.param(*row[1:], id=row[0]) for row in GOOD])
def test_reads(read: Callable[[object], object], value: object, worth: object) -> None:
    assert read(value) == worth


DURATION = "expected a duration such as 90s, 2m, 1m30s or 250ms, got"
BAD: list[tuple[str, Callable[[object], object], object, str]] = [
    ("words", units.duration, "soon", f"{DURATION} 'soon'"),
    ("no text", units.duration, "", f"{DURATION} ''"),
    ("units in the wrong order", units.duration, "30s1m", f"{DURATION} '30s1m'"),
    ("an unknown unit", units.duration, "3 days", f"{DURATION} '3 days'"),
    ("a negative text", units.duration, "-5s", "must not be negative, got '-5s'"),
    ("a negative number", units.duration, -5, "must not be negative, got -5"),
    ("not a number", units.duration, math.nan, f"{DURATION} nan"),
    ("without end", units.duration, math.inf, f"{DURATION} inf"),
    ("more than a float holds", units.duration, 10**400, f"{DURATION} 1{'0' * 39}…"),
    ("true is not 1", units.duration, True, f"{DURATION} true"),
    ("a mapping", units.duration, {"s": 1}, f"{DURATION} a mapping"),
    ("true is not a count", units.count, True, "expected a whole number, got true"),
    ("half an agent", units.count, 1.5, "expected a whole number, got 1.5"),
    ("not whole with k", units.count, "1.2345k", "expected a whole number, got '1.2345k'"),
    ("an exponent could be endless", units.count, "1e99", "expected a whole number, got '1e99'"),
    ("nothing", units.count, None, "expected a whole number, got nothing"),
    ("below nothing", units.count, -1, "must not be negative, got -1"),
    ("a list", units.number, [1], "expected a number, got a list"),
    ("overflow in a text", units.number, "1e400", "expected a number, got '1e400'"),
    ("95 means 95%", units.share, 95, "a share is at most 100%, got 95"),
    ("above the whole", units.share, "110%", "a share is at most 100%, got '110%'"),
    ("a share in words", units.share, "most", "expected a share such as 95% or 0.95, got 'most'"),
    ("a number is not text", units.text, 3, "expected text, got 3"),
    ("two lines", units.text, "a\nb", "expected text of one line that is not blank"),
    ("blank", units.text, "  ", "expected text of one line that is not blank"),
    ("one is not true", units.switch, 1, "expected true or false, got 1"),
]


@pytest.mark.parametrize(("read", "value", "text"), [pytest.param(*row[1:], id=row[0]) for row in BAD])
def test_refuses(read: Callable[[object], object], value: object, text: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        read(value)
    assert str(caught.value) == text


@pytest.mark.parametrize("seconds", [0.0, 90.0, 0.25, 1 / 3, 1e-5, 1e20])
def test_a_duration_survives_being_written(seconds: float) -> None:
    assert units.duration(units.duration_text(seconds)) == seconds
