"""How a number of bytes is read from a scenario and written for a person; GB means 10^9, as on a Mac's label."""

import re

from locust_agents.scenarios.units import shown, wrong

_SIZE = re.compile(r"(\d+\.?\d*|\.\d+) *(?:([kMGT])B?|B)?", re.IGNORECASE)
_UNITS = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}

A_SIZE = "a size in bytes such as 1GB, 500MB or 1000000"


def size(value: object) -> int:
    """Return bytes, from a number or from text with a unit; raises ValueError with a one-line text."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e18:
        return int(value)
    match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise wrong(A_SIZE, value)
    amount = float(match[1]) * _UNITS.get((match[2] or "").lower(), 1)
    if amount >= 1e18:
        raise ValueError(f"no machine has {shown(value)}: expected {A_SIZE}")
    return round(amount)


def size_text(amount: float) -> str:
    """Three digits and a unit: 412 MB, 1.25 GB."""
    for unit, unit_bytes in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if amount >= 0.9995 * unit_bytes:
            scaled = amount / unit_bytes
            return f"{scaled:.{2 if scaled < 9.995 else 1 if scaled < 99.95 else 0}f} {unit}"
    return f"{amount:.0f} B"
