"""What the ranks say and use, second by second, under a clock of the test's own."""

import os
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from locust_agents.cluster.clocks import Moment
from locust_agents.cluster.crew import ProcessRecord
from locust_agents.cluster.vitals import memory, peaks
from locust_agents.cluster.vitals.guard import Guard
from locust_agents.cluster.vitals.look import Finding, Vitals, hosts_of
from locust_agents.cluster.vitals.memory_sample import Host, Sample
from locust_agents.cluster.vitals.peaks import Peaks
from locust_agents.errors import ClusterError
from tests.patience import PATIENCE_S

AT = "2026-11-30 05:01:18,278"
GB = 10**9


@dataclass
class Bench:
    """A run's folder, a clock that ticks a second at each look, and memory that says what the test wants."""

    folder: Path
    notes: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    now: Moment = Moment(1_800_000_000.0, 0.0, 0.0)
    hosts: list[Host] = field(default_factory=lambda: [Host("mac1", {0: 40}, _run), Host("mac2", {1: 41}, _run)])
    samples: dict[str, Sample | Exception] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def vitals(self, guard: Guard | None = None, logs: Sequence[int] = (0, 1)) -> Vitals:
        paths = {rank: self.folder / f"rank-{rank}.log" for rank in logs}
        return Vitals(
            lambda: self.hosts,
            paths,
            guard or Guard(),
            lambda event, fields: self.notes.append((event, fields)),
            clock=lambda: self.now,
            take=self.take,
        )

    def take(self, pids: Sequence[int], _run: Callable[[str], str] | None) -> Sample:
        host = next(host for host in self.hosts if list(host.ranks.values()) == list(pids))
        self.asked.append(host.name)
        sample = self.samples.get(host.name, Sample())
        if isinstance(sample, Exception):
            raise sample
        return sample

    def tick(self, vitals: Vitals, slept_s: float = 0.0) -> Finding:
        now = self.now
        always_s = None if now.always_s is None else now.always_s + 1 + slept_s
        self.now = Moment(now.wall_s + 1 + slept_s, now.awake_s + 1, always_s)
        return vitals.tick()

    def say(self, rank: int, *lines: str) -> None:
        with (self.folder / f"rank-{rank}.log").open("a") as log:
            log.writelines(f"{line}\n" for line in lines)

    def noted(self, event: str) -> list[Mapping[str, Any]]:
        return [fields for name, fields in self.notes if name == event]


def _run(command: str) -> str:
    raise AssertionError("the bench answers")


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(memory, "is_instant", lambda _: True)  # no thread: the order of a test is that of its lines
    return Bench(tmp_path)


def cache(sequences: int, gb: str) -> list[str]:
    return [
        f"{AT} - INFO - Prompt Cache: {sequences} sequences, {gb} GB",
        *(f"{AT} - INFO - - {kind}: {sequences} sequences, {gb} GB" for kind in ("assistant", "user", "system")),
    ]


def test_cache_and_prefill_are_noted_once_a_look_and_where_they_changed(bench: Bench) -> None:
    bench.say(0, *cache(90, "9.00"))  # before the run
    vitals = bench.vitals()
    bench.say(0, *cache(3, "0.50"), f"{AT} - INFO - Prompt processing progress: 256/1000", *cache(2, "0.70"))
    bench.say(0, f"{AT} - INFO - Prompt processing progress: 512/1000")
    bench.tick(vitals)
    bench.say(0, *cache(2, "0.70"))
    bench.tick(vitals)
    vitals.close()
    assert [fields["sequences"] for fields in bench.noted("cache")] == [2]
    assert bench.noted("prefill") == [{"done": 512, "total": 1000, "clock": "05:01:18,278"}]
    assert (vitals.peaks().cache_sequences, vitals.peaks().cache_gb) == (3, 0.7)


def test_of_the_other_ranks_only_complaints_are_noted(bench: Bench) -> None:
    vitals = bench.vitals()
    bench.say(1, *cache(3, "0.50"), f"{AT} - WARNING - careful", f"{AT} - WARNING - careful")
    bench.tick(vitals)
    vitals.close()
    expected = ("warning", {"rank": 1, "level": "WARNING", "text": "careful", "times": 2})
    assert [note for note in bench.notes if note[0] != "memory"] == [expected]
    assert vitals.peaks().cache_sequences is None


def test_a_client_that_left_is_no_traceback_of_the_server(bench: Bench) -> None:
    vitals = bench.vitals()
    head = "Traceback (most recent call last):"
    bench.say(0, head, "  File", "BrokenPipeError: [Errno 32] Broken pipe", head, "  File", "KeyError: 'x'")
    bench.say(0, f"{AT} - WARNING - Failed to parse tool call (ValueError: x)")
    bench.tick(vitals)
    vitals.close()
    assert [fields["client_left"] for fields in bench.noted("traceback")] == [True, False]
    assert (vitals.peaks().tracebacks, vitals.peaks().tool_calls_dropped) == (1, 1)


def test_a_dead_generation_thread_is_a_failure_until_the_restart(bench: Bench) -> None:
    vitals = bench.vitals()
    assert bench.tick(vitals).failure is None
    bench.say(1, f"{AT} - ERROR - mlx_lm.server generation thread died: out of memory")
    failure = bench.tick(vitals).failure
    assert failure is not None
    assert failure.startswith("rank 1's generation thread died (out of memory)")
    (bench.folder / "rank-1.log").unlink()
    bench.say(1, "pid 7")
    vitals.restarted()
    assert bench.tick(vitals).failure is None
    bench.say(1, f"{AT} - WARNING - read from the new log")
    bench.tick(vitals)
    vitals.close()
    assert len(bench.noted("warning")) == 1


def test_what_comes_before_the_end_is_noted_at_the_end(bench: Bench) -> None:
    vitals = bench.vitals()
    bench.say(0, f"{AT} - INFO - Prompt Cache: 7 sequences, 1.00 GB")
    vitals.close()
    assert vitals.peaks().cache_sequences == 7


def test_memory_is_looked_at_every_five_seconds(bench: Bench) -> None:
    vitals = bench.vitals()
    for _ in range(11):
        bench.tick(vitals)
    vitals.close()
    assert bench.asked == ["mac1", "mac2"] * 3
    assert len(bench.noted("memory")) == len(bench.asked)


def test_peaks_of_memory(bench: Bench) -> None:
    vitals = bench.vitals()
    samples = [
        Sample({40: 5 * GB}, "footprint", {40: 9 * GB}, 0, "normal"),  # 9 GB: the loading
        Sample({40: 7 * GB}, "footprint", {40: 9 * GB}, 2 * GB, "normal"),
        Sample({40: 6 * GB}, "footprint", {40: 9 * GB}, 1 * GB, "warn"),
    ]
    for sample in samples:
        bench.samples = {"mac1": sample, "mac2": Sample({41: 3 * GB}, "footprint")}
        for _ in range(5):
            bench.tick(vitals)
    assert vitals.peaks().memory == {0: 7 * GB, 1: 3 * GB}
    assert (vitals.peaks().figure, vitals.peaks().swap_growth) == ("footprint", {"mac1": 2 * GB})
    bench.samples["mac1"] = Sample({40: 6 * GB}, "footprint", {40: 10 * GB})  # between two looks
    bench.tick(vitals)
    assert vitals.peaks().memory == {0: 10 * GB, 1: 3 * GB}
    vitals.close()
    assert bench.noted("pressure") == [{"host": "mac1", "level": "warn"}]
    assert bench.noted("memory")[0] == {
        "host": "mac1",
        "figure": "footprint",
        "ranks": {0: 5 * GB},
        "swap_used": 0,
        "pressure": "normal",
    }


def test_a_restarted_rank_keeps_its_peak(bench: Bench) -> None:
    vitals = bench.vitals()
    bench.samples = {"mac1": Sample({40: 5 * GB})}
    bench.tick(vitals)
    bench.hosts[0] = Host("mac1", {0: 50}, _run)
    for used, _ in ((1, 5), (2, 5)):
        bench.samples = {"mac1": Sample({50: used * GB}, highest={50: 4 * GB})}
        for _ in range(5):
            bench.tick(vitals)
    vitals.close()
    assert vitals.peaks().memory == {0: 5 * GB}


def test_the_guard_speaks_once_and_stays(bench: Bench) -> None:
    vitals = bench.vitals(Guard(swap_growth=GB, pressure="critical"))
    bench.samples = {name: Sample(swap_used=GB, pressure="normal") for name in ("mac1", "mac2")}
    assert bench.tick(vitals) == Finding()
    bench.samples["mac2"] = Sample(swap_used=3 * GB, pressure="normal")
    stops = [bench.tick(vitals).stop for _ in range(12)]
    vitals.close()
    assert stops[:4] == [None] * 4
    assert set(stops[4:]) == {stops[4]}
    assert (stops[4] or "").startswith("swap on mac2 grew by 2.00 GB")
    assert bench.noted("guard") == [{"host": "mac2", "what": stops[4]}]


def test_where_the_guard_is_blind_is_news_once(bench: Bench) -> None:
    vitals = bench.vitals(Guard(swap_growth=GB))
    bench.samples = {"mac1": Sample(swap_used=0)}
    news = [bench.tick(vitals).news for _ in range(7)]
    vitals.close()
    assert news == [("mac2 gives no figure for guard.swap_growth: it is not guarded there",), *[()] * 6]


@pytest.mark.parametrize(
    "error",
    [OSError("ssh: no\nroute"), subprocess.TimeoutExpired("ssh", 10), ClusterError("mac2 is gone: see to it")],
)
def test_a_host_that_cannot_be_asked_is_news_once(bench: Bench, error: Exception) -> None:
    vitals = bench.vitals()
    bench.samples = {"mac2": error}
    news = [bench.tick(vitals).news for _ in range(12)]
    vitals.close()
    assert [len(each) for each in news] == [1, *[0] * 11]
    assert news[0][0] == f"the memory of mac2 is unknown ({' '.join(str(error).split())})"
    assert len([fields for fields in bench.noted("memory") if "unknown" in fields]) == 1


@pytest.mark.parametrize(("always", "word"), [(0.0, "slept 90 s"), (None, "slept, or its clock was set forward, 90 s")])
def test_sleep_makes_a_run_untrusted_for_good(bench: Bench, always: float | None, word: str) -> None:
    bench.now = Moment(0.0, 0.0, always)
    vitals = bench.vitals()
    assert bench.tick(vitals).untrusted is None
    bench.tick(vitals, slept_s=60)
    bench.tick(vitals, slept_s=30)
    untrusted = bench.tick(vitals).untrusted
    vitals.close()
    assert word in (untrusted or "")
    assert [fields["seconds"] for fields in bench.noted("slept")] == [60, 30]
    assert vitals.peaks().slept_s == 90


def test_a_clock_that_is_set_is_noted_and_trusted(bench: Bench) -> None:
    vitals = bench.vitals()
    bench.now = Moment(bench.now.wall_s - 3600, bench.now.awake_s, bench.now.always_s)
    assert bench.tick(vitals).untrusted is None
    vitals.close()
    assert bench.noted("clock_set") == [{"seconds": -3600}]


def test_no_look_waits_for_a_host(tmp_path: Path) -> None:
    asked, answer = threading.Event(), threading.Event()
    questions = []

    def run(command: str) -> str:
        questions.append(command)
        asked.set()
        assert answer.wait(PATIENCE_S)
        return "FreeBSD\n41 1000\n"

    bench = Bench(tmp_path, hosts=[Host("mac2", {1: 41}, run)])
    vitals = bench.vitals()
    vitals._take = memory.sample
    for _ in range(12):
        bench.tick(vitals)  # would hang here
    assert asked.wait(PATIENCE_S)
    assert len(questions) == 1  # never two at once
    answer.set()
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(60)
    bench.tick(vitals)
    vitals.close()
    assert vitals.peaks().memory == {1: 1_024_000}


def test_this_process_as_a_rank(tmp_path: Path) -> None:
    notes: list[str] = []
    vitals = Vitals(lambda: [Host("here", {0: os.getpid()})], {}, Guard(), lambda event, _: notes.append(event))
    while not notes:  # on Linux the first look; elsewhere a command has to end
        vitals.tick()
    vitals.close()
    assert notes == ["memory"]
    assert vitals.peaks().memory[0] > 2**20


@pytest.mark.parametrize(
    ("seen", "lines", "remark"),
    [
        (Peaks(), [], "nothing seen"),
        (
            Peaks({1: 398 * 10**6, 0: 412 * 10**6}, "rss", {"mac1": 0}, 12, 0.02),
            ["memory rank 0 412 MB, rank 1 398 MB peak   cache 12 sequences, 0.02 GB"],
            "two ranks",
        ),
        (Peaks({0: 12 * GB}, "footprint"), ["memory rank 0 12.0 GB peak"], "no log at hand"),
        (
            Peaks({0: GB}, "footprint", {"mac2": 3 * GB}, 1, 0.5, tracebacks=2, tool_calls_dropped=1),
            [
                "memory rank 0 1.00 GB peak   cache 1 sequence, 0.50 GB   swap +3.00 GB on mac2",
                "       2 tracebacks logged   1 tool call dropped",
            ],
            "what should not be",
        ),
        (
            Peaks(dict.fromkeys(range(8), 412 * GB)),
            [
                "memory rank 0 412 GB, rank 1 412 GB, rank 2 412 GB, rank 3 412 GB, rank 4 412 GB",
                "       rank 5 412 GB, rank 6 412 GB, rank 7 412 GB peak",
            ],
            "eight ranks",
        ),
    ],
)
def test_the_tables_line(seen: Peaks, lines: list[str], remark: str) -> None:
    assert peaks.lines(seen) == lines, remark
    assert all(len(line) <= 80 for line in lines)


def test_hosts_of_process_records() -> None:
    records = [
        ProcessRecord("mac1", 30, 1.0, "launcher"),
        ProcessRecord("mac1", 40, 1.0, "rank", 0),
        ProcessRecord("mac2", 41, 1.0, "rank", 1),
        ProcessRecord("mac2", 42, 1.0, "rank", 2),
    ]
    assert hosts_of(records, {"mac2": _run}) == [Host("mac1", {0: 40}), Host("mac2", {1: 41, 2: 42}, _run)]
