"""A run's folder as a run leaves it, of as many turns as wanted, without a server: drawn, and the same for a seed."""

import heapq
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from locust_agents import records, run_folder
from locust_agents.cluster import this_machine
from locust_agents.misses.totals import Total
from locust_agents.records import TurnRecord
from locust_agents.scenarios import loader, with_plugins
from locust_agents.summary import summarise

BEGAN = 1_800_000_000.0
_FAILED = (
    ("first_token_timeout", "no token within 60 s", 200),
    ("http_error", 'HTTP status 503: <script>alert("hostile")</script> & so on', 503),
    ("truncated", "the stream ended without [DONE]", 200),
)


def make(folder: Path, turns: int, agents: int = 8, seed: int = 1, **ended: Any) -> Path:
    """Writes the folder; `ended` are keys of summary.json instead of, or beside, those of a run that broke a limit."""
    scenario = with_plugins.parse(
        "name: four <b>agents</b> & a giant\nserver: {launch: {model: tiny, ranks: 2}}\n"
        f"turns: {turns}\nswarm:\n  fixers: {{behaviour: fix_failing_test, agents: {agents}}}\n"
        "  giant: {behaviour: giant_prompt, agents: 1}\n"
        "limits: {ttft.max: 20s, later.ttft.p95: 5s, later.reuse: 90%, failures: 1%}\n",
        "here",
    )
    made = run_folder.create(folder, "made")
    made.write("scenario.yaml", loader.dump(scenario))
    taken = sorted(_turns(turns, agents, random.Random(seed)), key=lambda one: one.wall_time + one.end_s)
    for record in taken:
        made.turn(record)
    seconds = max(record.wall_time + record.end_s for record in taken) - BEGAN
    (folder / "cluster.jsonl").write_text("".join(json.dumps(note) + "\n" for note in _notes(seconds, seed)))
    machine = this_machine.facts()
    facts = {name: getattr(machine, name) for name in ("chip", "cores", "memory", "system", "versions")}
    figures = summarise(taken, scenario.limits)
    misses = {
        cause: {"turns": t.turns, "tokens": t.tokens, "seconds": t.tokens / 1800} for cause, t in figures.misses.items()
    }
    document: dict[str, Any] = {"exit_status": 1, "error": None, "untrusted": None, "gaps": [], "machine": facts}
    made.write("summary.json", json.dumps({**document, "misses": misses, **ended}))
    made.close()
    return folder


def _priced(total: Total) -> dict[str, Any]:
    return {"turns": total.turns, "tokens": total.tokens, "seconds": total.tokens / 1800}


def _turns(count: int, agents: int, draw: random.Random) -> Iterator[TurnRecord]:
    """One server that reads one prompt after another; agents in a closed loop."""
    waiting = [(BEGAN + 0.5 * number, f"fixers/0.{number}", 0, 3000) for number in range(agents)]
    waiting.append((BEGAN + 8.0, "giant/0.0", 0, 40_000))
    heapq.heapify(waiting)
    free = BEGAN
    for _ in range(count):
        at, agent, turn, prompt = heapq.heappop(waiting)
        record, free = _turn(at, agent, turn, prompt, free, draw)
        yield record
        is_giant = agent.startswith("giant")
        again = 40_000 if is_giant else 3000 if turn % 25 == 24 else prompt + int(draw.lognormvariate(6, 1))
        gap = draw.expovariate(1 / 60) if is_giant else draw.expovariate(1 / 4)
        heapq.heappush(waiting, (at + record.end_s + gap, agent, turn + 1, again))


def _turn(at: float, agent: str, turn: int, prompt: int, free: float, draw: random.Random) -> tuple[TurnRecord, float]:
    is_first = agent.startswith("giant") or turn % 25 == 0
    expected = 0 if is_first else prompt - 400
    missed = draw.random() < 0.04 and not is_first
    cached = expected // 3 if missed else expected
    taken = max(at + 0.002, free) - at
    read = taken + 0.02 + (prompt - cached) / 4000
    silence = draw.choice((0.0, 0.0, 0.8))
    last = read + 0.1 + draw.expovariate(1 / 2) + silence
    values: dict[str, Any] = {
        "run": "made", "schema": 1, "entry": agent.split("/")[0], "agent": agent, "behaviour": "b", "profile": "p",
        "session": f"{agent}#{turn // 25}", "turn": turn % 25, "kind": "first" if is_first else "later", "attempt": 1,
        "epoch": 1, "worker": 0, "replies": "live", "wall_time": at, "sent_s": 0.001, "headers_s": taken,
        "first_progress_s": taken + 0.02, "prefill_end_s": read, "first_token_s": read, "first_channel": "content",
        "first_answer_s": read, "last_token_s": last, "end_s": last + 0.001, "stall_s": 0.1, "itl_hist": {"487": 20},
        "tool_silence_s": silence or None, "loop_lag_s": 0.0004, "chunks": 30, "prompt_tokens": prompt,
        "cached_tokens": cached, "expected_tokens": expected, "computed_tokens": prompt - cached,
        "completion_tokens": 60, "request_bytes": 9, "response_bytes": 9, "prefill_tokens_s": 4000.0,
        "miss": "first" if is_first else draw.choice(("evicted", "volatile_text", "restart")) if missed else None,
        "outcome": "ok", "http_status": 200, "tool_calls": [1, 0],
    }  # fmt: skip
    if draw.random() < 0.02:
        values |= _failed(values, draw)
    return records.from_line(json.dumps(values)), at + min(read, values["end_s"])


def _failed(values: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    outcome, error, status = draw.choice(_FAILED)
    told = {"outcome": outcome, "error": error, "http_status": status}
    if outcome == "truncated":
        return told
    nothing = ("first_progress_s", "prefill_end_s", "first_token_s", "first_answer_s", "last_token_s", "tool_silence_s")
    return told | dict.fromkeys(nothing) | {"cached_tokens": None, "prompt_tokens": None, "miss": None, "itl_hist": {}}


def _notes(seconds: float, seed: int) -> Iterator[dict[str, Any]]:
    draw = random.Random(seed)
    yield {"event": "load", "time": BEGAN}
    for second in range(0, int(seconds), 2):
        grown = min(second, 600) * 4e6
        ranks = {str(rank): int(2e9 + grown + draw.random() * 2e8) for rank in (0, 1)}
        yield {"event": "memory", "time": BEGAN + second, "host": "mac1", "figure": "rss", "ranks": ranks}
        yield {"event": "cache", "time": BEGAN + second, "sequences": min(10, second // 9), "size_gb": second / 900}
    yield {"event": "traceback", "time": BEGAN + 3, "rank": 1, "text": "<img src=x onerror=alert(1)>"}
