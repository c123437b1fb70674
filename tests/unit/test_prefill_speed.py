"""The speed of a prefill, from its comments."""

import pytest

from locust_agents.answers import prefill_speed
from locust_agents.answers.stream import Progress

Steps = list[tuple[int, float]]
TABLE: list[tuple[str, Steps, float | None, tuple[float | None, bool]]] = [
    ("no comment", [], 0.0, (None, False)),
    ("never sent", [(512, 1.0)], None, (None, False)),
    ("one step is a bound, from the request on", [(500, 1.5)], 0.5, (500.0, True)),
    ("the slope between the first and the last", [(500, 1.0), (1000, 2.0), (1500, 3.0)], 0.0, (500.0, False)),
    ("the last token is a step of its own", [(500, 1.0), (1000, 2.0), (1001, 3.0)], 0.0, (500.0, False)),
    ("then one step is left", [(99, 1.0), (100, 1.5)], 0.0, (99.0, True)),
    ("one token alone", [(1, 0.5)], 0.0, (2.0, True)),
    ("comments in one read", [(500, 1.0), (1000, 1.0)], 0.0, (1000.0, True)),
    ("a comment of the start", [(0, 1.0), (1000, 3.0)], 0.0, (500.0, False)),
]


@pytest.mark.parametrize(("steps", "sent_s", "wanted"), [pytest.param(*row[1:], id=row[0]) for row in TABLE])
def test_speed(steps: Steps, sent_s: float | None, wanted: tuple[float | None, bool]) -> None:
    progress = [Progress(at_s, done, steps[-1][0]) for done, at_s in steps]
    assert prefill_speed.of(progress, sent_s) == wanted
