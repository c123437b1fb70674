"""How durations, counts, shares and other single values are written in a scenario file, and what each is worth.

Every reader takes a value as YAML gives it and raises ValueError with a one-line text when it does not read. All
refuse what is negative or not finite. `k` is 1,000 and `M` 1,000,000, for tokens too: write 65536, not 64k, for 2^16.
"""

import math
import re
from decimal import Decimal

_NUMBER = r"(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)"
_DURATION = re.compile(rf"(?:{_NUMBER}h)?(?:{_NUMBER}m)?(?:{_NUMBER}s)?(?:{_NUMBER}ms)?")
_AMOUNT = re.compile(rf"{_NUMBER}([kKM]?)")
_WHOLE = re.compile(r"(\d+(?:\.\d+)?)([kKM]?)")
_UNIT_S = (3600.0, 60.0, 1.0, 0.001)
_MULTIPLIER = {"": 1, "k": 1_000, "K": 1_000, "M": 1_000_000}
_LONGEST_SHOWN = 40
_MOST_DIGITS = 15

A_DURATION = "a duration such as 90s, 2m, 1m30s or 250ms"
A_NUMBER = "a number"
A_COUNT = "a whole number"
A_SHARE = "a share such as 95% or 0.95"


def duration(value: object) -> float:
    """Return seconds; a plain number is seconds already."""
    if isinstance(value, str):
        return _duration_of_text(value)
    return _finite(value, A_DURATION)


def _duration_of_text(value: str) -> float:
    text = _unsigned(value)
    match = _DURATION.fullmatch(text)
    if match is None or not text:
        return _finite_text(text, value, A_DURATION)
    seconds = sum(float(part) * unit_s for part, unit_s in zip(match.groups(), _UNIT_S, strict=True) if part)
    return _checked(seconds, value, A_DURATION)


def duration_text(seconds: float) -> str:
    """Return the text from which `duration` reads exactly the same seconds."""
    return f"{int(seconds)}s" if seconds.is_integer() else f"{seconds!r}s"


def count(value: object) -> int:
    """Return a whole number, 0 or more, from 65536 as from 64k."""
    if isinstance(value, str):
        return _count_of_text(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong(A_COUNT, value)
    if value < 0:
        raise _negative(value)
    return value


def _count_of_text(value: str) -> int:
    match = _WHOLE.fullmatch(_unsigned(value))
    if match is None or len(match[1]) > _MOST_DIGITS:
        raise wrong(A_COUNT, value)
    amount = Decimal(match[1]) * _MULTIPLIER[match[2]]  # not float: 8.3k would not be whole
    if amount != amount.to_integral_value():
        raise wrong(A_COUNT, value)
    return int(amount)


def number(value: object) -> float:
    """Return a float, 0 or more, from 1500 as from 1.5k."""
    if not isinstance(value, str):
        return _finite(value, A_NUMBER)
    match = _AMOUNT.fullmatch(_unsigned(value))
    if match is None:
        raise wrong(A_NUMBER, value)
    return _checked(float(match[1]) * _MULTIPLIER[match[2]], value, A_NUMBER)


def factor(value: object) -> float:
    """Return what something is multiplied with, from 0.05 as from 5%."""
    if isinstance(value, str) and value.rstrip().endswith("%"):
        return number(value.rstrip()[:-1]) / 100
    return number(value)


def share(value: object) -> float:
    """Return a part of the whole, 0 to 1, from 0.95 as from 95%."""
    try:
        part = factor(value)
    except ValueError:
        raise wrong(A_SHARE, value) from None
    if part > 1:
        raise ValueError(f"a share is at most 100%, got {shown(value)}")
    return part


def text(value: object) -> str:
    """Return text of one line that is not blank."""
    if not isinstance(value, str):
        raise wrong("text", value)
    if not value.strip() or not value.isprintable():
        raise ValueError("expected text of one line that is not blank")
    return value


def switch(value: object) -> bool:
    """Return true or false, which YAML writes without quotes."""
    if not isinstance(value, bool):
        raise wrong("true or false", value)
    return value


def shown(value: object) -> str:
    """Return a value as a message quotes it, short and in YAML's words."""
    names = {type(None): "nothing", dict: "a mapping", list: "a list"}
    if type(value) in names:
        return names[type(value)]
    plain = str(value).lower() if isinstance(value, bool) else repr(value)
    return plain if len(plain) <= _LONGEST_SHOWN else f"{plain[:_LONGEST_SHOWN]}…"


def wrong(expected: str, value: object) -> ValueError:
    """Return the error for a value that is not of the wanted form."""
    return ValueError(f"expected {expected}, got {shown(value)}")


def _negative(value: object) -> ValueError:
    return ValueError(f"must not be negative, got {shown(value)}")


def _unsigned(value: str) -> str:
    """Return the text without blanks and refuse a minus sign, which deserves its own message."""
    plain = "".join(value.split())
    if re.match(r"-\.?\d", plain):
        raise _negative(value)
    return plain


def _finite(value: object, expected: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(expected, value)
    try:
        return _checked(float(value), value, expected)
    except OverflowError:
        raise wrong(expected, value) from None


def _finite_text(plain: str, value: str, expected: str) -> float:
    if re.fullmatch(_NUMBER, plain) is None:
        raise wrong(expected, value)
    return _checked(float(plain), value, expected)


def _checked(amount: float, value: object, expected: str) -> float:
    if not math.isfinite(amount):
        raise wrong(expected, value)
    if amount < 0:
        raise _negative(value)
    return amount
