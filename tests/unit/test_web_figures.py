"""What the Agents tab shows of a run that goes on: the same figures as at its end, from spans that never grow many."""

import dataclasses
import random

import pytest

from locust_agents import figures, run_folder, summary, table
from locust_agents.answers import itl
from locust_agents.cluster.watch.look import OpenLook
from locust_agents.figures import Wait
from locust_agents.figures_so_far import Sorted
from locust_agents.locustfiles.web import bins
from locust_agents.locustfiles.web.bins import Share, Timeline, Waits
from locust_agents.locustfiles.web.course import ALL_COLUMNS, ENTRY_COLUMNS, Course
from locust_agents.locustfiles.web.table import Table
from locust_agents.records import TurnRecord
from locust_agents.setting import Setting
from tests.made_run import BEGAN, make

ENTRIES = ["fixers", "giant"]


@pytest.fixture(scope="module")
def turns(tmp_path_factory: pytest.TempPathFactory) -> list[TurnRecord]:
    return list(run_folder.turns(make(tmp_path_factory.mktemp("made") / "run", 1500)))


def test_the_table_says_what_the_terminal_says(turns: list[TurnRecord]) -> None:
    for setting in (Setting(BEGAN), Setting(BEGAN, warm_up_s=60.0)):
        live = Table(setting)
        for record in turns:
            live.take(record)
        rows = summary.summarise(turns, setting=setting).rows
        assert [[*cells[:4], f"{cells[4]} / {cells[5]}", *cells[6:]] for cells in live.cells(ENTRIES)] == [
            list(table._cells(row)) for row in rows
        ]


def test_attempts_are_warm_up_where_the_first_one_is(turns: list[TurnRecord]) -> None:
    first = dataclasses.replace(turns[0], wall_time=BEGAN + 59.0, attempt=1)
    live = Table(Setting(BEGAN, warm_up_s=60.0))
    for record in (first, dataclasses.replace(first, wall_time=BEGAN + 61.0, attempt=2)):
        live.take(record)
    assert live.cells(ENTRIES) == []


def test_warm_up_turns_are_left_out_by_number(turns: list[TurnRecord]) -> None:
    live = Table(Setting(BEGAN, warm_up_turns=100))
    for record in turns:
        live.take(record)
    warm = len({(record.session, record.turn, record.kind) for record in turns[:100]})
    assert sum(int(cells[2]) for cells in live.cells(ENTRIES)) == len(turns) - warm


@pytest.mark.parametrize("share_open", [0.0, 0.2, 1.0])
@pytest.mark.parametrize("stat", ["p50", "p95", "max"])
def test_sorted_waits_have_the_statistics_of_all(stat: str, share_open: float) -> None:
    draw, waits, taken = random.Random(f"{stat}{share_open}"), Sorted(), list[Wait]()
    for _ in range(120):
        taken.append(Wait(float(draw.randint(1, 30)), draw.random() < share_open))
        waits.add(taken[-1])
        wanted = figures.statistic(taken, stat) if figures.is_enough(len(taken), stat) else None
        assert waits.statistic(stat) == wanted


def test_a_timeline_never_grows_beyond_its_most() -> None:
    line = Timeline(Share, lambda own, window: (own.part, window.part))
    for second in range(100_000):
        line.at(second + 0.5).add(1.0)
    rows = line.rows()
    assert len(rows) <= bins.MOST
    assert sum(row[1] or 0 for row in rows) == 100_000
    assert line.length_s == 512
    assert rows[1][0] == 512 * 1.5


def test_a_late_turn_changes_what_was_drawn() -> None:
    line = Timeline(Share, lambda own, window: (own.part, window.part))
    line.at(50.0).add(1.0)
    assert [row[1:] for row in line.rows()][-1] == (1.0, 1.0)
    line.at(30.0).add(2.0)
    assert [row[1:] for row in line.rows()][-1] == (1.0, 3.0), "it is in the window of later spans"
    line.at(10.0).add(4.0)
    assert [row[1:] for row in line.rows()][-1] == (1.0, 3.0), "and in none that begins after it"


def test_quantiles_within_a_bucket_of_the_truth() -> None:
    draw, waits, taken = random.Random(1), Waits(), list[Wait]()
    for _ in range(200):
        taken.append(Wait(draw.lognormvariate(0, 1), draw.random() < 0.1))
        waits.add(taken[-1])
    for stat, part in (("p50", 0.5), ("p95", 0.95)):
        true = figures.statistic(taken, stat)
        assert true is not None
        assert waits.quantile_s(stat, part) == pytest.approx(true.value, rel=0.011)
    assert waits.worst == max(wait.value for wait in taken if not wait.is_more)
    assert waits.worst_more == max(wait.value for wait in taken if wait.is_more)
    assert Waits().quantile_s("p50", 0.5) is None
    assert itl.bucket(1.0) in Waits({itl.bucket(1.0): 1}).ended


def test_who_still_waits_counts_for_more() -> None:
    waits = Waits()
    for _ in range(19):
        waits.add(Wait(1.0))
    for _ in range(21):
        waits.add(Wait(10.0, is_more=True))
    assert waits.quantile_s("p50", 0.5) == pytest.approx(10.0, rel=0.011)


def test_p95_is_drawn_from_twenty_turns_on() -> None:
    waits = Waits()
    for number in range(19):
        waits.add(Wait(1.0 + number))
    assert waits.quantile_s("p95", 0.95) is None
    waits.add(Wait(20.0))
    assert waits.quantile_s("p95", 0.95) == pytest.approx(19.0, rel=0.011)


def test_the_course_of_a_run(turns: list[TurnRecord]) -> None:
    course = Course(BEGAN)
    course.look(1.0, [OpenLook("fixers/0.0", "s", 0, "first", 0.0, phase="queue")])
    course.look(1.5, [])
    for record in turns:
        course.take(record)
    columns = course.columns(["fixers", "nobody"])
    assert set(columns) == {"entry 0", "all"}, "an entry without a turn has no line yet"
    assert tuple(columns["entry 0"]) == ENTRY_COLUMNS
    assert tuple(columns["all"]) == ALL_COLUMNS
    worst = summary.summarise(turns).rows
    drawn = [value for name in ("ttft_max", "ttft_more") for value in columns["entry 0"][name] if value is not None]
    known = [row.ttft_max.value for row in worst if row.entry == "fixers" and row.ttft_max is not None]
    assert max(drawn) == pytest.approx(max(known), rel=0.001)
    assert columns["all"]["queued"][:2] == [0.5, 0.5], "the mean of the looks; where nobody looked, what it was before"
    assert all(0 <= (value or 0) <= 1 for value in columns["all"]["reuse"])
    assert {len(column) for column in columns["all"].values()} == {len(columns["all"]["t"])}


def test_a_lower_bound_is_no_speed(turns: list[TurnRecord]) -> None:
    known = next(one for one in turns if one.outcome == "ok" and one.prefill_tokens_s and not one.prefill_is_bound)
    course = Course(BEGAN)
    course.take(dataclasses.replace(known, wall_time=BEGAN, prefill_is_bound=True, prefill_tokens_s=500.0))
    of_all = course.columns(ENTRIES)["all"]
    assert (of_all["bound"][-1], of_all["prefill"][-1]) == (500.0, None)
    course.take(dataclasses.replace(known, wall_time=BEGAN, prefill_tokens_s=400.0))
    assert course.columns(ENTRIES)["all"]["prefill"][-1] == 400.0


def test_what_it_holds_does_not_grow_with_the_turns(turns: list[TurnRecord]) -> None:
    course = Course(BEGAN)
    for shift in range(20):
        for record in turns:
            course._all.at(record.wall_time - BEGAN + shift * 1000.0)
            course.take(record)
    assert all(len(column) <= bins.MOST for part in course.columns(ENTRIES).values() for column in part.values())
