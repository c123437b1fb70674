"""A session that has to be summarised, once or in vain."""

from locust_agents.plugins.api import Compact, Turn
from locust_agents.plugins.behaviours.compaction import compaction
from locust_agents.plugins.testing import play


def test_compaction() -> None:
    steps = play(compaction, limit_tokens=30_000, times=2).steps
    first, second = [place for place, step in enumerate(steps) if isinstance(step, Compact)]
    assert sum(isinstance(step, Turn) for step in steps[:first]) > 5
    assert sum(isinstance(step, Turn) for step in steps[first:second]) > 2


def test_its_loop_compacts_every_third_request() -> None:
    steps = play(compaction, limit_tokens=5000, times=4, loops=True).steps
    kinds = "".join("c" if isinstance(step, Compact) else "t" for step in steps if isinstance(step, Compact | Turn))
    assert kinds.lstrip("t") == "ctt" * 4


def test_its_summary_helps_unless_it_loops() -> None:
    kept = {
        loops: [step.keep_tokens for step in play(compaction, loops=loops).steps if isinstance(step, Compact)]
        for loops in (False, True)
    }
    assert kept == {False: [20_000, 20_000], True: [50_000, 50_000]}
