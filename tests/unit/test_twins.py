"""Turns of twins in pairs: which stand for which, what the median of their differences is, and how that is said."""

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml

from locust_agents import records, show_command, stored_run, twin_lines, twins
from locust_agents.figures import Wait
from locust_agents.pages import report
from locust_agents.pages import run as html_run
from locust_agents.quantities import WIDTH
from locust_agents.records import TurnRecord
from locust_agents.setting import Setting
from locust_agents.summary import summarise
from locust_agents.twins import Pair, Pairs
from tests import made_run

TWINS = {"beside": "alone"}
NOT_YET = {"first_token_s": None, "outcome": "first_token_timeout"}


def turn(entry: str, agent: int, session: int, number: int, ttft: float, **values: Any) -> TurnRecord:
    """One that waited so long for its first token; a `worker` is part of its names."""
    name = f"{entry}/{values.get('worker', 0)}.{agent}"
    base = {
        "run": "r", "entry": entry, "agent": name, "session": f"{name}#{session}", "turn": number, "attempt": 1,
        "kind": "later" if number else "first", "wall_time": 9.0 + 10 * agent, "sent_s": 0.5,
        "first_token_s": 0.5 + ttft, "end_s": 0.5 + ttft, "outcome": "ok", "prompt_tokens": 100,
    }  # fmt: skip
    return records.from_line(json.dumps({**base, **values}))


def run(costs: Sequence[float], sessions: int = 2, turns: int = 5, noise: float = 0.0) -> list[TurnRecord]:
    """Of an agent for each cost, which is what `beside` waits longer in all of its turns."""
    draw, found = Random(1), []
    for agent, cost in enumerate(costs):
        for session in range(sessions):
            for number in range(turns):
                ttft = 1.0 + number
                found.append(turn("alone", agent, session, number, ttft))
                found.append(turn("beside", agent, session, number, ttft + cost + draw.uniform(-noise, noise)))
    return found


def paired(taken: Sequence[TurnRecord]) -> Pairs:
    (found,) = twins.pairs(taken, TWINS)
    return found


def close(value: float) -> Any:
    return pytest.approx(value, abs=1e-9)


def test_the_same_cost_everywhere_is_the_median_and_its_interval() -> None:
    found = paired(run([2.0, 2.0, 2.0]))
    assert (found.entry, found.repeats, found.pairs, found.alike, found.sessions) == ("beside", "alone", 30, 30, 6)
    assert (found.least_s, found.most_s, found.low_s, found.high_s) == (close(2), close(2), close(2), close(2))
    assert not found.is_few


def test_the_interval_is_of_sessions_that_do_not_agree() -> None:
    found = paired(run([0.0, 1.0, 2.0, 3.0], noise=0.1))
    assert found.low_s is not None
    assert found.high_s is not None
    assert found.low_s < 0.5
    assert found.high_s > 1.5


def test_noise_is_told_from_a_cost_nineteen_times_of_twenty() -> None:
    told = [
        not found.low_s <= 0 <= found.high_s
        for seed in range(40)
        if (found := paired(_shuffled(seed))).low_s is not None and found.high_s is not None
    ]
    assert len(told) == 40
    assert sum(told) <= 4


def _shuffled(seed: int) -> list[TurnRecord]:
    """Twelve sessions of turns that differ as sessions do, and by nothing else."""
    draw = Random(seed)
    moods = {(entry, place): draw.gauss(0, 0.3) for entry in ("alone", "beside") for place in range(12)}
    return [
        turn(entry, place % 3, place // 3, number, 3 + mood + draw.gauss(0, 0.3))
        for (entry, place), mood in moods.items()
        for number in range(6)
    ]


@pytest.mark.parametrize(
    ("taken", "pairs", "remark"),
    [
        ([turn("alone", 1, 0, 0, 1), turn("beside", 1, 0, 0, 2)], 1, "the same numbers"),
        ([turn("alone", 1, 0, 0, 1, worker=1), turn("beside", 1, 0, 0, 2, worker=2)], 1, "of two workers"),
        ([turn("alone", 1, 0, 0, 1), turn("beside", 2, 0, 0, 2)], 0, "of other agents"),
        ([turn("alone", 1, 0, 0, 1), turn("beside", 1, 1, 0, 2)], 0, "of other sessions"),
        ([turn("alone", 1, 0, 1, 1), turn("beside", 1, 0, 2, 2)], 0, "other turns"),
        ([turn("alone", 1, 0, 1, 1), turn("beside", 1, 0, 1, 2, attempt=2)], 0, "another attempt"),
        ([turn("alone", 1, 0, 1, 1), turn("beside", 1, 0, 1, 2, kind="compaction")], 0, "of another kind"),
        ([turn("alone", 1, 0, 1, 1), turn("beside", 1, 0, 1, 2, sent_s=None)], 0, "one that was never sent"),
        ([turn("alone", 1, 0, 1, 1), turn("third", 1, 0, 1, 2)], 0, "of an entry that is no twin"),
        (
            [turn(entry, 1, 0, 1, 1, kind=kind) for entry in ("alone", "beside") for kind in ("later", "canary")],
            1,
            "a code word that is asked back after a turn has the turn's number, and is nobody's wait",
        ),
        (
            [turn("alone", 1, 0, 1, 1), turn("beside", 1, 0, 1, 2), turn("beside", 1, 0, 1, 2, worker=1)],
            0,
            "a number that was given to another agent tells nothing",
        ),
        ([], 0, "nothing at all"),
    ],
)
def test_which_turns_are_a_pair(taken: list[TurnRecord], pairs: int, remark: str) -> None:
    assert paired(taken).pairs == pairs, remark


@pytest.mark.parametrize(
    ("alone", "beside", "least", "most", "remark"),
    [
        ({}, NOT_YET, 3.0, None, "who waited in vain waited that much longer, at least"),
        (NOT_YET, {}, None, 3.0, "where the other one waited in vain, at most"),
        (NOT_YET, NOT_YET, None, None, "where both did, nobody knows"),
    ],
)
def test_waits_that_did_not_end_are_bounds(
    alone: dict[str, Any], beside: dict[str, Any], least: float | None, most: float | None, remark: str
) -> None:
    found = paired(
        [
            record
            for agent in range(4)
            for number in range(2)
            for record in (
                turn("alone", agent, 0, number, 1, **alone, end_s=1.5),
                turn("beside", agent, 0, number, 4, **beside, end_s=4.5),
            )
        ]
    )
    assert (found.pairs, found.least_s, found.most_s) == (8, least, most), remark
    assert (found.low_s is None, found.high_s is None) == (least is None, most is None), remark
    assert len(found.worst) == (0 if least is None else 5), remark


def test_some_waits_that_did_not_end_leave_the_median_as_it_is() -> None:
    taken = run([1.0, 2.0, 3.0])
    late = [turn("alone", 3, 0, 0, 1), turn("beside", 3, 0, 0, 9, **NOT_YET, end_s=9.5)]
    found = paired([*taken, *late])
    assert (found.least_s, found.most_s) == (close(2), close(2))
    assert twin_lines.difference(found.worst[0]) == "> +8.00 s"


@pytest.mark.parametrize(
    ("taken", "few", "remark"),
    [
        (run([1.0] * 4, sessions=1, turns=1), True, "four pairs"),
        (run([1.0] * 2, sessions=1, turns=9), True, "two sessions"),
        (run([1.0] * 3, sessions=1, turns=2), False, "six pairs of three sessions"),
    ],
)
def test_of_few_there_is_no_interval(taken: list[TurnRecord], few: bool, remark: str) -> None:
    found = paired(taken)
    assert (found.is_few, found.low_s is None, found.high_s is None) == (few, few, few), remark
    assert found.least_s == close(1), remark
    assert ("too few for an interval" in twin_lines.sentence(found)) == few, remark


# -- how it is said

PAIR = Pair(2, "0", 4, 1, "later", Wait(9.0), Wait(0.9), 2400, 2380)


def told(**fields: Any) -> Pairs:
    values = {
        "entry": "beside", "repeats": "alone", "pairs": 27, "alike": 27, "sessions": 6, "is_few": False,
        "least_s": 1.24, "most_s": 1.24, "low_s": 0.9, "high_s": 1.6, "worst": (PAIR,),
    }  # fmt: skip
    return Pairs(**{**values, **fields})


WORST = "worst +8.10 s (agent 2, turn 4)"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, f"TTFT +1.24 s median (95 % interval +0.90 s to +1.60 s) over 27 pairs, {WORST}"),
        (
            {"least_s": -0.02, "most_s": -0.02, "low_s": -0.3},
            f"TTFT −0.02 s median (95 % interval −0.30 s to +1.60 s: noise) over 27 pairs, {WORST}",
        ),
        (
            {"pairs": 1, "alike": 1, "sessions": 1, "is_few": True, "low_s": None, "high_s": None},
            f"TTFT +1.24 s median over 1 pair of 1 session, too few for an interval, {WORST}",
        ),
        (
            {"most_s": None, "high_s": None},
            f"TTFT > +1.24 s median (95 % interval > +0.90 s) over 27 pairs, {WORST}",
        ),
        ({"least_s": None, "low_s": None}, f"TTFT < +1.24 s median (95 % interval < +1.60 s) over 27 pairs, {WORST}"),
        ({"most_s": 2.0}, f"TTFT +1.24 s to +2.00 s median (95 % interval +0.90 s to +1.60 s) over 27 pairs, {WORST}"),
        ({"least_s": None, "most_s": None, "low_s": None, "high_s": None, "worst": ()}, "TTFT – median over 27 pairs"),
        (
            {"alike": 20},
            f"TTFT +1.24 s median (95 % interval +0.90 s to +1.60 s) over 27 pairs, {WORST}, "
            "prompts of other sizes in 7",
        ),
        ({"pairs": 0}, "no pair of turns, so nothing is told; let both run for longer"),
    ],
)
def test_the_sentence(fields: dict[str, Any], sentence: str) -> None:
    assert twin_lines.sentence(told(**fields)) == f"beside against alone: {sentence}"


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        (Pair(2, "3", 4, 1, "later", Wait(1), Wait(2), 1, 1), ("agent 2, session 3, turn 4", "−1.00 s")),
        (
            Pair(0, "0.1", 0, 2, "sub", Wait(1, True), Wait(0.5), 1, 1),
            ("agent 0, session 0.1, turn 0, attempt 2", "> +0.50 s"),
        ),
        (Pair(0, "0", 0, 1, "first", Wait(1), Wait(0.5, True), 1, 1), ("agent 0, turn 0", "< +0.50 s")),
        (Pair(0, "0", 0, 1, "first", Wait(1, True), Wait(0.5, True), 1, 1), ("agent 0, turn 0", "–")),
    ],
)
def test_a_pair(pair: Pair, words: tuple[str, str]) -> None:
    assert (twin_lines.place(pair), twin_lines.difference(pair)) == words


def test_lines_fit_and_no_line_begins_with_a_unit() -> None:
    lines = twin_lines.lines([told(entry=f"b{'x' * extra}") for extra in range(20)])
    assert all(len(line) <= WIDTH for line in lines)
    assert [line[:7] for line in lines[:3]] == ["paired ", "       ", "paired "]
    assert not any(line[7:].startswith(("s ", "% ")) for line in lines)


def test_without_twins_nothing_is_said() -> None:
    assert summarise(run([1.0])).pairs == ()
    assert twin_lines.lines(()) == []


def test_turns_of_the_warm_up_are_no_pairs() -> None:
    setting = Setting(began=0.0, warm_up_s=15.0, twins=TWINS)
    assert summarise(run([1.0, 1.0, 1.0]), setting=setting).pairs[0].pairs == 20


# -- of a stored run


def with_twin(folder: Path, longer_s: float) -> Path:
    """A run's folder with an entry that repeats the fixers, each turn of which waited so much longer."""
    made_run.make(folder, 200)
    scenario = yaml.safe_load((folder / "scenario.yaml").read_text())
    scenario["swarm"]["beside"] = {**scenario["swarm"]["fixers"], "twin_of": "fixers"}
    (folder / "scenario.yaml").write_text(yaml.safe_dump(scenario))
    with (folder / "turns.jsonl").open("r+") as file:
        repeated = [_twin(json.loads(line), longer_s) for line in file if '"fixers"' in line]
        file.writelines(f"{json.dumps(one)}\n" for one in repeated)
    return folder


def _twin(values: dict[str, Any], longer_s: float) -> dict[str, Any]:
    names = {key: values[key].replace("fixers/", "beside/") for key in ("agent", "session")}
    later = {key: values[key] + longer_s for key in ("first_token_s", "last_token_s", "end_s") if values[key]}
    return {**values, **names, **later, "entry": "beside", "wall_time": values["wall_time"] + 3600}


def test_a_stored_run_says_it_again_and_its_page_shows_the_worst(tmp_path: Path) -> None:
    run = stored_run.read(with_twin(tmp_path / "run", 1.5))
    (found,) = stored_run.summary(run).pairs
    assert (found.repeats, round(found.least_s or 0, 3), found.pairs > 100) == ("fixers", 1.5, True)
    sentence = twin_lines.sentence(found)
    assert "beside against fixers: TTFT +1.50 s median (95 % interval +1.50 s to +1.50 s)" in sentence
    assert sentence in " ".join(show_command.text(run).split())
    page = report.render(html_run.of(run), "")
    assert f"{sentence}." in page
    assert page.count('<td class="number">+1.50 s</td>') == 5


def test_a_page_without_twins_has_no_section_for_them(tmp_path: Path) -> None:
    page = report.render(html_run.of(stored_run.read(made_run.make(tmp_path / "run", 20))), "")
    assert 'id="pairs"' not in page
