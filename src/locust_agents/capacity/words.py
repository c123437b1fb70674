"""How a search for capacity writes its values, limits and figures."""

from collections.abc import Sequence

from locust_agents import limit_units
from locust_agents.capacity.judging import Figure
from locust_agents.capacity.question import Question
from locust_agents.figures import Wait
from locust_agents.limit_units import bound, in_unit, side
from locust_agents.limits import Limit
from locust_agents.quantities import UNKNOWN

# More limits than this are not listed in a sentence.
_LISTED = 2


def title(limit: Limit) -> str:
    """`fixers later TTFT p95`."""
    return " ".join(word for word in (limit.entry, limit.kind, limit_units.name(limit.metric), limit.stat) if word)


def demands(question: Question) -> str:
    """`later TTFT p95 ≤ 20 s`, or how many limits there are."""
    if len(question.limits) > _LISTED:
        return f"all {len(question.limits)} limits"
    return " and ".join(f"{title(limit)} {side(limit)} {bound(limit)}" for limit in question.limits)


def interval(figure: Figure | None) -> str:
    """Between what it lies."""
    if figure is None or figure.low is None or figure.high is None:
        return UNKNOWN
    return " – ".join(in_unit(Wait(end), figure.limit) for end in (figure.low, figure.high))


def named(question: Question, value: int) -> str:
    """`1 agent`, `6 agents of fixers`, `giant.with.prompt_tokens 4096`."""
    if not question.counts_agents:
        return f"{question.noun} {value}"
    return f"{value} {question.noun if value != 1 else question.noun.replace('agents', 'agent', 1)}"


def does(question: Question, value: int, one: str, several: str) -> str:
    """`1 agent keeps`, `6 agents keep`."""
    return f"{named(question, value)} {several if is_plural(question, value) else one}"


def is_plural(question: Question, value: int) -> bool:
    """Whether it is spoken of as several."""
    return question.counts_agents and value != 1


def span(values: Sequence[int]) -> str:
    """From the first to the last of them."""
    return f"{values[0]} is" if len(values) == 1 else f"{values[0]} to {values[-1]} are"
