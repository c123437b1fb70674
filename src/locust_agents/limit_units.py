"""How a figure that may be limited is written: what its metric is called, and in which unit it is."""

from locust_agents.figures import Wait
from locust_agents.limits import METRICS, Limit
from locust_agents.quantities import UNKNOWN, seconds, speed

_NAMES = {"ttft": "TTFT", "itl": "ITL", "first_answer": "first answer"}


def name(metric: str) -> str:
    """`TTFT`."""
    return _NAMES.get(metric, metric)


def in_unit(value: Wait | None, limit: Limit) -> str:
    """A figure in the unit of its limit."""
    return of_metric(value, limit.metric, 4)


def of_metric(value: Wait | None, metric: str, digits: int) -> str:
    """A figure in the unit of its metric, a share in per cent of so many digits."""
    if value is None:
        return UNKNOWN
    match METRICS[metric].unit:
        case "share":
            return f"{value.value * 100:.{digits}g} %"
        case "tok/s":
            return f"{speed(value.value)} tok/s"
        case _:
            return seconds(value)


def bound(limit: Limit) -> str:
    """The bound with all of its digits, in the unit of its metric."""
    unit = METRICS[limit.metric].unit
    return f"{limit.bound * 100:.6g} %" if unit == "share" else f"{limit.bound:.6g} {unit}"


def side(limit: Limit) -> str:
    """On which side of the bound it is held."""
    return "≤" if METRICS[limit.metric].at_most else "≥"
