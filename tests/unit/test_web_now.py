"""Who is doing what now, and what the tab says of the cluster."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from locust_agents.cluster.watch.look import OpenLook
from locust_agents.locustfiles.web import now
from locust_agents.locustfiles.web.cluster import ClusterNews
from locust_agents.locustfiles.web.now import Prefills, Speed

LOOK = OpenLook("fixers/0.1", "s", 3, "later", started_s=100.0, sent_s=100.5, phase="prefill", prefill_total=4000)


def seen(done: int, moved_s: float) -> OpenLook:
    return dataclasses.replace(LOOK, prefill_done=done, moved_s=moved_s)


@pytest.mark.parametrize(
    ("looks", "wanted", "remark"),
    [
        ([LOOK], None, "no step has ended yet"),
        ([seen(1000, 102.5)], Speed(500.0, True), "one step: its queue counts in, so it is at least that"),
        ([seen(1000, 102.5), seen(1000, 102.5)], Speed(500.0, True), "seen twice, it is the same step"),
        ([seen(1000, 102.5), seen(3000, 103.5)], Speed(2000.0, False), "two steps: the slope"),
        (
            [seen(1000, 102.5), seen(2000, 103.5), seen(4000, 104.0)],
            Speed(2000.0, False),
            "from the first that was seen",
        ),
        ([seen(3000, 103.5), seen(1000, 110.5)], Speed(100.0, True), "another attempt begins anew"),
        ([seen(3000, 103.5), seen(1000, 110.5), seen(2000, 111.5)], Speed(1000.0, False), "and its slope is its own"),
        ([seen(1000, 102.5), dataclasses.replace(seen(4000, 104.0), phase="decode")], None, "it has ended"),
    ],
)
def test_prefill_speed(looks: list[OpenLook], wanted: Speed | None, remark: str) -> None:
    prefills = Prefills()
    for look in looks:
        prefills.look([look])
    assert prefills.speed(looks[-1]) == wanted, remark


def test_an_ended_turn_is_forgotten() -> None:
    prefills = Prefills()
    prefills.look([seen(1000, 102.5)])
    prefills.look([])
    prefills.look([seen(3000, 103.5)])
    assert prefills.speed(seen(3000, 103.5)) == Speed(1000.0, True)


def test_a_row_for_each_agent_in_the_order_of_the_entries() -> None:
    looks = [dataclasses.replace(LOOK, prefill_done=1000, moved_s=102.5), dataclasses.replace(LOOK, agent="odd")]
    prefills = Prefills()
    prefills.look(looks)
    rows, more = now.rows(looks, {"giant": [0], "fixers": [0, 1]}, prefills, 104.0)
    assert more == 0
    assert [row["agent"] for row in rows] == ["giant/0", "fixers/0", "fixers/1", "odd"]
    assert [row["phase"] for row in rows] == ["pause", "pause", "prefill", "prefill"]
    row = rows[2]
    assert (row["turn"], row["kind"], row["done"], row["total"], row["for_s"]) == (3, "later", 1000, 4000, 4.0)
    assert (row["speed"], row["is_bound"]) == (500, True)


def test_of_many_agents_those_that_wait_longest() -> None:
    looks = [dataclasses.replace(LOOK, agent=f"fixers/0.{n}", started_s=100.0 + n) for n in range(150)]
    rows, more = now.rows(looks, {"fixers": range(200)}, Prefills(), 400.0)
    assert (len(rows), more) == (now.MOST, 100)
    assert {row["agent"] for row in rows} == {f"fixers/{n}" for n in range(now.MOST)}


def note(folder: Path, text: str) -> None:
    with (folder / "cluster.jsonl").open("a") as file:
        file.write(text)


def line(event: str, **fields: Any) -> str:
    return json.dumps({"event": event, "time": 5.0, **fields}) + "\n"


def test_cluster_news(tmp_path: Path) -> None:
    news = ClusterNews(tmp_path)
    news.look()
    assert news.told(None) == {"ranks": [], "cache": "–", "notes": []}, "no file yet"
    note(tmp_path, line("machine", chip="m") + line("memory", host="mac1", ranks={"0": 2e9, "1": 1e9}))
    note(
        tmp_path, line("cache", sequences=3, size_gb=0.5) + line("ready", seconds=1.23456, epoch=1) + '{"event": "memo'
    )
    news.look()
    told = news.told(3)
    assert told["ranks"] == [
        ["rank 0", "mac1", "2.00 GB", "2.00 GB"],
        ["rank 1", "mac1", "1.00 GB", "1.00 GB"],
        ["rank 2", "–", "–", "–"],
    ]
    assert told["cache"] == "3 sequences, 0.50 GB"
    assert told["notes"] == [{"at": 5.0, "what": "ready after 1.2 s"}]
    note(tmp_path, 'ry", "time": 6.0, "host": "mac1", "ranks": {"0": 1000000000.0}}\n' + line("cache", sequences=1))
    news.look()
    assert news.told(2)["ranks"][0] == ["rank 0", "mac1", "1.00 GB", "2.00 GB"], "less than before, the most stays"
    assert news.told(2)["cache"] == "1 sequence"


def test_notes_are_few_and_short(tmp_path: Path) -> None:
    news = ClusterNews(tmp_path)
    for number in range(30):
        note(tmp_path, line("traceback", rank=number, what="<b>x</b>\n" * 100))
    news.look()
    notes = news.told(None)["notes"]
    assert len(notes) == 8
    assert notes[-1]["what"].startswith("traceback: rank 29, what <b>x</b> <b>x</b>")
    assert all(len(one["what"]) <= 300 for one in notes)
