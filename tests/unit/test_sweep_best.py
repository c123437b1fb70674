"""Which cell is called the best one, on generated records."""

import json
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from locust_agents import records
from locust_agents.figures import Wait
from locust_agents.records import TurnRecord
from locust_agents.scenarios import with_plugins
from locust_agents.sweep import best as sweep_best
from locust_agents.sweep import figures as sweep_figures
from locust_agents.sweep.best import Best
from locust_agents.sweep.cells import Cell
from locust_agents.sweep.figures import Figures, Result, State

STEP, AGENTS = "server.options.prefill-step-size", "swarm.fixers.agents"
TURNS = 60


def turns(median_s: float, seed: int, count: int = TURNS) -> tuple[TurnRecord, ...]:
    """Of three agents, with waits that vary by a fifth."""
    rng = Random(seed)

    def turn(number: int) -> TurnRecord:
        agent = f"fixers/0.{number % 3}"
        wait_s = median_s * rng.uniform(0.8, 1.2)
        base: dict[str, Any] = {
            "outcome": "ok",
            "entry": "fixers",
            "agent": agent,
            "session": f"{agent}#{number // 12}",
        }
        base |= {"turn": number % 4, "kind": "later", "attempt": 1, "wall_time": float(number), "sent_s": 0.0}
        return records.from_line(
            json.dumps(base | {"first_token_s": wait_s, "end_s": wait_s + 1, "prompt_tokens": 900})
        )

    return tuple(map(turn, range(count)))


def result(number: int, values: Mapping[str, object], median_s: float, state: State = "held", **more: Any) -> Result:
    """A cell of so many agents whose turns waited so long."""
    agents = values.get(AGENTS, 1)
    scenario = with_plugins.parse(f"swarm: {{fixers: {{behaviour: fix_failing_test, agents: {agents}}}}}", "here")
    found = turns(median_s, number, more.get("count", TURNS))
    waits = sorted(one.ttft_s or 0.0 for one in found)
    figures = Figures(
        turns=len(found),
        ttft_p50=Wait(waits[len(waits) // 2]),
        ttft_max=Wait(waits[-1], more.get("is_more", False)),
        prefill=100.0,
        is_bound=False,
        memory=None,
        reuse=1.0,
        right=more.get("right"),
        prompt_max=900.0,
    )
    return Result(Cell(number, values, scenario, ""), state, 0, None, figures, found)


def find(*results: Result) -> Best:
    best = sweep_best.find(results)
    assert best is not None
    return best


def test_the_smallest_worst_wait_is_the_best_and_beyond_the_noise() -> None:
    best = find(result(1, {STEP: 2048}, 4.4), result(2, {STEP: 4096}, 1.0), result(3, {STEP: 8192}, 6.0))
    assert (best.result.cell.number, best.held, best.ties) == (2, True, ())
    assert best.against is not None
    assert best.against.cell.number == 1  # the first of the file
    assert [(one.stat, one.noise) for one in best.changes] == [("max", "beyond the noise"), ("p50", "beyond the noise")]
    assert best.changes[0].share == pytest.approx(-0.77, abs=0.05)


def test_what_differs_by_noise_is_a_tie() -> None:
    best = find(result(1, {STEP: 2048}, 1.0), result(2, {STEP: 4096}, 1.0), result(3, {STEP: 8192}, 3.0))
    assert best.result.cell.number in (1, 2)
    assert [one.cell.number for one in best.ties] == [3 - best.result.cell.number]
    assert {one.noise for one in best.changes} == {"within the noise"}


def test_few_turns_tell_nothing() -> None:
    best = find(result(1, {STEP: 2048}, 1.0, count=3), result(2, {STEP: 4096}, 2.0, count=3))
    assert {one.noise for one in best.changes} == {"too few turns to tell"}
    assert [one.cell.number for one in best.ties] == [2]


@pytest.mark.parametrize("state", ["wrong", "failed", "untrusted", "not run"])
def test_a_fast_cell_that_was_not_right_is_never_the_best(state: State) -> None:
    assert find(result(1, {STEP: 2048}, 5.0), result(2, {STEP: 4096}, 0.1, state)).result.cell.number == 1
    assert sweep_best.find([result(1, {STEP: 2048}, 0.1, state)]) is None


def test_a_fast_cell_that_broke_its_limits_is_best_only_where_all_did() -> None:
    fast, slow = result(1, {STEP: 2048}, 0.1, "broken"), result(2, {STEP: 4096}, 5.0)
    assert find(fast, slow).result.cell.number == 2
    best = find(fast, result(2, {STEP: 4096}, 5.0, "broken"))
    assert (best.result.cell.number, best.held) == (1, False)


def test_a_wait_that_did_not_end_is_longer_than_one_as_long_that_did() -> None:
    """Both waited the same; of one, that is all that is known."""
    open_ended, ended = result(1, {STEP: 1}, 2.0, is_more=True), result(1, {STEP: 2}, 2.0)
    assert find(open_ended, ended).result is ended


def test_cells_are_held_against_those_of_the_heaviest_load_that_was_kept() -> None:
    """One agent waits least, which says nothing: the most that kept the limits are four, and there 4096 is better."""
    cells = [
        result(1, {AGENTS: 1, STEP: 2048}, 0.1),
        result(2, {AGENTS: 1, STEP: 4096}, 0.2),
        result(3, {AGENTS: 4, STEP: 2048}, 3.0, "broken"),
        result(4, {AGENTS: 4, STEP: 4096}, 2.0),
        result(5, {AGENTS: 8, STEP: 2048}, 9.0, "broken"),
    ]
    best = find(*cells)
    assert (best.result.cell.number, best.rivals) == (4, 1)
    assert best.against is cells[2]


def test_nothing_is_bought_where_nothing_was_chosen() -> None:
    best = find(result(1, {AGENTS: 1}, 0.1), result(2, {AGENTS: 4}, 3.0))
    assert (best.result.cell.number, best.against, best.changes) == (2, None, ())


def test_answers_that_were_not_right_make_a_cell_wrong_though_it_held() -> None:
    asked = {"outcome": "ok", "entry": "a", "agent": "a/0.0", "session": "s", "turn": 3, "kind": "canary", "end_s": 1.0}
    judged = [
        records.from_line(json.dumps({**asked, "wall_time": 1.0, "canary": word})) for word in ("right", "wrong_answer")
    ]
    assert sweep_figures._right(judged) == 0.5
    assert sweep_figures._right(judged[:1]) == 1.0
    assert sweep_figures._right(list(turns(1.0, 1))) is None
    assert sweep_figures._state(0, result(1, {STEP: 1}, 1.0, right=0.5).figures) == "wrong"
    assert sweep_figures._state(3, result(1, {STEP: 1}, 1.0, right=0.5).figures) == "failed"


def test_the_last_token_of_a_prompt_has_no_speed() -> None:
    """All but one token were read before the first sign of progress; the second, 3 s later, was of one token."""
    base: dict[str, Any] = {"outcome": "ok", "entry": "a", "agent": "a", "session": "s", "turn": 1, "kind": "first"}
    base |= {"wall_time": 1.0, "end_s": 9.0, "first_progress_s": 1.0, "prefill_is_bound": False}
    last = records.from_line(json.dumps({**base, "prefill_end_s": 4.0, "prefill_tokens_s": 1 / 3}))
    many = records.from_line(json.dumps({**base, "prefill_end_s": 2.0, "prefill_tokens_s": 512.0}))
    assert sweep_figures._prefill([last, many]) == (512.0, False)
    assert sweep_figures._prefill([last]) == (None, False)
