"""What is printed at the end: 80 columns whatever the run was, no figure cut off, unknown as a dash."""

import dataclasses
import json
import random
import re
from typing import Any

import pytest
from rich.cells import cell_len

from locust_agents import headline, quantities, records, table
from locust_agents.figures import Wait
from locust_agents.limits import Limit, parse_limit
from locust_agents.misses import causes
from locust_agents.misses.totals import Total
from locust_agents.records import TurnRecord
from locust_agents.scenarios.model import Scenario
from locust_agents.summary import Row, Summary, summarise

NOTHING = summarise([])
ROW = Row(
    entry="fixers",
    kind="later",
    turns=61,
    failures=0,
    prompt_p50=Wait(2100),
    prompt_max=Wait(3000),
    queue_p95=Wait(0.02),
    queue_max=Wait(0.5),
    ttft_p50=Wait(0.14),
    ttft_p95=Wait(0.31),
    ttft_max=Wait(2.7),
    reuse=0.99,
)
FIRST = dataclasses.replace(ROW, kind="first", turns=4, queue_p95=None, ttft_p95=None, ttft_max=Wait(0.94), reuse=None)
GIANT = dataclasses.replace(FIRST, entry="giant", turns=1, prompt_p50=Wait(4100), prompt_max=Wait(4100))


def rendered(*rows: Row, **values: Any) -> list[str]:
    return table.render(dataclasses.replace(NOTHING, rows=rows, **values)).splitlines()


def test_the_picture() -> None:
    made = rendered(FIRST, ROW, GIANT, outcomes={"ok": 66})
    assert made == [
        "entry  kind  turns fail  prompt p50/max  queue p95  TTFT p50    p95    max reuse",
        "fixers first     4    0     2.1k / 3.0k          –    0.14 s      – 0.94 s     –",
        "fixers later    61    0     2.1k / 3.0k     0.02 s    0.14 s 0.31 s 2.70 s  99 %",
        "giant  first     1    0     4.1k / 4.1k          –    0.14 s      – 0.94 s     –",
        "speed  decode – tok/s each, – all   ITL p50 –, p99 –   stall –   prefill – tok/s",
        "       tool calls 0 (0 bad)",
    ]


def test_without_a_turn_there_is_still_a_table() -> None:
    head, *lines = rendered()
    assert head.split()[:4] == ["entry", "kind", "turns", "fail"]
    assert len(lines) == 2


def test_the_longest_realistic_row_is_whole() -> None:
    big = dataclasses.replace(
        ROW,
        kind="compaction",
        turns=99_999,
        failures=9999,
        prompt_p50=Wait(131_072),
        prompt_max=Wait(1_048_576),
        queue_p95=Wait(99.9, is_more=True),
        ttft_p50=Wait(99.9, is_more=True),
        ttft_p95=Wait(6384, is_more=True),
        ttft_max=Wait(6384, is_more=True),
        reuse=1.0,
    )
    _, name, line, *_ = rendered(big)
    assert name == "fixers"
    assert line == " compaction 99999 9999    131k / 1.0M  > 99.9 s > 99.9 s > 6384 s > 6384 s 100 %"


@pytest.mark.parametrize("length", [1, 8, 12, 40, 79, 80, 200])
@pytest.mark.parametrize("kind", ["first", "later", "compaction"])
def test_a_long_name_costs_no_figure(length: int, kind: str) -> None:
    name = "x" * length
    row = dataclasses.replace(ROW, entry=name, kind=kind, ttft_max=Wait(300.0, is_more=True), prompt_max=Wait(131_072))
    lines = rendered(row, dataclasses.replace(row, kind="side"))
    assert all(cell_len(line) <= 80 for line in lines)
    whole = "".join(lines)
    assert whole.count("61    0") == whole.count("> 300 s") == whole.count("2.1k / 131k") == whole.count("99 %") == 2
    assert name[:79] in whole


def test_long_names_that_begin_alike_are_told_apart() -> None:
    names = ("an_entry_with_a_long_name_for_opencode", "an_entry_with_a_long_name_for_claude_code")
    lines = rendered(*(dataclasses.replace(ROW, entry=name, kind="compaction") for name in names))
    assert [line for line in lines if line in names] == list(names)


def test_the_columns_of_all_rows_stand_below_each_other() -> None:
    head, *lines = rendered(FIRST, ROW, GIANT)[:4]
    for column in ("fail", "prompt p50/max", "queue p95", "TTFT p50", "p95 ", "max", "reuse"):
        end = head.index(column, 30 if column == "p95 " else 0) + len(column.rstrip())
        assert all(line[end - 1] != " " and line[end : end + 1] in ("", " ") for line in lines), column


@pytest.mark.parametrize(
    ("wait", "shown"),
    [
        (None, "–"),
        (Wait(0.0), "0.0 ms"),
        (Wait(0.0004), "0.4 ms"),
        (Wait(0.004), "4 ms"),
        (Wait(0.0094), "9 ms"),
        (Wait(0.0096), "0.01 s"),
        (Wait(0.14), "0.14 s"),
        (Wait(9.994), "9.99 s"),
        (Wait(9.996), "10.0 s"),
        (Wait(99.96), "100 s"),
        (Wait(300.0, is_more=True), "> 300 s"),
        (Wait(6384.0), "6384 s"),
        (Wait(36_000.0), "10.0 h"),
    ],
)
def test_a_wait_has_its_unit(wait: Wait | None, shown: str) -> None:
    assert table.seconds(wait) == shown


@pytest.mark.parametrize(
    ("tokens", "shown"),
    [
        (None, "–"),
        (0, "0"),
        (400, "400"),
        (999.4, "999"),
        (999.6, "1.0k"),
        (4096, "4.1k"),
        (99_949, "99.9k"),
        (131_072, "131k"),
        (999_600, "1.0M"),
    ],
)
def test_a_count_is_short(tokens: float | None, shown: str) -> None:
    assert table.count(tokens) == shown


@pytest.mark.parametrize(
    ("share", "shown"), [(None, "–"), (0.0, "0 %"), (0.29, "29 %"), (0.9949, "99 %"), (0.9999, "99 %"), (1.0, "100 %")]
)
def test_a_share_is_never_flattered(share: float | None, shown: str) -> None:
    assert quantities.share(share) == shown


@pytest.mark.parametrize(
    ("parts", "lines", "remark"),
    [
        ([], [], "none"),
        (["aa", "bb", "cc"], ["aa · bb", "cc"], "broken between parts"),
        (["aa bb cc dd", "ee"], ["aa bb cc", "dd · ee"], "a part that is longer than a line is broken at a blank"),
        (["a" * 12, "bb"], ["a" * 8, "aaaa", "bb"], "or anywhere"),
        (["", "aa"], ["aa"], "nothing takes no room"),
    ],
)
def test_parts_are_joined_to_lines(parts: list[str], lines: list[str], remark: str) -> None:
    assert quantities.joined(parts, " · ", 8) == lines, remark


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"decode_each": Wait(38.2), "decode_all": 95.0}, "decode 38 tok/s each, 95 all"),
        ({"decode_each": Wait(0.41), "decode_all": 1234.0}, "decode 0.4 tok/s each, 1.2k all"),
        ({"itl_p50_s": 0.0036, "itl_p99_s": 0.0404}, "ITL p50 3.6 ms, p99 40 ms"),
        ({"itl_p50_s": 0.0, "itl_p99_s": 2.5}, "ITL p50 0.0 ms, p99 2.50 s"),
        ({"stall_max": Wait(2.4)}, "stall 2.40 s"),
        ({"prefill": Wait(1800.0)}, "prefill 1.8k tok/s"),
        ({"prefill": Wait(1800.0), "prefill_is_bound": True}, "prefill ≥ 1.8k tok/s"),
        ({"tool_calls": 7, "bad_tool_calls": 2}, "tool calls 7 (2 bad)"),
        (
            {"tool_calls": 7, "bad_tool_calls": 3, "tool_call_kinds": {"not_json": 2, "unknown_tool": 1}},
            "tool calls 7 (3 bad: 2 not_json, 1 unknown_tool)",
        ),
        ({"no_call": 0.129}, "no call in 12 %"),
    ],
)
def test_speeds(values: dict[str, Any], line: str) -> None:
    assert line in "\n".join(rendered(ROW, **values))


@pytest.mark.parametrize(
    ("outcomes", "lines"),
    [
        ({}, []),
        ({"ok": 9}, []),
        ({"ok": 9, "reset": 1, "cut": 2}, ["ended  9 ok, 2 cut, 1 reset"]),
        ({"stalled": 1}, ["ended  0 ok, 1 stalled"]),
    ],
)
def test_endings_that_were_not_ok(outcomes: dict[str, int], lines: list[str]) -> None:
    assert [line for line in rendered(ROW, outcomes=outcomes) if line.startswith("ended")] == lines


EVICTED, VOLATILE = Total(3, 12_000, 8.1), Total(1, 3000, 2.0)


@pytest.mark.parametrize(
    ("values", "lines"),
    [
        ({}, []),
        ({"reuse": (0.979, 0.98)}, ["reuse  97 of 98 % possible"]),
        ({"reuse": (0.9, 0.9), "misses": {"first": Total(4, 6000, 1.0)}}, ["reuse  90 of 90 % possible"]),
        (
            {"reuse": (0.97, 0.98), "misses": {"evicted": EVICTED, "first": EVICTED, "volatile_text": VOLATILE}},
            [
                "reuse  97 of 98 % possible; read again: 12.0k tokens evicted (8.10 s)",
                "       3.0k tokens volatile_text (2.00 s)",
            ],
        ),
        (
            {"reuse": (0.97, 0.98), "misses": {"evicted": Total(3, 400, None)}},
            ["reuse  97 of 98 % possible; read again: 400 tokens evicted"],
        ),
        (
            {"misses": {"not_stored_yet": Total(1, 0, 0.0), "evicted": Total(2, 0, None)}},
            ["reuse  read again: 1 turn not_stored_yet (0.0 ms), 2 turns evicted"],
        ),
        (
            {"wasted_prefill": {"opencode": 10_000, "qwen-code": 2048}},
            ["wasted 12.0k tokens prefilled for nobody: opencode 10.0k, qwen-code 2.0k"],
        ),
        ({"capped": Total(3, 96_000, 64.2)}, ["capped 3 turns not sent: 96.0k tokens spared (64.2 s)"]),
        ({"capped": Total(1, 96_000, None)}, ["capped 1 turn not sent: 96.0k tokens spared"]),
    ],
)
def test_what_was_read_again_thrown_away_and_spared(values: dict[str, Any], lines: list[str]) -> None:
    words = ("reuse  ", "wasted ", "capped ", "       ")
    made = [line for line in rendered(ROW, **values) if line.startswith(words)]
    assert [line for line in made if "tool calls" not in line] == lines


def turn(ttft_s: float | None, entry: str = "fixers", **values: Any) -> TurnRecord:
    base = {"outcome": "ok", "kind": "later", "wall_time": 0.0, "sent_s": 0.0, "end_s": 300.0, "entry": entry}
    base |= {"session": f"{entry}/0.0#1", "turn": 3}
    return records.from_line(json.dumps({**base, "first_token_s": ttft_s, **values}))


REUSED = turn(1.0, cached_tokens=990, expected_tokens=1000)
SLOW = turn(9.0, "giant", prefill_tokens_s=50.0)
WAITING = turn(None, outcome="first_token_timeout")


@pytest.mark.parametrize(
    ("limit", "turns", "line"),
    [
        ("later.ttft.p95: 20s", [turn(0.31)] * 20, "held   later.ttft.p95 0.31 s ≤ 20 s"),
        ("ttft.max: 1m30s", [turn(3.62)], "held   ttft.max 3.62 s ≤ 90 s"),
        ("ttft.max: 100ms", [turn(0.02)], "held   ttft.max 0.02 s ≤ 0.1 s"),
        ("ttft.max: 2s", [turn(1.0), SLOW], "broken ttft.max 9.00 s > 2 s by 7.00 s, worst giant/0.0#1 turn 3"),
        ("giant.ttft.max: 2s", [SLOW], "broken giant.ttft.max 9.00 s > 2 s by 7.00 s, worst giant/0.0#1 turn 3"),
        ("ttft.max: 2s", [turn(1.0), WAITING], "broken ttft.max > 300 s > 2 s by > 298 s, worst fixers/0.0#1 turn 3"),
        ("ttft.p95: 2s", [turn(1.0)], "held   ttft.p95 (too few turns, its max) 1.00 s ≤ 2 s"),
        ("failures: 0%", [turn(1.0)], "held   failures 0 %"),
        ("failures: 7%", [turn(1.0)], "held   failures 0 % ≤ 7 %"),
        ("failures: 0%", [turn(1.0), turn(1.0), WAITING], "broken failures 33.33 % > 0 %, worst fixers/0.0#1 turn 3"),
        ("reuse: 95%", [REUSED], "held   reuse 99 % ≥ 95 %"),
        ("reuse: 99.5%", [REUSED], "broken reuse 99 % < 99.5 % by 0.5 %, worst fixers/0.0#1 turn 3"),
        (
            "prefill.min: 1.5k",
            [SLOW],
            "broken prefill.min 50 tok/s < 1500 tok/s by 1.4k tok/s, worst giant/0.0#1 turn 3",
        ),
        ("prefill.min: 40", [SLOW], "held   prefill.min 50 tok/s ≥ 40 tok/s"),
        ("first.ttft.p95: 2s", [turn(1.0)], "open   first.ttft.p95 (no turn to judge)"),
        ("ttft.max: 400s", [WAITING], "open   ttft.max > 300 s (limit 400 s, no wait had ended)"),
    ],
)
def test_limits(limit: str, turns: list[TurnRecord], line: str) -> None:
    key, _, bound = limit.partition(": ")
    made = table.render(summarise(turns, [parse_limit(key, bound, ("fixers", "giant"))])).splitlines()
    assert made[-1] == line


def limit_lines_of(**keys: str) -> list[str]:
    """What is said of these limits (`__` for a dot) by twenty turns that queued for 2 s."""
    limits = [parse_limit(key.replace("__", "."), bound, ()) for key, bound in keys.items()]
    turns = [turn(0.31, headers_s=2.0, stall_s=1.0)] * 20
    lines = table.render(summarise(turns, limits)).splitlines()
    return lines[[line.startswith(("broken", "held")) for line in lines].index(True) :]


def test_lines_of_limits_that_were_held_are_broken_between_limits() -> None:
    assert limit_lines_of(ttft__max="60s", later__ttft__p95="20s", stall__max="10s", failures="0%") == [
        "held   ttft.max 0.31 s ≤ 60 s · later.ttft.p95 0.31 s ≤ 20 s",
        "       stall.max 1.00 s ≤ 10 s · failures 0 %",
    ]


def test_where_one_was_broken_each_limit_has_a_line_and_the_broken_one_stands_first() -> None:
    assert limit_lines_of(later__ttft__p95="20s", failures="0%", queue__max="1s", first__ttft__max="9s") == [
        "broken queue.max 2.00 s > 1 s by 1.00 s, worst fixers/0.0#1 turn 3",
        "held   later.ttft.p95 0.31 s ≤ 20 s by 19.7 s, worst fixers/0.0#1 turn 3",
        "held   failures 0 %",
        "open   first.ttft.max (no turn to judge)",
    ]


def wild_turn(rng: random.Random) -> TurnRecord:
    entry = rng.choice(["a", "fixers", "an_entry_with_a_name_of_fifty_characters_" * 2])
    long_s = rng.choice([0.0, 0.001, 0.5, 9.999, 300.0, 6384.0, 99_999.0])
    outcome = rng.choice(["ok", "ok", "cut", "first_token_timeout", "tool_call_lost"])
    values: dict[str, Any] = {"kind": rng.choice(["first", "later", "side", "sub", "compaction"]), "outcome": outcome}
    sizes = {"prompt_tokens": rng.choice([None, 5, 999, 131_072, 2_000_000]), "cached_tokens": 7, "expected_tokens": 9}
    sizes |= {"wasted_prefill_tokens": rng.choice([None, 0, 9_999_999]), "capped_tokens": rng.choice([None, 150_000])}
    values |= {"miss": rng.choice([None, *causes.CAUSES]), "profile": rng.choice(["p", "mini-swe-agent" * 9])}
    values |= {"outcome": rng.choice([outcome, outcome, "capped"]), "no_call": rng.choice([None, True])}
    values |= {"tool_call_kinds": rng.choice([{}, {"broken_schema": 99_999, "unknown_tool": 88_888, "not_json": 7}])}
    return turn(rng.choice([None, long_s]), entry, end_s=long_s, stall_s=long_s, **values, **sizes)


def wild_limits() -> list[Limit]:
    entries = ["an_entry_with_a_name_of_fifty_characters_" * 2]
    keys = ("ttft.max", "failures", "reuse", "later.first_answer.p99", f"{entries[0]}.compaction.first_answer.p95")
    return [parse_limit(key, "50%" if "." not in key else "5s", entries) for key in keys]


@pytest.mark.parametrize("seed", range(30))
def test_it_is_eighty_columns_wide_whatever_happened(seed: int) -> None:
    rng = random.Random(seed)
    summary = summarise([wild_turn(rng) for _ in range(rng.choice([0, 1, 30, 200]))], wild_limits())
    if rng.random() < 0.5:
        summary = dataclasses.replace(summary, misses={cause: Total(9, 9_999_999, 99_999.0) for cause in causes.CAUSES})
    made = table.render(summary, headline.lines(scenario("漢" * 60), summary))
    assert [line for line in made.splitlines() if cell_len(line) > 80] == []
    assert not re.search(r"None|nan|inf\b", made)


def scenario(name: str = "four agents and a giant", **values: Any) -> Scenario:
    server = {"launch": {"model": "tiny", "ranks": 2, "backend": "ring"}}
    return Scenario.model_validate({"name": name, "server": server, "swarm": {}, "duration": "90s", **values})


SUMMARY = dataclasses.replace(NOTHING, seconds=90.2, loop_lag_p99=Wait(0.0004))


@pytest.mark.parametrize(
    ("values", "summary", "lines"),
    [
        (
            {"scale": 0.05},
            SUMMARY,
            [
                "four agents and a giant   2 ranks ring, tiny model (not a speed of any Mac)",
                "SCALE 1/20   90 s   prompt cache empty   replies live   client lag worst 0.4 ms",
            ],
        ),
        (
            {"server": {"attach": "http://mac1:8080"}, "cache": "warm"},
            NOTHING,
            [
                "four agents and a giant   attached to http://mac1:8080",
                "full scale   0 s   prompt cache warm   replies live   client lag worst –",
            ],
        ),
        (
            {"server": {"launch": {"model": "/models/qwen", "ranks": 1}}, "scale": 0.0625, "replies": "scripted"},
            SUMMARY,
            [
                "four agents and a giant   1 rank ring, /models/qwen model",
                "SCALE 1/16   90 s   prompt cache empty   replies scripted",
                "client lag worst 0.4 ms",
            ],
        ),
    ],
)
def test_the_lines_above(values: dict[str, Any], summary: Summary, lines: list[str]) -> None:
    assert headline.lines(scenario(**values), summary) == lines
